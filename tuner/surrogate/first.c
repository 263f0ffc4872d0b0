/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting points before there is a model: the best configurations of the sources, the middle of the space, then those
 * farthest from all others (a maximin design: Johnson, Moore, Ylvisaker, Minimax and maximin distance designs, 1990).
 */
#include "base/expr/expr.h"
#include "base/json/js.h"
#include "tuner/surrogate/surrogate_impl.h"

/* The opening may take 1 / SHARE of the budget, within bounds. Words that lead to no valid configuration take time to
 * find out, too, and are limited by TRIES. */
enum { SHARE = 4, LEAST = 6, MOST = 32, TRIES = 256, WIDE = 12 };

struct opening {
	struct strategy_task task;
	size_t *params, count, at; /* parameters with words, in the order of their trial; `at`: the current one */
	size_t codes;              /* the first of them choose the code */
	size_t value;              /* next value of the current parameter */
	uint64_t from;             /* configuration around which its values are tried */
	uint64_t best, left;       /* left: remaining evaluations */
	size_t tries;
	double least;
};

static bool is_taken(const struct opening *opening, size_t param) {
	for (size_t i = 0; i < opening->count; i++)
		if (opening->params[i] == param)
			return true;
	return false;
}

static void take(struct opening *opening, size_t param) {
	const struct space *space = opening->task.space;
	const char *when = space_param_when(space, param);
	if (space_param_ordered(space, param) || is_taken(opening, param))
		return;
	struct expr *expr = when ? expr_parse(when, NULL) : NULL;
	for (size_t i = 0; expr && i < expr_name_count(expr); i++) {
		int by = space_param_find(space, expr_name(expr, i));
		if (by >= 0)
			take(opening, (size_t)by);
	}
	expr_free(expr);
	opening->params[opening->count++] = param;
}

/* Does it choose the code that runs? Then its values differ by more than anything else, and what is tuned for one says
 * nothing of the others. */
static bool is_code(const struct space *space, size_t param) {
	static const char *const words[] = {"variant", "algo", "lock", "method", "impl", "kernel", "solver", "version"};
	const char *name = space_param_name(space, param);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(name, words[i]) && !strcasestr(name, "block"))
			return true;
	return false;
}

static uint64_t room(uint64_t budget) {
	uint64_t share = budget / SHARE;
	return budget == 0 || share > MOST ? MOST : share < LEAST ? LEAST : share;
}

struct opening *opening_new(const struct strategy_task *task) {
	struct opening *opening = arena_alloc(task->arena, 1, sizeof *opening);
	size_t params = space_params(task->space);
	opening->task = *task;
	opening->from = opening->best = task->start;
	opening->least = INFINITY;
	opening->left = room(task->budget);
	opening->tries = TRIES;
	opening->params = arena_alloc(task->arena, params, sizeof *opening->params);
	if (task->start >= space_valid(task->space) || task->source_count)
		return opening; /* a source says more than single moves do */
	for (size_t p = params; p-- > 0;)
		if (is_code(task->space, p))
			take(opening, p);
	opening->codes = opening->count;
	for (size_t p = params; p-- > 0;)
		take(opening, p);
	return opening;
}

static bool is_there(const struct opening *opening, size_t param) {
	int config[SPACE_PARAMS_MAX];
	space_config(opening->task.space, opening->from, config);
	return config[param] != SPACE_ABSENT;
}

/* The configuration with this value; all other parameters stay as they are unless the value forces them to change. */
static bool with_value(const struct opening *opening, size_t param, size_t value, uint64_t *index) {
	const struct space *space = opening->task.space;
	js_auto json_t *wish = json_object();
	json_object_set_new(wish, space_param_name(space, param), value_json(space_param_value(space, param, value)));
	int failed = space_config_nearest(space, wish, opening->from, index, NULL);
	return !failed && !history_taken(opening->task.history, *index);
}

/* The next proposal for the current parameter; UINT64_MAX: it has no more. */
static uint64_t next_of(struct opening *opening, size_t param) {
	uint64_t index;
	if (opening->value == 0)
		opening->from = opening->best;
	if (!is_there(opening, param))
		return UINT64_MAX;
	while (opening->value < space_param_values(opening->task.space, param) && opening->tries > 0) {
		opening->tries--;
		if (with_value(opening, param, opening->value++, &index))
			return index;
	}
	return UINT64_MAX;
}

/* Trials of slow code are cut short, so that a short time visits all of it, too. A few evaluations do not. */
static bool has_room(const struct opening *opening) {
	bool timed = opening->task.seconds > 0 || opening->task.budget == 0;
	return opening->left > 0 || (timed && opening->at < opening->codes);
}

uint64_t opening_ask(struct opening *opening, bool code) {
	size_t end = code ? opening->codes : opening->count;
	for (; opening->at < end && has_room(opening); opening->at++, opening->value = 0) {
		uint64_t index = next_of(opening, opening->params[opening->at]);
		if (index == UINT64_MAX)
			continue;
		opening->left -= opening->left > 0;
		return index;
	}
	return UINT64_MAX;
}

void opening_widen(struct opening *opening) {
	const struct space *space = opening->task.space;
	size_t params = space_params(space);
	if (opening->best >= space_valid(space))
		return;
	opening->count = opening->at = opening->value = opening->codes = 0;
	for (size_t p = 0; p < params; p++) {
		size_t at = opening->count++;
		for (; at > 0 && space_param_values(space, opening->params[at - 1]) > space_param_values(space, p); at--)
			opening->params[at] = opening->params[at - 1];
		opening->params[at] = p;
	}
	opening->count -= opening->count > 0;
	opening->left = WIDE;
	opening->tries = TRIES;
}

void opening_report(struct opening *opening, uint64_t index, const struct strategy_outcome *outcome) {
	if (outcome->result != STRATEGY_VALUE || !(outcome->value < opening->least))
		return;
	opening->least = outcome->value;
	opening->best = index;
}

void opening_describe(const struct opening *opening, char *text, size_t size) {
	if (opening->at < opening->count)
		snprintf(text, size, "other words of %s around the best so far, because words cannot be interpolated",
		         space_param_name(opening->task.space, opening->params[opening->at]));
}

/* The candidates: the whole space if it is small enough. Otherwise the configurations one and two steps from the best
 * measured ones and a uniform sample, drawn again whenever the model is fitted, so that no region is excluded for good.
 */

enum { CENTRES = 4, NEAR_ROOM = 512, SECOND_STEPS = 24, ROUND_MAX = 600 };

static void add(struct pool *pool, uint64_t index) {
	if (pool->count < pool->room)
		pool->index[pool->count++] = index;
}

static void best_of(const struct surrogate *surrogate, size_t *centres, size_t *count) {
	*count = 0;
	for (size_t i = 0; i < surrogate->count; i++) {
		size_t at = *count;
		if (surrogate->observed[i].result != STRATEGY_VALUE)
			continue;
		while (at > 0 && surrogate->observed[i].log < surrogate->observed[centres[at - 1]].log) {
			if (at < CENTRES)
				centres[at] = centres[at - 1];
			at--;
		}
		if (at < CENTRES)
			centres[at] = i;
		*count += *count < CENTRES;
	}
}

static void surround(struct surrogate *surrogate, uint64_t index) {
	const struct space *space = surrogate->task.space;
	uint64_t near[NEAR_ROOM], second[NEAR_ROOM];
	struct pool *pool = &surrogate->pool;
	size_t count = space_near(space, index, SPACE_PLAIN, near, NEAR_ROOM), begin = pool->count;
	rng_shuffle(&surrogate->rng, near, count, sizeof *near);
	for (size_t i = 0; i < count; i++)
		add(pool, near[i]);
	for (size_t i = 0; i < count && i < SECOND_STEPS && pool->count - begin < ROUND_MAX; i++) {
		size_t more = space_near(space, near[i], SPACE_PLAIN, second, NEAR_ROOM);
		for (size_t j = 0; j < more && pool->count - begin < ROUND_MAX; j++)
			add(pool, second[j]);
	}
}

static int by_index(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void drop_twins(struct pool *pool) {
	size_t kept = 0;
	qsort(pool->index, pool->count, sizeof *pool->index, by_index);
	for (size_t i = 0; i < pool->count; i++)
		if (kept == 0 || pool->index[kept - 1] != pool->index[i])
			pool->index[kept++] = pool->index[i];
	pool->count = kept;
}

static void draw(struct surrogate *surrogate) {
	size_t centres[CENTRES], count;
	struct pool *pool = &surrogate->pool;
	pool->count = 0;
	best_of(surrogate, centres, &count);
	for (size_t i = 0; i < count; i++)
		surround(surrogate, surrogate->observed[centres[i]].index);
	while (pool->count < pool->room)
		add(pool, space_sample(surrogate->task.space, &surrogate->rng));
	drop_twins(pool);
}

static void give(struct surrogate *surrogate) {
	struct pool *pool = &surrogate->pool;
	for (size_t i = 0; i < pool->count; i++)
		coding_index(surrogate->coding, pool->index[i], pool->codes + i * surrogate->dims);
	for (size_t s = 0; s < surrogate->prior.source_count; s++)
		source_model_codes(surrogate->prior.source[s], pool, surrogate->dims,
		                   surrogate->coding->count - surrogate->prior.source_count + s);
	gp_pool_set(surrogate->fit.values, pool->codes, pool->count);
	if (surrogate->odds.workings)
		gp_pool_set(surrogate->odds.workings, pool->codes, pool->count);
}

static void follow(struct pool *pool, const struct pool *leader) {
	pool->count = leader->count;
	memcpy(pool->index, leader->index, leader->count * sizeof *pool->index);
}

void surrogate_pool_fill(struct surrogate *surrogate) {
	struct pool *pool = &surrogate->pool;
	if (!pool->whole && surrogate->leader)
		follow(pool, &surrogate->leader->pool);
	else if (!pool->whole)
		draw(surrogate);
	else if (pool->count == 0)
		while (pool->count < pool->room)
			add(pool, pool->count);
	else
		return;
	give(surrogate);
}

enum { FARTHEST_OF = 40, MIDDLE_OF = 400 };
static const double MIDDLE_LATITUDE = 0.5;

static double apart(const struct coding *coding, const uint16_t *a, const uint16_t *b) {
	double sum = 0;
	for (size_t d = 0; d < coding->count; d++) {
		const double *at = coding->dim[d].at;
		if (at && !isnan(at[a[d]]) && !isnan(at[b[d]]))
			sum += fabs(at[a[d]] - at[b[d]]);
		else
			sum += a[d] != b[d];
	}
	return sum;
}

static uint64_t farthest(struct surrogate *surrogate) {
	uint64_t best = UINT64_MAX;
	double most = -1;
	uint16_t codes[GP_DIMS_MAX], other[GP_DIMS_MAX];
	for (int i = 0; i < FARTHEST_OF; i++) {
		uint64_t index = history_unseen(surrogate->task.history, surrogate->task.space, &surrogate->rng);
		double least = INFINITY;
		if (index == UINT64_MAX)
			return UINT64_MAX;
		surrogate_codes(surrogate, index, codes);
		for (size_t j = 0; j < surrogate->count + surrogate->waiting.count; j++) {
			bool told = j < surrogate->count;
			uint64_t known =
				told ? surrogate->observed[j].index : surrogate->waiting.pending[j - surrogate->count].index;
			surrogate_codes(surrogate, known, other);
			least = fmin(least, apart(surrogate->coding, codes, other));
		}
		if (least > most) {
			most = least;
			best = index;
		}
	}
	return best;
}

static uint64_t middle(struct surrogate *surrogate) {
	uint64_t best = UINT64_MAX;
	double least = INFINITY;
	uint16_t codes[GP_DIMS_MAX];
	for (int i = 0; i < MIDDLE_OF; i++) {
		uint64_t index = history_unseen(surrogate->task.history, surrogate->task.space, &surrogate->rng);
		double off = MIDDLE_LATITUDE * rng_unit(&surrogate->rng);
		if (index == UINT64_MAX)
			return UINT64_MAX;
		surrogate_codes(surrogate, index, codes);
		for (size_t d = 0; d < surrogate->coding->count; d++) {
			const double *at = surrogate->coding->dim[d].at;
			off += at && !isnan(at[codes[d]]) ? (at[codes[d]] - 0.5) * (at[codes[d]] - 0.5) : 0.25;
		}
		if (off < least) {
			least = off;
			best = index;
		}
	}
	return best;
}

static double mean_of_sources(const struct surrogate *surrogate, const uint16_t *codes) {
	const uint16_t *own = codes + surrogate->coding->count - surrogate->prior.source_count;
	double sum = 0;
	for (size_t s = 0; s < surrogate->prior.source_count; s++)
		sum += own[s] * surrogate->prior.source[s]->scale;
	return sum;
}

/* The candidate that the sources together predict to be the fastest, because the best of one is often bad elsewhere. */
static uint64_t best_by_sources(struct surrogate *surrogate) {
	const struct pool *pool = &surrogate->pool;
	uint64_t best = UINT64_MAX;
	double least = INFINITY;
	if (!surrogate->pool.count)
		surrogate_pool_fill(surrogate);
	for (size_t c = 0; c < pool->count; c++) {
		double mean = mean_of_sources(surrogate, pool->codes + c * surrogate->dims);
		if (mean < least && !history_taken(surrogate->task.history, pool->index[c])) {
			least = mean;
			best = pool->index[c];
		}
	}
	return best;
}

static size_t values_fresh(const struct space *space, uint64_t index, const bool *seen, size_t stride) {
	int config[SPACE_PARAMS_MAX];
	size_t fresh = 0;
	space_config(space, index, config);
	for (size_t p = 0; p < space_params(space); p++)
		fresh += config[p] != SPACE_ABSENT && !seen[p * stride + (size_t)config[p]];
	return fresh;
}

uint64_t surrogate_unseen(struct surrogate *surrogate) {
	const struct space *space = surrogate->task.space;
	size_t stride, most = 0;
	uint64_t best = UINT64_MAX;
	mem_auto bool *seen = history_values(surrogate->task.history, space, &stride);
	for (int i = 0; i < MIDDLE_OF; i++) {
		uint64_t index = history_unseen(surrogate->task.history, space, &surrogate->rng);
		size_t fresh = index == UINT64_MAX ? 0 : values_fresh(space, index, seen, stride);
		if (fresh > most) {
			most = fresh;
			best = index;
		}
	}
	return best;
}

uint64_t surrogate_first(struct surrogate *surrogate) {
	if (surrogate->prior.source_count && surrogate->prior.firsts++ == 0)
		return best_by_sources(surrogate);
	return surrogate->count + surrogate->waiting.count ? farthest(surrogate) : middle(surrogate);
}
