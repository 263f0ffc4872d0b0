/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The probability that a configuration works, as predicted by two models: a Gaussian process of what worked (Rasmussen
 * and Williams 2006, section 6.5: regression of labels), which knows what is near failures, and a regression on
 * products of parameters (below), which knows what is beyond a limit. The mean of their log odds predicts better
 * than either.
 *
 * A failure says nothing about times, so the expected improvement of its neighbours stays as large as before, and would
 * outweigh any small probability. From LENIENT results on, configurations whose log odds are below a line are therefore
 * not proposed at all, by the local search neither; every BOLD_EACH-th proposal may be much less certain, because
 * nothing else would move a limit that is drawn too close.
 *
 * The most promising configuration is often one whose chance is overestimated: of those predicted to work with 97 to
 * 99.5 %, one in seven failed. So the line rises with each failure above it and sinks a little with each success, until
 * a share of SHARE fails (Gibbs, Candes, Adaptive conformal inference under distribution shift, 2021), and above the
 * line certainty still counts for more than its share of the expected gain.
 *
 * The models may rule out configurations only as long as they can tell what fails: each result is predicted before it
 * is learned, whoever proposed it, and a result that works should have had better odds than one that fails. */
#include "tuner/model/logistic.h"
#include "tuner/surrogate/surrogate_impl.h"

/* Beyond PAIRED axes products would be too many; words with more values than room is left are not used. */
enum { AXES_MAX = 64, PAIRED_MAX = 24, BLOCK = 64 };
/* Prior variances of the weights. Those of squares and products are small, because there are many of them: with 16 and
 * 32, a third fewer of the failures had low odds. */
static const double OF_CONSTANT = 4, OF_AXIS = 16, OF_SQUARE = 1, OF_PRODUCT = 1;

/* Parameters come first and in their order. Dimensions of alignment and of sources, behind them, are left out. */
static size_t params_of(const struct coding *coding) {
	size_t dims = 0;
	while (dims < coding->count && coding->param[dims] >= 0 &&
	       (dims == 0 || coding->param[dims] > coding->param[dims - 1]))
		dims++;
	return dims;
}

/* Numbers first, so that words don't take their products. */
static void axes_make(struct limits *limits) {
	for (size_t d = 0; d < limits->dims; d++)
		limits->first[d] = limits->dim[d].at && limits->axes < AXES_MAX ? (int)limits->axes++ : -1;
	for (size_t d = 0; d < limits->dims; d++) {
		if (limits->dim[d].at || limits->axes + limits->dim[d].values > AXES_MAX)
			continue;
		limits->first[d] = (int)limits->axes;
		limits->axes += limits->dim[d].values;
	}
	limits->paired = limits->axes < PAIRED_MAX ? limits->axes : PAIRED_MAX;
	limits->size = 1 + limits->axes + limits->paired * (limits->paired + 1) / 2;
}

static void precisions_make(struct limits *limits) {
	double *precision = limits->precision;
	*precision++ = 1 / OF_CONSTANT;
	for (size_t i = 0; i < limits->axes; i++)
		*precision++ = 1 / OF_AXIS;
	for (size_t i = 0; i < limits->paired; i++)
		for (size_t j = i; j < limits->paired; j++)
			*precision++ = 1 / (i == j ? OF_SQUARE : OF_PRODUCT);
}

struct limits *limits_new(struct arena *arena, const struct coding *coding, size_t room) {
	struct limits *limits = arena_alloc(arena, 1, sizeof *limits);
	limits->dim = coding->dim;
	limits->dims = params_of(coding);
	limits->room = room;
	axes_make(limits);
	limits->features = arena_alloc(arena, room * limits->size, sizeof *limits->features);
	limits->sign = arena_alloc(arena, room, sizeof *limits->sign);
	limits->weight = arena_alloc(arena, limits->size, sizeof *limits->weight);
	limits->precision = arena_alloc(arena, limits->size, sizeof *limits->precision);
	precisions_make(limits);
	return limits;
}

/* Writes -1..1 for a number, 0 if it is absent, and 1 for the value that a word has. z: `step` from axis to axis,
 * zeroed */
static void axes_of(const struct limits *limits, const uint16_t *codes, float *z, size_t step) {
	for (size_t d = 0; d < limits->dims; d++) {
		const double *at = limits->dim[d].at;
		int axis = limits->first[d];
		if (axis < 0)
			continue;
		if (!at)
			z[((size_t)axis + codes[d]) * step] = 1;
		else if (!isnan(at[codes[d]]))
			z[(size_t)axis * step] = (float)(2 * at[codes[d]] - 1);
	}
}

void limits_add(struct limits *limits, const uint16_t *codes, bool works) {
	float z[AXES_MAX] = {0};
	double *x = limits->features + limits->count * limits->size;
	if (limits->count == limits->room)
		return;
	axes_of(limits, codes, z, 1);
	*x++ = 1;
	for (size_t i = 0; i < limits->axes; i++)
		*x++ = z[i];
	for (size_t i = 0; i < limits->paired; i++)
		for (size_t j = i; j < limits->paired; j++)
			*x++ = z[i] * z[j];
	limits->sign[limits->count++] = works ? 1 : -1;
}

void limits_fit(struct limits *limits) {
	const struct logistic logistic = {.count = limits->count,
	                                  .size = limits->size,
	                                  .features = limits->features,
	                                  .sign = limits->sign,
	                                  .precision = limits->precision};
	logistic_fit(&logistic, limits->weight);
}

/* A block of configurations, side by side for the compiler. z: axes x BLOCK */
static void block_logits(const struct limits *limits, const float *z, float *logit) {
	const double *of_axis = limits->weight + 1, *of_pair = of_axis + limits->axes;
	for (size_t b = 0; b < BLOCK; b++)
		logit[b] = (float)limits->weight[0];
	for (size_t i = 0; i < limits->axes; i++) {
		float inner[BLOCK];
		for (size_t b = 0; b < BLOCK; b++)
			inner[b] = (float)of_axis[i];
		for (size_t j = i; i < limits->paired && j < limits->paired; j++) {
			float weight = (float)*of_pair++;
			for (size_t b = 0; b < BLOCK; b++)
				inner[b] += weight * z[j * BLOCK + b];
		}
		for (size_t b = 0; b < BLOCK; b++)
			logit[b] += inner[b] * z[i * BLOCK + b];
	}
}

void limits_logits(const struct limits *limits, const uint16_t *codes, size_t stride, size_t count, float *logit) {
	float z[AXES_MAX * BLOCK], out[BLOCK];
	for (size_t from = 0; from < count; from += BLOCK) {
		size_t some = count - from < BLOCK ? count - from : BLOCK;
		memset(z, 0, limits->axes * BLOCK * sizeof *z);
		for (size_t b = 0; b < some; b++)
			axes_of(limits, codes + (from + b) * stride, z + b, BLOCK);
		block_logits(limits, z, out);
		memcpy(logit + from, out, some * sizeof *out);
	}
}

enum { STEPS = 14, LENIENT = 20 };
static const double CHANCE_MIN = 0.02; /* while nothing is ruled out */
/* The log odds at the beginning and at least, how far a failure moves them, and the part of them that a bold proposal
 * needs. */
static const double LINE = 4, LINE_MIN = 2, LINE_STEP = 0.75, SHARE = 0.02, BOLD = 0.25;
/* The share of pairs of a success and a failure that must be in the right order, and how many pairs count as seen
 * before any result, with which share. */
static const double ORDERED_MIN = 0.6, PRIOR_PAIRS = 40, PRIOR_ORDERED = 0.8;
static const double LABEL = 0.5, LABEL_VARIANCE = 0.01, LOGIT_MAX = 13.8;

static double chance_of_logit(double logit) {
	return 1 / (1 + exp(-logit));
}

static bool is_strict(const struct surrogate *surrogate) {
	const struct guesses *guesses = &surrogate->odds.guesses;
	double ordered = (guesses->ordered + PRIOR_ORDERED * PRIOR_PAIRS) / (guesses->pairs + PRIOR_PAIRS);
	return surrogate->count >= LENIENT && ordered >= ORDERED_MIN;
}

static double line_of(const struct surrogate *surrogate) {
	return LINE + surrogate->odds.line_moved;
}

/* The log odds that a label, with its noise, is above 0 (Page, Approximations to the cumulative normal function, 1977,
 * because thousands of candidates ask). */
static double logit_of(const struct surrogate *surrogate, double mean, double variance) {
	double z = mean / sqrt(fmax(variance, 0) + gp_noise(surrogate->odds.works) + LABEL_VARIANCE);
	return fmin(LOGIT_MAX, fmax(-LOGIT_MAX, z * (1.5976 + 0.07056 * z * z)));
}

static double chance_by_both(const struct surrogate *surrogate, double mean, double variance, double limits) {
	return chance_of_logit(0.5 * (logit_of(surrogate, mean, variance) + limits));
}

static double chance_lenient(double mean) {
	return fmin(1, fmax(CHANCE_MIN, mean + LABEL));
}

static bool is_known(const struct surrogate *surrogate) {
	return surrogate->odds.works && gp_count(surrogate->odds.works) > 0 && surrogate->odds.limits->count > 0;
}

static double both_at(const struct surrogate *surrogate, const uint16_t *codes, double *mean) {
	double variance;
	float limits;
	gp_predict(surrogate->odds.works, codes, mean, &variance);
	limits_logits(surrogate->odds.limits, codes, 0, 1, &limits);
	return chance_by_both(surrogate, *mean, variance, limits);
}

double surrogate_chance_at(const struct surrogate *surrogate, const uint16_t *codes) {
	double mean = 0;
	if (!is_known(surrogate))
		return 1;
	double both = both_at(surrogate, codes, &mean);
	return is_strict(surrogate) ? both : chance_lenient(mean);
}

bool surrogate_doubts(const void *model, uint64_t index) {
	const struct surrogate *surrogate = model;
	uint16_t codes[GP_DIMS_MAX];
	if (!is_known(surrogate) || !is_strict(surrogate))
		return false;
	surrogate_codes(surrogate, index, codes);
	return surrogate_chance_at(surrogate, codes) < chance_of_logit(line_of(surrogate));
}

/* Compares a prediction with those of earlier results of the other kind. */
static void guess_add(struct guesses *guesses, double chance, bool failed) {
	if (guesses->count == OBSERVED_MAX)
		return;
	for (size_t i = 0; i < guesses->count; i++) {
		if (guesses->failed[i] == failed)
			continue;
		double off = failed ? guesses->chance[i] - chance : chance - guesses->chance[i];
		guesses->ordered += off > 0 ? 1 : off < 0 ? 0 : 0.5;
		guesses->pairs++;
	}
	guesses->chance[guesses->count] = chance;
	guesses->failed[guesses->count++] = failed;
}

void surrogate_chance_report(struct surrogate *surrogate, uint64_t index, bool failed) {
	uint16_t codes[GP_DIMS_MAX];
	double mean;
	if (!is_known(surrogate))
		return;
	surrogate_codes(surrogate, index, codes);
	double chance = both_at(surrogate, codes, &mean), moved = LINE_STEP * ((failed ? 1 : 0) - SHARE);
	if (is_strict(surrogate) && chance >= chance_of_logit(line_of(surrogate)))
		surrogate->odds.line_moved = fmax(LINE_MIN - LINE, surrogate->odds.line_moved + moved);
	guess_add(&surrogate->odds.guesses, chance, failed);
}

static void learn(struct surrogate *surrogate, bool fit) {
	double *works = surrogate->fit.lone_mean; /* not in use at this point */
	uint16_t codes[GP_DIMS_MAX];
	for (size_t i = 0; i < surrogate->count; i++)
		works[i] = surrogate->observed[i].result == STRATEGY_FAILURE ? -LABEL : LABEL;
	gp_target(surrogate->odds.works, works);
	if (fit)
		gp_fit(surrogate->odds.works, STEPS);
	gp_condition(surrogate->odds.works);
	for (size_t i = surrogate->odds.limits->count; i < surrogate->count; i++) {
		surrogate_codes(surrogate, surrogate->observed[i].index, codes);
		limits_add(surrogate->odds.limits, codes, surrogate->observed[i].result != STRATEGY_FAILURE);
	}
	limits_fit(surrogate->odds.limits);
}

void surrogate_chance_update(struct surrogate *surrogate, bool fit) {
	const struct pool *pool = &surrogate->pool;
	float *chance = surrogate->odds.chance;
	surrogate->odds.strict = false;
	if (!surrogate->odds.works)
		return;
	learn(surrogate, fit);
	gp_pool_predict(surrogate->odds.workings);
	const float *mean = gp_pool_mean(surrogate->odds.workings), *variance = gp_pool_variance(surrogate->odds.workings);
	surrogate->odds.strict = is_strict(surrogate);
	surrogate->odds.pass = chance_of_logit(line_of(surrogate));
	surrogate->odds.pass_bold = chance_of_logit(BOLD * line_of(surrogate));
	if (surrogate->odds.strict)
		limits_logits(surrogate->odds.limits, pool->codes, surrogate->dims, pool->count, chance);
	for (size_t c = 0; c < pool->count; c++)
		chance[c] = (float)(surrogate->odds.strict ? chance_by_both(surrogate, mean[c], variance[c], chance[c])
		                                           : chance_lenient(mean[c]));
}

bool surrogate_expects(struct surrogate *surrogate, uint64_t index, double *mean, double *variance) {
	struct surrogate_fit *fit = &surrogate->fit;
	if (surrogate_ready(surrogate) && surrogate->expected_at != fit->told) {
		surrogate_predict(surrogate);
		gp_leave_one_out(fit->value, fit->lone_mean, fit->lone_variance);
		surrogate->expected_at = fit->told;
	}
	for (size_t i = 0; surrogate_ready(surrogate) && i < fit->in_value; i++)
		if (surrogate->observed[fit->row[i]].index == index) {
			*mean = surrogate->best + fit->lone_mean[i];
			*variance = fit->stretch * fit->lone_variance[i];
			return true;
		}
	return false;
}

/* The deviation of the predictions between the values of a dimension, as a logarithm, less what unequal numbers of
 * candidates explain (the omega squared of an analysis of variance). The lengths of the model are no measure of this:
 * they also vary where nothing does. */
static double effect_of(const struct surrogate *surrogate, size_t dim) {
	const struct pool *pool = &surrogate->pool;
	const float *mean = gp_pool_mean(surrogate->fit.values);
	size_t values = surrogate->coding->dim[dim].values + 1, used = 0;
	double *sum = mem_alloc(2 * values, sizeof *sum), *count = sum + values;
	double all = 0, squares = 0, between = 0, total = (double)pool->count;
	for (size_t c = 0; c < pool->count; c++) {
		uint16_t code = pool->codes[c * surrogate->dims + dim];
		sum[code] += mean[c];
		count[code]++;
		all += mean[c];
		squares += (double)mean[c] * mean[c];
	}
	for (size_t v = 0; v < values; v++) {
		between += count[v] > 0 ? sum[v] * sum[v] / count[v] : 0;
		used += count[v] > 0;
	}
	free(sum);
	double within = (squares - between) / fmax(1, total - (double)used);
	double variance = (between - all * all / total - ((double)used - 1) * within) / total;
	return variance > 0 ? sqrt(variance) : 0;
}

/* Finds the two parameters with the largest effects that stand out from the errors of the model; -1: there are fewer.
 */
static void most_find(const struct surrogate *surrogate, int most[2]) {
	static const double LEAST = 0.005, SECOND_LEAST = 0.2;
	double effect[2] = {fmax(LEAST, surrogate->fit.error), 0};
	most[0] = most[1] = -1;
	for (size_t d = 0; d < surrogate->coding->count; d++) {
		int param = surrogate->coding->param[d];
		double own = param < 0 ? 0 : effect_of(surrogate, d);
		if (own > effect[0]) {
			if (most[0] != param) {
				most[1] = most[0];
				effect[1] = effect[0];
			}
			most[0] = param;
			effect[0] = own;
		} else if (own > fmax(LEAST, surrogate->fit.error) && own > effect[1] && param != most[0]) {
			most[1] = param;
			effect[1] = own;
		}
	}
	if (effect[1] < SECOND_LEAST * effect[0])
		most[1] = -1;
}

void surrogate_describe(const struct surrogate *surrogate, char *text, size_t size) {
	const char *dropped = surrogate->prior.dropped ? "an earlier search misled the model and was dropped; " : "";
	const struct space *space = surrogate->task.space;
	int most[2];
	if (!surrogate->asked) {
		snprintf(text, size, "nothing was measured yet");
		return;
	}
	int used = snprintf(text, size, "%sleave-one-out predictions are off by %.1f %%", dropped,
	                    100 * (exp(surrogate->fit.error) - 1));
	most_find(surrogate, most);
	if (most[0] < 0 || used < 0 || (size_t)used >= size)
		return;
	text += used;
	size -= (size_t)used;
	if (most[1] < 0)
		snprintf(text, size, "; %s matters most", space_param_name(space, (size_t)most[0]));
	else
		snprintf(text, size, "; %s and %s matter most", space_param_name(space, (size_t)most[0]),
		         space_param_name(space, (size_t)most[1]));
}
