/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An earlier search as one more dimension. A model of the source says how much slower than its best each configuration
 * was there; the search's model uses that as a trend whose slope it learns. (The dimension's length is so large that it
 * acts as a trend alone.) A source without which left-out configurations are predicted better is dropped. */
#include "base/stats.h"
#include "tuner/surrogate/surrogate_impl.h"

/* Targets of the value model: logarithms relative to the best, softly capped, with censored trials at their expected
 * value (ADR 9). */

/* The cap is at least this logarithm, so that differences of a few percent are always distinguished. */
static const double CAP_MIN = 0.15;
/* The part of the cap that slower configurations may add at most, and how soon they do. */
static const double BEYOND = 0.3, BEYOND_LENGTH = 0.6;
static const double DENSITY = 0.3989422804014327;

double surrogate_cap(double log_ratio, double cap) {
	if (!(log_ratio > cap))
		return log_ratio;
	return cap + BEYOND * cap * (1 - exp(-(log_ratio - cap) / (BEYOND_LENGTH * cap)));
}

static double surrogate_cap_of(const double *log_ratios, size_t count) {
	return count ? fmax(CAP_MIN, stats_median(log_ratios, count)) : CAP_MIN;
}

static double cap_of_observed(const struct surrogate *surrogate) {
	if (surrogate->cap > 0)
		return fmax(CAP_MIN, surrogate->cap);
	double *ratios = surrogate->fit.lone_mean; /* not in use at this point */
	size_t count = 0;
	for (size_t i = 0; i < surrogate->count; i++)
		if (surrogate->observed[i].result == STRATEGY_VALUE)
			ratios[count++] = surrogate->observed[i].log - surrogate->best;
	return surrogate_cap_of(ratios, count);
}

/* Mean of a normal variable that is known to be above the limit. */
static double truncated_mean(double mean, double deviation, double limit) {
	double z = (limit - mean) / deviation;
	double above = 0.5 * erfc(z / sqrt(2));
	if (above < 1e-12)
		return limit;
	return mean + deviation * DENSITY * exp(-0.5 * z * z) / above;
}

/* Sets the targets of trials that were cut short to what the model expects from the others. */
static void lift_censored(struct surrogate *surrogate) {
	gp_target(surrogate->fit.value, surrogate->fit.target);
	gp_condition(surrogate->fit.value);
	gp_leave_one_out(surrogate->fit.value, surrogate->fit.lone_mean, surrogate->fit.lone_variance);
	for (size_t i = 0; i < surrogate->fit.in_value; i++) {
		if (surrogate->observed[surrogate->fit.row[i]].result != STRATEGY_CENSORED)
			continue;
		double limit = surrogate->fit.target[i], deviation = sqrt(surrogate->fit.lone_variance[i]);
		surrogate->fit.target[i] = fmax(limit, truncated_mean(surrogate->fit.lone_mean[i], deviation, limit));
	}
}

void surrogate_targets(struct surrogate *surrogate) {
	double cap = cap_of_observed(surrogate), best = isinf(surrogate->best) ? 0 : surrogate->best;
	bool censored = false;
	for (size_t i = 0; i < surrogate->fit.in_value; i++) {
		const struct observed *observed = &surrogate->observed[surrogate->fit.row[i]];
		censored |= observed->result == STRATEGY_CENSORED;
		surrogate->fit.target[i] = surrogate_cap(observed->log - best, cap);
	}
	if (censored)
		lift_censored(surrogate);
	gp_target(surrogate->fit.value, surrogate->fit.target);
}

enum { LEVELS = 256, USED_BEST = 120, USED_OTHERS = 120, NEED = 5, STEPS = 20, REVIEWED_MIN = 4 };
/* A source is dropped if the log density of the left-out targets is larger by this without it. */
static const double REVIEW_DOUBT = 1;
/* Prior of the trend's slope. It is below 1 because another machine or size rarely has differences as large. */
static const double SLOPE = 0.7, SLOPE_DEVIATION = 0.5, LENGTH = 30;

struct known {
	uint64_t index;
	double target;
};

static int by_index(const void *a, const void *b) {
	const struct known *x = a, *y = b;
	return (x->index > y->index) - (x->index < y->index);
}

static int by_target(const void *a, const void *b) {
	const struct known *x = a, *y = b;
	return x->target != y->target ? (x->target > y->target) - (x->target < y->target) : by_index(a, b);
}

static int by_index_and_target(const void *a, const void *b) {
	int order = by_index(a, b);
	return order ? order : by_target(a, b);
}

/* Targets of the configurations that worked there, relative to the best and capped as the search's own targets are. */
static size_t targets_make(const struct strategy_source *source, const struct space *space, struct known *known,
                           struct arena *arena) {
	size_t count = 0;
	double best = INFINITY, *ratios = arena_alloc(arena, source->count, sizeof *ratios);
	for (size_t i = 0; i < source->count; i++) {
		const struct strategy_outcome *outcome = &source->outcome[i];
		bool usable = outcome->result == STRATEGY_VALUE && outcome->value > 0 && isfinite(outcome->value);
		if (!usable || source->index[i] >= space_valid(space))
			continue;
		known[count] = (struct known){.index = source->index[i], .target = log(outcome->value)};
		best = fmin(best, known[count++].target);
	}
	for (size_t i = 0; i < count; i++)
		ratios[i] = known[i].target -= best;
	double cap = surrogate_cap_of(ratios, count);
	for (size_t i = 0; i < count; i++)
		known[i].target = surrogate_cap(known[i].target, cap);
	return count;
}

static void release(void *gp) {
	gp_free(gp);
}

/* Fits the model to the best of many and an even choice of the others. It is made when it is needed, because a source
 * that knows the whole space never needs it. */
static struct gp *learned(struct source_model *model) {
	size_t best = model->count < USED_BEST ? model->count : USED_BEST, rest = model->count - best;
	size_t others = rest < USED_OTHERS ? rest : USED_OTHERS;
	uint16_t codes[GP_DIMS_MAX];
	if (model->gp)
		return model->gp;
	double *target = arena_alloc(model->arena, best + others, sizeof *target);
	model->gp = gp_new(model->coding->dim, model->coding->count);
	arena_defer(model->arena, release, model->gp);
	qsort(model->known, model->count, sizeof *model->known, by_target);
	for (size_t i = 0; i < best + others; i++) {
		const struct known *known = &model->known[i < best ? i : best + (i - best) * rest / others];
		coding_index(model->coding, known->index, codes);
		gp_add(model->gp, codes, 0);
		target[i] = known->target;
	}
	gp_target(model->gp, target);
	gp_fit(model->gp, STEPS);
	gp_condition(model->gp);
	qsort(model->known, model->count, sizeof *model->known, by_index);
	return model->gp;
}

static struct source_model *model_new(const struct surrogate *surrogate, const struct strategy_source *source) {
	struct arena *arena = surrogate->task.arena;
	struct source_model *model = arena_alloc(arena, 1, sizeof *model);
	model->known = arena_alloc(arena, source->count, sizeof *model->known);
	model->count = targets_make(source, surrogate->task.space, model->known, arena);
	if (model->count < NEED)
		return NULL;
	qsort(model->known, model->count, sizeof *model->known, by_index_and_target);
	model->arena = arena;
	model->scale = 1e-3;
	for (size_t i = 0; i < model->count; i++)
		model->scale = fmax(model->scale, model->known[i].target);
	return model;
}

/* By their contents, the largest first. */
static int by_contents(const void *a, const void *b) {
	const struct source_model *x = *(struct source_model *const *)a, *y = *(struct source_model *const *)b;
	int order = x->count != y->count ? (x->count < y->count) - (x->count > y->count) : 0;
	for (size_t i = 0; order == 0 && i < x->count; i++)
		order = by_index_and_target(&x->known[i], &y->known[i]);
	return order;
}

/* The sources share the slope that one alone would have. */
static void dim_add(struct coding *coding, const struct source_model *model, size_t sources, struct arena *arena) {
	double *at = arena_alloc(arena, LEVELS, sizeof *at), share = (double)sources;
	for (size_t level = 0; level < LEVELS; level++)
		at[level] = (double)level / (LEVELS - 1);
	coding->param[coding->count] = -1;
	coding->dim[coding->count++] = (struct gp_dim){.values = LEVELS,
	                                               .at = at,
	                                               .length = LENGTH,
	                                               .trend = true,
	                                               .slope = SLOPE * model->scale / share,
	                                               .slope_deviation = SLOPE_DEVIATION * model->scale / sqrt(share)};
}

/* Sorts the sources and drops duplicates and those beyond the room. */
static size_t sources_choose(const struct surrogate *surrogate, struct source_model **model) {
	const struct strategy_task *task = &surrogate->task;
	size_t count = 0, kept = 0;
	for (size_t s = 0; s < task->source_count; s++)
		if ((model[count] = model_new(surrogate, &task->sources[s])))
			count++;
	if (count)
		qsort(model, count, sizeof(struct source_model *), by_contents);
	for (size_t s = 0; s < count && kept < SOURCES_MAX; s++)
		if (kept == 0 || by_contents(&model[kept - 1], &model[s]))
			model[kept++] = model[s];
	return kept;
}

void source_models_make(struct surrogate *surrogate) {
	struct arena *arena = surrogate->task.arena;
	struct coding *coding = surrogate->coding, *own = arena_alloc(arena, 1, sizeof *own);
	struct source_model **model = arena_alloc(arena, surrogate->task.source_count + 1, sizeof(struct source_model *));
	size_t count = sources_choose(surrogate, model);
	*own = *coding; /* a source's model has the dimensions of parameters only */
	for (size_t s = 0; s < count; s++) {
		model[s]->coding = own;
		model[s]->dims = own->count;
		dim_add(coding, model[s], count, arena);
		surrogate->prior.source[surrogate->prior.source_count++] = model[s];
	}
}

/* The length of its fitted model. */
static double source_model_length(struct source_model *model, size_t dim) {
	return gp_length(learned(model), dim);
}

static const struct known *known_find(const struct source_model *model, uint64_t index) {
	const struct known key = {.index = index};
	return bsearch(&key, model->known, model->count, sizeof *model->known, by_index);
}

static uint16_t level_of(const struct source_model *model, double target) {
	double level = target / model->scale * (LEVELS - 1);
	return (uint16_t)(level <= 0 ? 0 : level >= LEVELS - 1 ? LEVELS - 1 : level + 0.5);
}

uint16_t source_model_code(struct source_model *model, const uint16_t *codes, uint64_t index) {
	const struct known *known = known_find(model, index);
	double target, variance;
	if (known)
		return level_of(model, known->target);
	gp_predict(learned(model), codes, &target, &variance);
	return level_of(model, target);
}

void surrogate_codes(const struct surrogate *surrogate, uint64_t index, uint16_t *codes) {
	coding_index(surrogate->coding, index, codes);
	for (size_t s = 0; s < surrogate->prior.source_count; s++)
		codes[surrogate->coding->count - surrogate->prior.source_count + s] =
			source_model_code(surrogate->prior.source[s], codes, index);
}

/* Predicts the candidates that the source does not know: their places in the pool and their codes there. */
static void codes_predict(struct source_model *model, struct pool *pool, size_t dims, size_t at, const size_t *place,
                          size_t count) {
	mem_auto uint16_t *own = mem_alloc(count * model->dims, sizeof *own);
	struct gp_pool *asked = gp_pool_new(learned(model), count);
	for (size_t i = 0; i < count; i++)
		memcpy(own + i * model->dims, pool->codes + place[i] * dims, model->dims * sizeof *own);
	gp_pool_set(asked, own, count);
	gp_pool_predict(asked);
	for (size_t i = 0; i < count; i++)
		pool->codes[place[i] * dims + at] = level_of(model, gp_pool_mean(asked)[i]);
	gp_pool_free(asked);
}

void source_model_codes(struct source_model *model, struct pool *pool, size_t dims, size_t at) {
	size_t *unknown = mem_alloc(pool->count + 1, sizeof *unknown), count = 0;
	for (size_t c = 0; c < pool->count; c++) {
		const struct known *known = known_find(model, pool->index[c]);
		if (known)
			pool->codes[c * dims + at] = level_of(model, known->target);
		else
			unknown[count++] = c;
	}
	if (count)
		codes_predict(model, pool, dims, at, unknown, count);
	free(unknown);
}

static const double CENSORED_VARIANCE = 0.01, DEVIATION_MAX = 10;

double observed_variance(const struct observed *observed) {
	double deviation = fmin(observed->deviation, DEVIATION_MAX);
	return observed->result == STRATEGY_CENSORED ? CENSORED_VARIANCE : deviation * deviation;
}

/* Sum of the log densities of the targets, each predicted from all others. */
static double left_out_density(struct gp *gp, const double *target, struct arena *arena) {
	size_t count = gp_count(gp);
	double *mean = arena_alloc(arena, count, sizeof *mean), *variance = arena_alloc(arena, count, sizeof *variance);
	double sum = 0;
	gp_leave_one_out(gp, mean, variance);
	for (size_t i = 0; i < count; i++) {
		double off = target[i] - mean[i];
		sum -= 0.5 * (off * off / variance[i] + log(variance[i]));
	}
	return sum;
}

static double density_without(const struct surrogate *surrogate, size_t source, struct arena *arena) {
	const struct coding *coding = surrogate->coding;
	size_t left_out = coding->count - surrogate->prior.source_count + source, count = 0;
	struct gp_dim *dim = arena_alloc(arena, coding->count, sizeof *dim);
	uint16_t codes[GP_DIMS_MAX], kept[GP_DIMS_MAX];
	for (size_t d = 0; d < coding->count; d++)
		if (d != left_out)
			dim[count++] = coding->dim[d];
	struct gp *gp = gp_new(dim, count);
	for (size_t i = 0; i < surrogate->fit.in_value; i++) {
		const struct observed *observed = &surrogate->observed[surrogate->fit.row[i]];
		surrogate_codes(surrogate, observed->index, codes);
		for (size_t d = 0, k = 0; d < coding->count; d++)
			if (d != left_out)
				kept[k++] = codes[d];
		gp_add(gp, kept, observed_variance(observed));
	}
	gp_target(gp, surrogate->fit.target);
	gp_fit(gp, STEPS);
	gp_condition(gp);
	double density = left_out_density(gp, surrogate->fit.target, arena);
	gp_free(gp);
	return density;
}

size_t source_misleading(struct surrogate *surrogate) {
	size_t worst = SIZE_MAX;
	if (surrogate->prior.source_count == 0 || surrogate->fit.in_value < REVIEWED_MIN)
		return SIZE_MAX;
	struct arena *arena = arena_new();
	double most = left_out_density(surrogate->fit.value, surrogate->fit.target, arena) + REVIEW_DOUBT;
	for (size_t s = 0; s < surrogate->prior.source_count; s++) {
		double density = density_without(surrogate, s, arena);
		if (density > most) {
			most = density;
			worst = s;
		}
	}
	arena_free(arena);
	return worst;
}

/* The lengths of earlier searches' models say which parameters matter, and how smoothly. They do not point to a
 * configuration, so that the search without sources may expect them, too. */

/* Half-way (in logarithms) between the usual length and the mean of the sources'. */
static const double WEIGHT = 0.5;

const double *surrogate_lengths(const struct surrogate *surrogate, size_t *count) {
	const struct coding *coding = surrogate->coding;
	size_t sources = surrogate->prior.source_count, dims = coding->count - sources;
	double *lengths = arena_alloc(surrogate->task.arena, dims + 1, sizeof *lengths);
	for (size_t d = 0; d < dims; d++) {
		double sum = 0;
		for (size_t s = 0; s < sources; s++)
			sum += log(source_model_length(surrogate->prior.source[s], d) / coding->dim[d].length);
		lengths[d] = coding->dim[d].length * exp(WEIGHT * sum / fmax((double)sources, 1));
	}
	*count = dims;
	return lengths;
}
