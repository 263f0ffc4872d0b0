/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stats.h"
#include "tuner/surrogate/surrogate_impl.h"

/* Configurations that were proposed and have no result yet: their assumed outcomes, and which of them are still worth
 * measuring (ADR 15). */

/* A pending configuration is not worth measuring if it promises less than this share of what the next proposal does. */
static const double WORTH_MIN = 0.02;
enum { RANKED_MAX = 256 };

void surrogate_await(struct surrogate *surrogate, uint64_t index, bool own) {
	if (surrogate->waiting.count == PENDING_MAX) /* the oldest never got a result and is forgotten */
		memmove(surrogate->waiting.pending, surrogate->waiting.pending + 1,
		        --surrogate->waiting.count * sizeof *surrogate->waiting.pending);
	surrogate->waiting.pending[surrogate->waiting.count++] = (struct pending){index, own};
	if (surrogate->second)
		surrogate_await(surrogate->second, index, own);
}

void surrogate_withdraw(struct surrogate *surrogate, uint64_t index) {
	if (surrogate->second)
		surrogate_withdraw(surrogate->second, index);
	for (size_t i = 0; i < surrogate->waiting.count; i++)
		if (surrogate->waiting.pending[i].index == index) {
			surrogate->waiting.pending[i] = surrogate->waiting.pending[--surrogate->waiting.count];
			return;
		}
}

/* Counts pending configurations as measured with their means, also for the incumbent. */
static void surrogate_believe(struct surrogate *surrogate) {
	uint16_t codes[GP_DIMS_MAX];
	size_t rows = surrogate->fit.in_value;
	double variance;
	if (surrogate->waiting.count == 0)
		return;
	for (size_t i = 0; i < surrogate->waiting.count; i++) {
		surrogate_codes(surrogate, surrogate->waiting.pending[i].index, codes);
		gp_predict(surrogate->fit.value, codes, &surrogate->fit.target[rows + i], &variance);
	}
	for (size_t i = 0; i < surrogate->waiting.count; i++) {
		surrogate_codes(surrogate, surrogate->waiting.pending[i].index, codes);
		gp_add(surrogate->fit.value, codes, 0);
		surrogate->worth.incumbent = fminf(surrogate->worth.incumbent, (float)surrogate->fit.target[rows + i]);
	}
	gp_target(surrogate->fit.value, surrogate->fit.target);
	gp_condition(surrogate->fit.value);
}

struct ranked {
	uint64_t index;
	double mean, chance, share;
	bool own, done;
};

static bool is_own(const struct surrogate *surrogate, uint64_t index) {
	for (size_t i = 0; i < surrogate->waiting.count; i++)
		if (surrogate->waiting.pending[i].index == index)
			return surrogate->waiting.pending[i].own;
	return false;
}

static void look_up(struct surrogate *surrogate, struct ranked *ranked, uint64_t index, uint16_t *codes) {
	double variance;
	surrogate_codes(surrogate, index, codes);
	gp_predict(surrogate->fit.value, codes, &ranked->mean, &variance);
	ranked->index = index;
	ranked->chance = surrogate_chance_at(surrogate, codes);
	ranked->share = cost_share(surrogate->cost, cost_power(surrogate->cost), codes);
	ranked->own = is_own(surrogate, index);
	ranked->done = false;
}

/* The expected improvement of the configuration that the model would propose instead of a pending one. */
static double best_other(struct surrogate *surrogate) {
	uint64_t index;
	surrogate_believe(surrogate);
	gp_pool_predict(surrogate->fit.values);
	return surrogate_most_promising(surrogate, &index);
}

static size_t best_left(const struct surrogate *surrogate, const struct ranked *ranked, const double *covariance,
                        size_t count, double incumbent, double *worth) {
	size_t best = SIZE_MAX;
	*worth = -1;
	for (size_t i = 0; i < count; i++) {
		double deviation = sqrt(surrogate->fit.stretch * fmax(covariance[i * count + i], 1e-9));
		if (ranked[i].done)
			continue;
		double own = ranked[i].chance * ranked[i].share * surrogate_gain_of(incumbent - ranked[i].mean, deviation);
		if (own > *worth) {
			*worth = own;
			best = i;
		}
	}
	return best;
}

/* The covariances of all others once this one is measured, too. */
static void condition_on(double *covariance, size_t count, size_t at, double noise) {
	double variance = covariance[at * count + at] + noise;
	mem_auto double *row = mem_alloc(count, sizeof *row);
	memcpy(row, covariance + at * count, count * sizeof *row);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			covariance[i * count + j] -= row[i] * row[j] / variance;
}

/* One after the other, each given that those before it come out as their means. */
static size_t order(struct surrogate *surrogate, struct ranked *ranked, double *covariance, uint64_t *pending,
                    size_t count, double incumbent) {
	double worth, least = WORTH_MIN * best_other(surrogate);
	size_t kept = 0, dropped = 0;
	uint64_t *behind = mem_alloc(count, sizeof *behind);
	for (size_t n = 0; n < count; n++) {
		size_t at = best_left(surrogate, ranked, covariance, count, incumbent, &worth);
		ranked[at].done = true;
		if (ranked[at].own && worth < least) {
			behind[dropped++] = ranked[at].index;
			continue;
		}
		pending[kept++] = ranked[at].index;
		incumbent = fmin(incumbent, ranked[at].mean);
		condition_on(covariance, count, at, fmax(gp_noise(surrogate->fit.value), 1e-6));
	}
	memcpy(pending + kept, behind, dropped * sizeof *behind);
	free(behind);
	return kept;
}

static void surrogate_refresh(struct surrogate *surrogate);

size_t surrogate_rank(struct surrogate *surrogate, uint64_t *pending, size_t count) {
	if (surrogate->worked == 0 || count > RANKED_MAX || surrogate->front)
		return count;
	surrogate_refresh(surrogate);
	mem_auto struct ranked *ranked = mem_alloc(count, sizeof *ranked);
	mem_auto uint16_t *codes = mem_alloc(count * surrogate->dims + 1, sizeof *codes);
	mem_auto double *covariance = mem_alloc(count * count, sizeof *covariance);
	for (size_t i = 0; i < count; i++)
		look_up(surrogate, &ranked[i], pending[i], codes + i * surrogate->dims);
	gp_covariances(surrogate->fit.value, codes, count, covariance);
	return order(surrogate, ranked, covariance, pending, count, surrogate->worth.incumbent);
}

enum {
	SPARE = 3, /* dimensions that no parameter may take */
	FIRST_STEPS = 30,
	STEPS = 14,
	NEED = 3,
	CALIBRATE_EACH = 60
};
/* The models are fitted again after so many more observations, as a share of them, because a fit costs much. */
static const double FIT_AGAIN = 0.12;

static void *array(struct surrogate *surrogate, size_t count, size_t size) {
	return arena_alloc(surrogate->task.arena, count, size);
}

/* The gains of a variable of deviation 1, each for the upper end of a step of the gap. */
static float *gain_most_new(struct arena *arena) {
	float *most = arena_alloc(arena, GAP_STEPS, sizeof *most);
	for (int i = 0; i < GAP_STEPS; i++)
		most[i] = (float)(1.001 * surrogate_gain_of(GAP_MIN + (i + 1.0) / GAP_STEP, 1));
	return most;
}

static const double WORKS_VARIANCE = 0.01;

static void release_gp(void *gp) {
	gp_free(gp);
}

static void release_pool(void *pool) {
	gp_pool_free(pool);
}

static struct gp *model_new(struct surrogate *surrogate) {
	struct gp *gp = gp_new(surrogate->coding->dim, surrogate->dims);
	arena_defer(surrogate->task.arena, release_gp, gp);
	return gp;
}

static struct gp_pool *pool_new(struct surrogate *surrogate, struct gp *gp) {
	struct gp_pool *pool = gp_pool_new(gp, surrogate->pool.room);
	arena_defer(surrogate->task.arena, release_pool, pool);
	return pool;
}

/* Makes the models for the current dimensions, without observations. */
static void surrogate_models_make(struct surrogate *surrogate) {
	surrogate->dims = surrogate->coding->count;
	surrogate->fit.value = model_new(surrogate);
	surrogate->fit.values = pool_new(surrogate, surrogate->fit.value);
	surrogate->odds.works = NULL;
	surrogate->odds.workings = NULL;
	surrogate->fit.in_value = surrogate->odds.in_works = 0;
}

/* Adds new observations after dropping the assumed outcomes of pending configurations, which are always the last rows.
 */
static void surrogate_models_update(struct surrogate *surrogate) {
	uint16_t codes[GP_DIMS_MAX];
	gp_truncate(surrogate->fit.value, surrogate->fit.in_value);
	if (surrogate->failed && !surrogate->odds.works) {
		surrogate->odds.works = model_new(surrogate);
		surrogate->odds.workings = pool_new(surrogate, surrogate->odds.works);
		if (surrogate->pool.count)
			gp_pool_set(surrogate->odds.workings, surrogate->pool.codes, surrogate->pool.count);
	}
	for (; surrogate->odds.in_works < surrogate->count; surrogate->odds.in_works++) {
		const struct observed *observed = &surrogate->observed[surrogate->odds.in_works];
		surrogate_codes(surrogate, observed->index, codes);
		if (observed->result != STRATEGY_FAILURE) {
			gp_add(surrogate->fit.value, codes, observed_variance(observed));
			surrogate->fit.row[surrogate->fit.in_value++] = surrogate->odds.in_works;
		}
	}
	for (size_t i = surrogate->odds.works ? gp_count(surrogate->odds.works) : surrogate->count; i < surrogate->count;
	     i++) {
		surrogate_codes(surrogate, surrogate->observed[i].index, codes);
		gp_add(surrogate->odds.works, codes, WORKS_VARIANCE);
	}
}

/* Removes a source and its dimension (parameters come first); the models start again. */
static void surrogate_source_drop(struct surrogate *surrogate, size_t source) {
	struct coding *coding = surrogate->coding;
	size_t dim = coding->count - surrogate->prior.source_count + source,
		   behind = surrogate->prior.source_count - source - 1;
	memmove(&coding->dim[dim], &coding->dim[dim + 1], behind * sizeof *coding->dim);
	memmove(&surrogate->prior.source[source], &surrogate->prior.source[source + 1],
	        behind * sizeof(struct source_model *));
	coding->count--;
	surrogate->prior.source_count--;
	surrogate->prior.dropped++;
	surrogate->pool.count = 0;
	surrogate_models_make(surrogate);
}

/* Lengths that earlier searches had are less in doubt than usual. */
static const double LENGTH_DOUBT = 0.8;

/* Takes the lengths that the task expects. */
static void surrogate_lengths_expect(struct coding *coding, const struct strategy_task *task) {
	for (size_t d = 0; task->lengths && d < task->length_count && d < coding->count; d++) {
		coding->dim[d].length = task->lengths[d];
		coding->dim[d].doubt = LENGTH_DOUBT;
	}
}

struct surrogate *surrogate_new(const struct strategy_task *task, bool transfer) {
	struct surrogate *surrogate = arena_alloc(task->arena, 1, sizeof *surrogate);
	uint64_t valid = space_valid(task->space);
	size_t rows = OBSERVED_MAX + PENDING_MAX;
	surrogate->task = *task;
	rng_split(&surrogate->rng, task->seed, "surrogate");
	surrogate->best = surrogate->worth.anchor = INFINITY;
	surrogate->fit.stretch = 1;
	surrogate->fit.error = NAN;
	surrogate->coding = coding_new(task->arena, task->space, transfer && task->source_count ? SOURCES_MAX : SPARE);
	surrogate_lengths_expect(surrogate->coding, task);
	surrogate->cost = cost_new(task, surrogate->coding);
	if (transfer)
		source_models_make(surrogate);
	surrogate->dims = surrogate->coding->count;
	surrogate->pool.whole = valid <= POOL_WHOLE;
	surrogate->pool.room = surrogate->pool.whole ? (size_t)valid : POOL_SAMPLED;
	surrogate->pool.index = array(surrogate, surrogate->pool.room, sizeof *surrogate->pool.index);
	surrogate->pool.codes = array(surrogate, surrogate->pool.room * surrogate->dims, sizeof *surrogate->pool.codes);
	surrogate->odds.limits = limits_new(task->arena, surrogate->coding, OBSERVED_MAX);
	surrogate->odds.chance = array(surrogate, surrogate->pool.room, sizeof *surrogate->odds.chance);
	surrogate->worth.gain = array(surrogate, surrogate->pool.room, sizeof *surrogate->worth.gain);
	surrogate->worth.gain_most = gain_most_new(task->arena);
	surrogate->observed = array(surrogate, OBSERVED_MAX, sizeof *surrogate->observed);
	surrogate->fit.row = array(surrogate, rows, sizeof *surrogate->fit.row);
	surrogate->fit.target = array(surrogate, rows, sizeof *surrogate->fit.target);
	surrogate->fit.lone_mean = array(surrogate, rows, sizeof *surrogate->fit.lone_mean);
	surrogate->fit.lone_variance = array(surrogate, rows, sizeof *surrogate->fit.lone_variance);
	surrogate_models_make(surrogate);
	if (task->two)
		front_begin(surrogate);
	return surrogate;
}

static int by_promise(const void *a, const void *b) {
	const struct observed *x = a, *y = b;
	double p = x->result == STRATEGY_FAILURE ? INFINITY : x->log, q = y->result == STRATEGY_FAILURE ? INFINITY : y->log;
	return p != q ? (p > q) - (p < q) : (x->index > y->index) - (x->index < y->index);
}

/* The models are full: keep the better part and an even choice of the rest. */
static void compact(struct surrogate *surrogate) {
	size_t best = OBSERVED_KEPT * 3 / 4, rest = surrogate->count - best;
	qsort(surrogate->observed, surrogate->count, sizeof *surrogate->observed, by_promise);
	for (size_t i = 0; i < OBSERVED_KEPT - best; i++)
		surrogate->observed[best + i] = surrogate->observed[best + i * rest / (OBSERVED_KEPT - best)];
	surrogate->count = OBSERVED_KEPT;
	surrogate->worked = surrogate->failed = 0;
	for (size_t i = 0; i < surrogate->count; i++) {
		surrogate->worked += surrogate->observed[i].result == STRATEGY_VALUE;
		surrogate->failed += surrogate->observed[i].result == STRATEGY_FAILURE;
	}
	gp_truncate(surrogate->fit.value, 0);
	if (surrogate->odds.works)
		gp_truncate(surrogate->odds.works, 0);
	surrogate->odds.limits->count = 0;
	surrogate->fit.in_value = surrogate->odds.in_works = 0;
}

/* The gain (a logarithm) to be promised. A search that gains less and less where it is must look elsewhere, while
 * the model, all of whose latest results are alike, promises little there: the step grows with each result behind the
 * first VAIN in a row that have not improved the best by CLEARLY. Every DRAWN_EACH-th one is drawn instead, from an
 * exponential distribution with a mean of DRAWN, unless sources or costs guide the search. Where configurations are
 * ruled out there is no step, because little is known beyond such a limit anyway. */
enum { DRAWN_EACH = 2, DRAWN_FROM = 12 };
static const double CLEARLY = 0.01, STEP_EACH = 0.004, STEP_MOST = 0.1, VAIN = 4, DRAWN = 0.05;

/* The same for the same turn, however often it is asked. */
static double step_of(const struct surrogate *surrogate) {
	size_t turn = surrogate->fit.told + surrogate->waiting.count;
	struct rng rng;
	bool drawn = turn % DRAWN_EACH == 0, guided = surrogate->prior.source_count || cost_power(surrogate->cost) > 0;
	if (surrogate->odds.strict || (drawn && (guided || turn < DRAWN_FROM)))
		return 0;
	if (!drawn)
		return fmin(STEP_MOST, STEP_EACH * fmax(0, (double)surrogate->worth.vain - VAIN));
	rng_seed(&rng, surrogate->task.seed + turn * 0x9E3779B97F4A7C15u);
	return -DRAWN * log1p(-rng_unit(&rng));
}

void surrogate_report(struct surrogate *surrogate, uint64_t index, const struct strategy_outcome *outcome) {
	surrogate_withdraw(surrogate, index);
	if (surrogate->front)
		front_report(surrogate, index, outcome);
	cost_report(surrogate->cost, index, outcome);
	surrogate_chance_report(surrogate, index, outcome->result == STRATEGY_FAILURE);
	surrogate->fit.told++;
	if (surrogate->count == OBSERVED_MAX)
		compact(surrogate);
	struct observed *observed = &surrogate->observed[surrogate->count++];
	*observed = (struct observed){.index = index, .result = outcome->result, .deviation = outcome->deviation};
	observed->log = outcome->result == STRATEGY_FAILURE ? 0 : log(outcome->value);
	surrogate->worked += outcome->result == STRATEGY_VALUE;
	surrogate->failed += outcome->result == STRATEGY_FAILURE;
	if (outcome->result == STRATEGY_VALUE && observed->log < surrogate->best)
		surrogate->best = observed->log;
	surrogate->worth.vain++;
	if (surrogate->best < surrogate->worth.anchor - CLEARLY) {
		surrogate->worth.anchor = surrogate->best;
		surrogate->worth.vain = 0;
	}
}

bool surrogate_ready(const struct surrogate *surrogate) {
	return surrogate->worked > 0 && surrogate->count >= (surrogate->prior.source_count ? 1 : NEED);
}

/* The lowest mean at a measured configuration is less noisy than the lowest value. */
static void incumbent_set(struct surrogate *surrogate) {
	surrogate->worth.incumbent = INFINITY;
	gp_smooth(surrogate->fit.value, surrogate->fit.lone_mean);
	for (size_t i = 0; i < surrogate->fit.in_value; i++)
		surrogate->worth.incumbent = fminf(surrogate->worth.incumbent, (float)surrogate->fit.lone_mean[i]);
	surrogate->worth.step = (float)step_of(surrogate);
}

static void fit(struct surrogate *surrogate) {
	surrogate->fit.fits++;
	gp_fit(surrogate->fit.value, surrogate->fit.fit_at ? STEPS : FIRST_STEPS);
	gp_condition(surrogate->fit.value);
	surrogate->fit.fit_at =
		(size_t)fmax((double)surrogate->fit.told + 1, (double)surrogate->fit.told * (1 + FIT_AGAIN));
}

/* Fits if it is due, and drops a source that misleads. */
static bool learn(struct surrogate *surrogate) {
	bool time = surrogate->fit.told >= surrogate->fit.fit_at;
	surrogate_models_update(surrogate);
	surrogate_targets(surrogate);
	if (!time)
		return false;
	fit(surrogate);
	size_t source = source_misleading(surrogate);
	if (source < surrogate->prior.source_count) {
		surrogate_source_drop(surrogate, source);
		surrogate_models_update(surrogate);
		surrogate_targets(surrogate);
		fit(surrogate);
	}
	return true;
}

/* The weight of a leave-one-out error falls by a factor of e per half unit of the target. */
static const double GOOD_LENGTH = 0.5;

/* To be called after gp_condition. */
static void calibrate(struct surrogate *surrogate) {
	double sum = 0, weights = 0;
	double *mean = surrogate->fit.lone_mean, *variance = surrogate->fit.lone_variance;
	gp_leave_one_out(surrogate->fit.value, mean, variance);
	for (size_t i = 0; i < surrogate->fit.in_value; i++) {
		double off = surrogate->fit.target[i] - mean[i], weight = exp(-surrogate->fit.target[i] / GOOD_LENGTH);
		sum += weight * off * off / variance[i];
		weights += weight;
		mean[i] = fabs(off);
	}
	surrogate->fit.stretch = weights > 0 ? fmax(1, sum / weights) : 1;
	surrogate->fit.error = stats_median(mean, surrogate->fit.in_value);
}

/* Brings models, calibration and incumbent up to date, without pending configurations. */
static void surrogate_refresh(struct surrogate *surrogate) {
	bool anew = learn(surrogate);
	if (anew || !surrogate->asked)
		surrogate_pool_fill(surrogate);
	gp_condition(surrogate->fit.value);
	if (anew || surrogate->count < CALIBRATE_EACH)
		calibrate(surrogate);
	surrogate_chance_update(surrogate, anew);
	incumbent_set(surrogate);
}

void surrogate_predict(struct surrogate *surrogate) {
	surrogate_refresh(surrogate);
	surrogate_believe(surrogate);
	gp_pool_predict(surrogate->fit.values);
	surrogate->asked = true;
}

size_t surrogate_sources(const struct surrogate *surrogate) {
	return surrogate->prior.source_count;
}

size_t surrogate_fits(const struct surrogate *surrogate) {
	return surrogate->fit.fits;
}
