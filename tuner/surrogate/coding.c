/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stats.h"
#include "tuner/surrogate/surrogate_impl.h"

/* The expected length of alignment, of a range of 1, and the largest power of two that it distinguishes; both were
 * chosen with the procedure of doc/lab/search.md. */
static const double ALIGNMENT_LENGTH = 2.7;
enum { POWER_MAX = 6, CODES_MAX = 4096, ALIGNED_VALUES_MIN = 5, OFF_VALUES_MIN = 4 };
/* Numbers of so many values are told apart by name as well. The expected length is long, so that this has little effect
 * until results show it: with 1.35, smooth spaces need a quarter more evaluations. */
static const double NAMES_LENGTH = 5;
enum { FEW_MIN = 3, FEW_MAX = 5 };
/* Flags exclude each other if they never meet among so many configurations, where they would so often by chance. */
enum { LOOKED_AT = 2048, MEETINGS_MIN = 10 };

static double number(const struct space *space, size_t param, size_t level) {
	struct value value = space_param_value(space, param, level);
	return value.type == VALUE_INT ? (double)value.as.i : value.type == VALUE_REAL ? value.as.r : (double)level;
}

/* A zero below whole numbers from 2 on, such as the tile sizes 0, 8, 10, 16 .. 128, turns something off: it is as far
 * from each of them, which keep their ratios and their alignment. Returns the value's place, or `values`. */
static size_t off_find(const struct space *space, size_t param) {
	size_t values = space_param_values(space, param), off = values;
	if (!space_param_ordered(space, param) || values < OFF_VALUES_MIN)
		return values;
	for (size_t v = 0; v < values; v++) {
		struct value value = space_param_value(space, param, v);
		if (value.type != VALUE_INT || value.as.i < 0 || value.as.i == 1)
			return values;
		off = value.as.i == 0 ? v : off;
	}
	return off;
}

static struct gp_dim *dim_add(struct coding *coding, size_t param, const uint16_t *code, struct gp_dim dim) {
	coding->param[coding->count] = (int)param;
	coding->code[coding->count] = code;
	coding->dim[coding->count] = dim;
	return &coding->dim[coding->count++];
}

/* The level at which a parameter of 0 and 1 is on; -1: it is not one. */
static int on_level(const struct space *space, size_t param) {
	if (space_param_values(space, param) != 2 || !space_param_ordered(space, param))
		return -1;
	double first = number(space, param, 0), second = number(space, param, 1);
	return first == 0 && second == 1 ? 1 : first == 1 && second == 0 ? 0 : -1;
}

static uint64_t bit(size_t param) {
	return (uint64_t)1 << param;
}

/* Finds the flags that are ever on together with each, and how often each is on, in a sample of the space. */
static void flags_look(const struct space *space, uint64_t *together, double *on) {
	int config[SPACE_PARAMS_MAX];
	struct rng rng;
	rng_split(&rng, 0, "flags");
	for (size_t i = 0; i < LOOKED_AT; i++) {
		uint64_t are_on = 0;
		space_config(space, space_sample(space, &rng), config);
		for (size_t p = 0; p < space_params(space); p++)
			are_on |= config[p] >= 0 && config[p] == on_level(space, p) ? bit(p) : 0;
		for (uint64_t left = are_on; left; left &= left - 1) {
			together[__builtin_ctzll(left)] |= are_on;
			on[__builtin_ctzll(left)]++;
		}
	}
}

/* Flags of which at most one is on, such as one for each method of compression, are one choice that was written as
 * several parameters. Without it, another method is two changes away. choice: of each parameter, the flags of its
 * choice; 0: none. Flags that are rare may never meet by chance, and are left alone. */
static void choices_find(const struct space *space, uint64_t *choice) {
	uint64_t together[SPACE_PARAMS_MAX] = {0};
	double on[SPACE_PARAMS_MAX] = {0};
	flags_look(space, together, on);
	for (size_t p = 0; p < space_params(space); p++) {
		uint64_t flags = bit(p);
		for (size_t q = p + 1; q < space_params(space) && on[p] > 0 && !choice[p]; q++)
			if (!choice[q] && !(together[q] & flags) && on[p] * on[q] >= MEETINGS_MIN * LOOKED_AT)
				flags |= bit(q);
		for (uint64_t left = flags & (flags - 1) ? flags : 0; left; left &= left - 1)
			choice[__builtin_ctzll(left)] = flags;
	}
}

static void choice_add(struct arena *arena, struct coding *coding, size_t param, uint64_t flags) {
	size_t count = (size_t)__builtin_popcountll(flags);
	double *x = arena_alloc(arena, count + 1, sizeof *x);
	dim_add(coding, param, NULL, gp_dim_of(NULL, count, x));
	coding->flags[coding->count - 1] = flags;
}

static void param_add(struct arena *arena, struct coding *coding, size_t param) {
	const struct space *space = coding->space;
	size_t values = space_param_values(space, param), off = off_find(space, param);
	size_t others = values - (off < values), codes = others < CODES_MAX ? others : CODES_MAX, nth = 0;
	double *x = arena_alloc(arena, codes + 1, sizeof *x);
	uint16_t *code = arena_alloc(arena, values + 1, sizeof *code);
	for (size_t v = 0; v < values; v++) {
		code[v] = (uint16_t)(v == off ? codes : nth++ * codes / others);
		if (v != off)
			x[code[v]] = number(space, param, v);
	}
	code[values] = (uint16_t)codes;
	dim_add(coding, param, code, gp_dim_of(space_param_ordered(space, param) ? x : NULL, codes, x));
}

static int power_of_two(const struct space *space, size_t param, size_t level) {
	struct value value = space_param_value(space, param, level);
	int64_t n = value.type == VALUE_INT ? value.as.i : 0;
	return n <= 0 ? -1 : __builtin_ctzll((uint64_t)n) < POWER_MAX ? __builtin_ctzll((uint64_t)n) : POWER_MAX;
}

/* A dimension for alignment is worth its cost only for whole positive numbers that are not simply the more aligned the
 * larger they are. */
static bool has_alignment(const struct space *space, size_t param) {
	size_t values = space_param_values(space, param), off = off_find(space, param);
	double least[POWER_MAX + 1]; /* smallest value of each power */
	for (int power = 0; power <= POWER_MAX; power++)
		least[power] = INFINITY;
	for (size_t v = 0; v < values; v++) {
		int power = power_of_two(space, param, v);
		if (v == off)
			continue;
		if (power < 0)
			return false;
		least[power] = fmin(least[power], number(space, param, v));
	}
	for (int power = POWER_MAX; power >= 0; power--) /* smallest value of this power or any higher one */
		least[power] = fmin(least[power], power < POWER_MAX ? least[power + 1] : INFINITY);
	for (size_t v = 0; v < values; v++) {
		int power = power_of_two(space, param, v);
		if (power < POWER_MAX && least[power + 1] < number(space, param, v))
			return values >= ALIGNED_VALUES_MIN;
	}
	return false;
}

static void alignment_add(struct arena *arena, struct coding *coding, size_t param) {
	size_t values = space_param_values(coding->space, param), off = off_find(coding->space, param);
	double *x = arena_alloc(arena, POWER_MAX + 2, sizeof *x);
	uint16_t *code = arena_alloc(arena, values + 1, sizeof *code);
	int least = POWER_MAX, most = 0;
	for (size_t v = 0; v < values; v++) {
		int power = v == off ? POWER_MAX + 1 : power_of_two(coding->space, param, v);
		code[v] = (uint16_t)power;
		if (v == off)
			continue;
		least = power < least ? power : least;
		most = power > most ? power : most;
	}
	for (int power = 0; power <= POWER_MAX; power++)
		x[power] = ldexp(1, power < least ? least : power > most ? most : power);
	code[values] = POWER_MAX + 1;
	dim_add(coding, param, code, gp_dim_of(x, POWER_MAX + 1, x))->length = ALIGNMENT_LENGTH;
}

static bool is_few(size_t values) {
	return values >= FEW_MIN && values <= FEW_MAX;
}

/* Among few values a cliff is common, 3 slower than both 2 and 4, and an order alone would carry it on to 4. */
static void names_add(struct arena *arena, struct coding *coding, size_t param) {
	size_t values = space_param_values(coding->space, param);
	double *x = arena_alloc(arena, values + 1, sizeof *x);
	uint16_t *code = arena_alloc(arena, values + 1, sizeof *code);
	for (size_t v = 0; v <= values; v++)
		code[v] = (uint16_t)v;
	dim_add(coding, param, code, gp_dim_of(NULL, values, x))->length = NAMES_LENGTH;
}

struct coding *coding_new(struct arena *arena, const struct space *space, size_t spare) {
	struct coding *coding = arena_alloc(arena, 1, sizeof *coding);
	size_t room = GP_DIMS_MAX - spare;
	uint64_t choice[SPACE_PARAMS_MAX] = {0};
	coding->space = space;
	choices_find(space, choice);
	for (size_t p = 0; p < space_params(space) && coding->count < room; p++)
		if (choice[p] && p == (size_t)__builtin_ctzll(choice[p]))
			choice_add(arena, coding, p, choice[p]);
		else if (!choice[p] && (space_param_values(space, p) > 1 || space_param_when(space, p)))
			param_add(arena, coding, p);
	for (size_t p = 0; p < space_params(space) && coding->count < room; p++)
		if (space_param_ordered(space, p) && has_alignment(space, p))
			alignment_add(arena, coding, p);
	coding->unnamed = coding->count;
	for (size_t p = 0; p < space_params(space) && coding->count < room; p++)
		if (space_param_ordered(space, p) && is_few(space_param_values(space, p)))
			names_add(arena, coding, p);
	return coding;
}

/* The place of the flag that is on; their number: none of them. */
static uint16_t choice_code(const struct space *space, uint64_t flags, const int *config) {
	uint16_t nth = 0;
	for (; flags; flags &= flags - 1, nth++) {
		size_t param = (size_t)__builtin_ctzll(flags);
		if (config[param] >= 0 && config[param] == on_level(space, param))
			return nth;
	}
	return nth;
}

void coding_config(const struct coding *coding, const int *config, uint16_t *codes) {
	for (size_t d = 0; d < coding->count; d++) {
		int param = coding->param[d];
		if (param < 0)
			continue;
		if (coding->flags[d]) {
			codes[d] = choice_code(coding->space, coding->flags[d], config);
			continue;
		}
		size_t values = space_param_values(coding->space, (size_t)param);
		codes[d] = coding->code[d][config[param] == SPACE_ABSENT ? values : (size_t)config[param]];
	}
}

void coding_index(const struct coding *coding, uint64_t index, uint16_t *codes) {
	int config[SPACE_PARAMS_MAX];
	space_config(coding->space, index, config);
	coding_config(coding, config, codes);
}

enum { COSTS_MAX = 512, SWEEPS = 4, FORETELL_FROM = 3 };
/* Shrinks an effect as if its value had been observed so many more times without any effect. */
static const double SHRINK = 2;
/* Costs whose logarithms deviate less than this count as equal. */
static const double ALIKE = 0.15;
/* Sum of squared deviations of logarithms at which predictions are trusted by half. */
static const double DOUBT = 0.5;
/* A build that is expected to take so many times a typical one comes last. */
static const double DEAR = 10, LAST = 1e-3;
/* A build that was stopped would have taken longer by this logarithm at least. */
static const double STOPPED = 0.7;

struct effect {
	double value, sum, count;
};

/* Additive effects on the logarithm of one part of the seconds. */
struct part {
	size_t count;
	struct effect *effects[GP_DIMS_MAX]; /* indexed by code */
	uint16_t *codes;                     /* COSTS_MAX x dims */
	double logs[COSTS_MAX], rests[COSTS_MAX], mean, median;
	bool least[COSTS_MAX]; /* it would have taken longer */
};

enum { BUILD, REST, PARTS };

struct cost {
	const struct coding *coding;
	double budget, spent; /* seconds */
	double builders;
	size_t dims;
	size_t values[GP_DIMS_MAX];
	struct part part[PARTS];
	double sum_of_logs; /* of the seconds of evaluations, with their number */
	size_t count;
	size_t foretold;          /* predictions that were made before the cost was known */
	double off, off_the_mean; /* sums of squared errors of these predictions, and of the mean in their place */
};

struct cost *cost_new(const struct strategy_task *task, const struct coding *coding) {
	struct arena *arena = task->arena;
	if (!(task->seconds > 0))
		return NULL;
	struct cost *cost = arena_alloc(arena, 1, sizeof *cost);
	cost->coding = coding;
	cost->budget = task->seconds;
	cost->builders = task->builders > 1 ? (double)task->builders : 1;
	cost->dims = coding->unnamed; /* effects of values do not need their names as well */
	for (size_t d = 0; d < cost->dims; d++)
		cost->values[d] = coding->dim[d].values;
	for (size_t p = 0; p < PARTS; p++) {
		struct part *part = &cost->part[p];
		part->codes = arena_alloc(arena, COSTS_MAX * cost->dims, sizeof *part->codes);
		for (size_t d = 0; d < cost->dims; d++)
			part->effects[d] = arena_alloc(arena, cost->values[d], sizeof *part->effects[d]);
	}
	return cost;
}

static double effects_sum(const struct part *part, size_t dims, const uint16_t *codes) {
	double sum = 0;
	for (size_t d = 0; d < dims; d++)
		sum += part->effects[d][codes[d]].value;
	return sum;
}

/* Builders work beside each other, so that each second of building costs only a share of a second. */
static double seconds_of(const struct cost *cost, double build, double rest) {
	return build / cost->builders + rest;
}

static double part_seconds(const struct part *part, double effects) {
	return part->count ? exp(part->mean + effects) : 0;
}

double cost_predict(const struct cost *cost, const uint16_t *codes) {
	const struct part *build = &cost->part[BUILD], *rest = &cost->part[REST];
	if (build->count == 0)
		return effects_sum(rest, cost->dims, codes);
	double typical = seconds_of(cost, part_seconds(build, 0), part_seconds(rest, 0));
	double own = seconds_of(cost, part_seconds(build, effects_sum(build, cost->dims, codes)),
	                        part_seconds(rest, effects_sum(rest, cost->dims, codes)));
	return log(own / typical);
}

static bool is_dear(const struct cost *cost, const uint16_t *codes) {
	const struct part *build = &cost->part[BUILD];
	double expected = build->mean + effects_sum(build, cost->dims, codes);
	return build->count > FORETELL_FROM && expected > build->median + log(DEAR);
}

double cost_share(const struct cost *cost, double power, const uint16_t *codes) {
	if (!(power > 0))
		return 1;
	return exp(-power * cost_predict(cost, codes)) * (is_dear(cost, codes) ? LAST : 1);
}

/* Backfitting (Hastie, Tibshirani, Generalized additive models, 1990, chapter 4): the effects of a dimension are fitted
 * to the residuals of all others. */
static void fit_dim(const struct cost *cost, struct part *part, size_t d) {
	struct effect *effects = part->effects[d];
	for (size_t v = 0; v < cost->values[d]; v++)
		effects[v].sum = effects[v].count = 0;
	for (size_t i = 0; i < part->count; i++) {
		struct effect *effect = &effects[part->codes[i * cost->dims + d]];
		part->rests[i] += effect->value;
		effect->sum += part->rests[i];
		effect->count++;
	}
	for (size_t v = 0; v < cost->values[d]; v++)
		effects[v].value = effects[v].sum / (effects[v].count + SHRINK);
	for (size_t i = 0; i < part->count; i++)
		part->rests[i] -= effects[part->codes[i * cost->dims + d]].value;
}

/* A build that was stopped counts as the expected time if that is longer. */
static double log_of(const struct cost *cost, const struct part *part, size_t i) {
	if (!part->least[i])
		return part->logs[i];
	double expected = part->mean + effects_sum(part, cost->dims, &part->codes[i * cost->dims]);
	return fmax(part->logs[i] + STOPPED, expected);
}

static void fit(const struct cost *cost, struct part *part) {
	double sum = 0;
	for (size_t i = 0; i < part->count; i++)
		sum += part->logs[i];
	part->mean = sum / (double)part->count;
	part->median = stats_median(part->logs, part->count);
	for (size_t i = 0; i < part->count; i++)
		part->rests[i] =
			log_of(cost, part, i) - part->mean - effects_sum(part, cost->dims, &part->codes[i * cost->dims]);
	for (int sweep = 0; sweep < SWEEPS; sweep++)
		for (size_t d = 0; d < cost->dims; d++)
			fit_dim(cost, part, d);
}

static void part_report(const struct cost *cost, struct part *part, const uint16_t *codes, double seconds, bool least) {
	if (part->count == COSTS_MAX || !(seconds > 0))
		return;
	memcpy(&part->codes[part->count * cost->dims], codes, cost->dims * sizeof *codes);
	part->least[part->count] = least;
	part->logs[part->count++] = log(seconds);
	fit(cost, part);
}

/* Scores the prediction before the cost is learned, so that predictions earn their trust on data that they have not
 * seen. */
static void foretell(struct cost *cost, const uint16_t *codes, double log_seconds) {
	double away = log_seconds - cost->sum_of_logs / fmax(1, (double)cost->count);
	double off = away - cost_predict(cost, codes);
	if (cost->count >= FORETELL_FROM) {
		cost->foretold++;
		cost->off += off * off;
		cost->off_the_mean += away * away;
	}
	cost->sum_of_logs += log_seconds;
	cost->count++;
}

void cost_report(struct cost *cost, uint64_t index, const struct strategy_outcome *outcome) {
	uint16_t codes[GP_DIMS_MAX];
	double build = fmin(outcome->build, outcome->seconds), rest = outcome->seconds - build;
	if (!cost || !(outcome->seconds > 0))
		return;
	double seconds = seconds_of(cost, build, rest);
	cost->spent += seconds;
	if (cost->count == COSTS_MAX)
		return;
	coding_index(cost->coding, index, codes);
	if (!outcome->given_up)
		foretell(cost, codes, log(seconds));
	part_report(cost, &cost->part[BUILD], codes, build, outcome->given_up);
	part_report(cost, &cost->part[REST], codes, rest, false);
}

double cost_power(const struct cost *cost) {
	if (!cost || !(cost->off_the_mean > (double)cost->foretold * ALIKE * ALIKE))
		return 0;
	double left = fmax(0, 1 - cost->spent / cost->budget);
	return left * fmax(0, cost->off_the_mean - cost->off) / (cost->off_the_mean + DOUBT);
}
