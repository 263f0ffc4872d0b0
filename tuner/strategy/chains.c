/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tuner/strategy/strategy_impl.h"

enum { AROUND_MAX = 1024 };

struct around_rank {
	double key;
	uint64_t index;
};

void around_init(struct around *around, struct arena *arena) {
	around->index = arena_alloc(arena, AROUND_MAX, sizeof *around->index);
	around->rank = arena_alloc(arena, AROUND_MAX, sizeof *around->rank);
	around->count = 0;
}

static int by_key(const void *a, const void *b) {
	const struct around_rank *x = a, *y = b;
	return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->index > y->index) - (x->index < y->index);
}

/* Number of steps from one configuration to the other. A word is one step from any other word, and so is a parameter
 * that appears or disappears. */
static int distance(const struct space *space, const int *here, const int *there) {
	int sum = 0;
	for (size_t p = 0; p < space_params(space); p++) {
		bool both = here[p] != SPACE_ABSENT && there[p] != SPACE_ABSENT;
		sum += both && space_param_ordered(space, p) ? abs(here[p] - there[p]) : here[p] != there[p];
	}
	return sum;
}

/* If there are too many neighbours, lists only the next values up and down, and those 2, 4, 8, .. steps away. */
static void list_far(struct around *around, const struct space *space, uint64_t from) {
	int config[SPACE_PARAMS_MAX];
	space_config(space, from, config);
	around->count = space_near(space, from, SPACE_ADJACENT, around->index, AROUND_MAX);
	for (size_t p = 0; p < space_params(space); p++) {
		int here = config[p], values = (int)space_param_values(space, p);
		if (here == SPACE_ABSENT || !space_param_ordered(space, p))
			continue;
		for (int step = 2; step < values; step *= 2)
			for (int side = -1; side <= 1 && around->count < AROUND_MAX; side += 2) {
				config[p] = here + side * step;
				around->count += config[p] >= 0 && space_index(space, config, &around->index[around->count]);
			}
		config[p] = here;
	}
}

static void list_near(struct around *around, const struct space *space, uint64_t from) {
	around->count = space_near(space, from, SPACE_HAMMING, around->index, AROUND_MAX);
	if (around->count == AROUND_MAX)
		list_far(around, space, from);
}

/* Shuffles by exponential keys, which is sampling with weights (Efraimidis and Spirakis, Weighted random sampling with
 * a reservoir, 2006). The weight is one over the root of the distance: a compromise between an equal chance for every
 * value, where long parameters dominate, and an equal chance for every parameter. */
void around_list(struct around *around, const struct space *space, uint64_t from, struct rng *rng) {
	int here[SPACE_PARAMS_MAX], there[SPACE_PARAMS_MAX];
	space_config(space, from, here);
	list_near(around, space, from);
	for (size_t i = 0; i < around->count; i++) {
		space_config(space, around->index[i], there);
		around->rank[i].key = -log(1 - rng_unit(rng)) * sqrt(distance(space, here, there));
		around->rank[i].index = around->index[i];
	}
	qsort(around->rank, around->count, sizeof *around->rank, by_key);
	for (size_t i = 0; i < around->count; i++)
		around->index[i] = around->rank[i].index;
}

double outcome_log(const struct strategy_outcome *outcome) {
	return outcome && outcome->result == STRATEGY_VALUE ? log(outcome->value) : INFINITY;
}

enum { FIRST = 10, LATER = 3, HINTS_MAX = 4, SAMPLED_MAX = 256, VISITED_MAX = 256 };

struct starts {
	const struct strategy_task *task;
	struct rng *rng;
	uint64_t sampled[SAMPLED_MAX], visited[VISITED_MAX]; /* a ring of the latest visited */
	size_t sampled_count, visited_count, hint;
	size_t left; /* samples to take before the next start */
};

static struct starts *starts_new(const struct strategy_task *task, struct rng *rng) {
	struct starts *starts = arena_alloc(task->arena, 1, sizeof *starts);
	starts->task = task;
	starts->rng = rng;
	starts->left = FIRST;
	return starts;
}

/* Marks a configuration that no chain needs to start from again. */
static void starts_visited(struct starts *starts, uint64_t index) {
	starts->visited[starts->visited_count++ % VISITED_MAX] = index;
}

static bool is_visited(const struct starts *starts, uint64_t index) {
	for (size_t i = 0; i < VISITED_MAX && i < starts->visited_count; i++)
		if (starts->visited[i] == index)
			return true;
	return false;
}

/* The baseline, hints, then random unseen configurations. */
static uint64_t starts_draw(struct starts *starts) {
	const struct strategy_task *task = starts->task;
	uint64_t valid = space_valid(task->space);
	if (task->start < valid && !history_taken(task->history, task->start))
		return task->start;
	while (starts->hint < task->hint_count && starts->hint < HINTS_MAX) {
		uint64_t index = task->hints[starts->hint++];
		if (index < valid && !history_taken(task->history, index))
			return index;
	}
	return history_unseen(task->history, task->space, starts->rng);
}

static enum step starts_sample(struct starts *starts, uint64_t *index) {
	*index = starts_draw(starts);
	if (*index == UINT64_MAX)
		return STEP_WAIT;
	if (starts->left > 0)
		starts->left--;
	starts->sampled[starts->sampled_count++] = *index;
	return STEP_ASK;
}

static double starts_value(const struct starts *starts, size_t at) {
	return outcome_log(history_find(starts->task->history, starts->sampled[at]));
}

/* Drops configurations that failed or were visited. */
static void starts_clean(struct starts *starts) {
	size_t kept = 0;
	for (size_t i = 0; i < starts->sampled_count; i++) {
		bool pending = !history_find(starts->task->history, starts->sampled[i]);
		if (pending || (isfinite(starts_value(starts, i)) && !is_visited(starts, starts->sampled[i])))
			starts->sampled[kept++] = starts->sampled[i];
	}
	starts->sampled_count = kept < SAMPLED_MAX ? kept : 0;
}

/* The best of the whole history unless it was visited, else the best sample; UINT64_MAX: none is known to work. */
static uint64_t starts_best(const struct starts *starts) {
	uint64_t best = history_best(starts->task->history);
	double least = INFINITY;
	if (best != UINT64_MAX && !is_visited(starts, best))
		return best;
	best = UINT64_MAX;
	for (size_t i = 0; i < starts->sampled_count; i++)
		if (starts_value(starts, i) < least) {
			least = starts_value(starts, i);
			best = starts->sampled[i];
		}
	return best;
}

/* STEP_DONE: start at *index. STEP_ASK: measure it first. STEP_WAIT: nothing is left to sample, and nothing is known.
 */
static enum step starts_next(struct starts *starts, uint64_t *index) {
	uint64_t known = history_count(starts->task->history), enough = known < FIRST ? FIRST - known : 0;
	if (starts->visited_count == 0 && starts->left > enough) /* results from elsewhere are as good as a sample */
		starts->left = enough;
	starts_clean(starts);
	if (starts->left > 0 && starts_sample(starts, index) == STEP_ASK)
		return STEP_ASK;
	*index = starts_best(starts);
	if (*index == UINT64_MAX)
		return starts_sample(starts, index);
	starts->left = LATER;
	starts_visited(starts, *index);
	return STEP_DONE;
}

enum { CHAINS_MAX = 16, TURNS_MAX = 8 };

struct chain {
	void *own;
	bool begun;
};

void chains_init(struct chains *chains, const struct strategy_task *task, const struct chain_kind *kind) {
	chains->task = *task;
	rng_split(&chains->rng, task->seed, kind->name);
	chains->kind = kind;
	chains->chain = arena_alloc(task->arena, CHAINS_MAX, sizeof *chains->chain);
	chains->starts = starts_new(&chains->task, &chains->rng);
}

/* A chain that ended goes to the back of the list, as the youngest. */
static void chain_end(struct chains *chains, size_t at) {
	struct chain ended = {.own = chains->chain[at].own};
	for (; at + 1 < chains->count; at++)
		chains->chain[at] = chains->chain[at + 1];
	chains->chain[at] = ended;
	chains->ended++;
}

static void chain_add(struct chains *chains) {
	if (chains->count == CHAINS_MAX) {
		chain_end(chains, 0);
		return;
	}
	struct chain *chain = &chains->chain[chains->count++];
	chain->own = arena_alloc(chains->task.arena, 1, chains->kind->size);
	chains->kind->init(chain->own, chains);
}

/* STEP_DONE: the chain has just begun or ended, and another turn is needed. */
static enum step chain_turn(struct chains *chains, size_t at, uint64_t *index) {
	struct chain *chain = &chains->chain[at];
	enum step step = chain->begun ? chains->kind->next(chain->own, index) : starts_next(chains->starts, index);
	if (step == STEP_DONE && chain->begun) {
		starts_visited(chains->starts, *index);
		chain_end(chains, at);
	} else if (step == STEP_DONE) {
		chains->kind->begin(chain->own, *index);
		chain->begun = true;
	}
	return step;
}

static void describe(struct chains *chains, size_t at) {
	const char *doing = chains->chain[at].begun ? chains->kind->doing : "samples starting points";
	snprintf(chains->phase, sizeof chains->phase, "%s: %s, %zu ended", chains->kind->name, doing, chains->ended);
}

/* One at a time, because the search marks each as taken before it asks again. */
size_t chains_ask(void *state, uint64_t *out, size_t want) {
	struct chains *chains = state;
	size_t at = 0;
	(void)want;
	for (int turn = 0; turn < TURNS_MAX; turn++) {
		if (at == chains->count) {
			if (at == CHAINS_MAX)
				at--;
			chain_add(chains);
		}
		enum step step = chain_turn(chains, at, out);
		if (step == STEP_ASK) {
			describe(chains, at);
			return 1;
		}
		at += step == STEP_WAIT;
	}
	*out = history_unseen(chains->task.history, chains->task.space, &chains->rng);
	return *out != UINT64_MAX;
}

/* Chains read the history instead. */
void chains_tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	(void)state, (void)index, (void)outcome;
}

const char *chains_phase(const void *state) {
	const struct chains *chains = state;
	return chains->phase[0] ? chains->phase : NULL;
}
