/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/replay/score.h"

#include <math.h>

#include "base/sys.h"

enum { FIRST_STEPS = 256, BATCH_MAX = 4096 };
/* The part of the budget that may go to repeats. */
static const double REPEATS = 0.1;

struct game {
	const struct replay_task *task;
	struct replay *replay;
	struct search *search;
	size_t room;
	double seconds; /* recorded cost so far */
	double clock;   /* when the strategy's part began */
	struct rng rng; /* of the noise */
	struct leaders *leaders;
};

uint64_t replay_most(const struct replay_task *task) {
	uint64_t valid = space_valid(task->record->space);
	return task->evaluations && task->evaluations < valid ? task->evaluations : valid;
}

/* The evaluations that a strategy may expect: as many as fit into the time at the cost of a typical one. */
static uint64_t budget_of(const struct replay_task *task) {
	uint64_t most = replay_most(task);
	if (task->expected)
		return task->expected < most ? task->expected : most;
	double each = task->record->median_cost;
	double worth = task->seconds > 0 && each > 0 ? ceil(task->seconds / each) : (double)most;
	return worth < (double)most ? (uint64_t)worth : most;
}

static struct search *search_begin(const struct replay_task *task, struct err *err) {
	const struct strategy_task search = {
		.space = task->record->space,
		.seed = task->seed,
		.start = task->start ? *task->start : UINT64_MAX,
		.budget = budget_of(task),
		.seconds = task->evaluations ? 0 : task->seconds,
		.sources = task->sources,
		.source_count = task->source_count,
		.counter_count = task->counters ? task->record->counter_count : 0,
	};
	return search_new(task->strategy, &search, err);
}

/* The deviation of the logarithm of the samples' mean is to first order the relative standard error. */
static double deviation_of(const struct record_row *row) {
	double sum = 0, squares = 0, n = (double)row->sample_count;
	if (row->sample_count < 2)
		return 0;
	for (size_t i = 0; i < row->sample_count; i++) {
		double away = row->samples[i] - row->samples[0];
		sum += away;
		squares += away * away;
	}
	double mean = row->samples[0] + sum / n, variance = (squares - sum * sum / n) / (n - 1);
	return variance > 0 && mean > 0 ? sqrt(variance / n) / mean : 0;
}

/* The outcome that a strategy is told for a row; its counters point into the row. */
static struct strategy_outcome replay_outcome(const struct record_row *row, bool counters) {
	bool correct = row->status == RECORD_CORRECT;
	return (struct strategy_outcome){
		.result = correct ? STRATEGY_VALUE : STRATEGY_FAILURE,
		.value = correct ? row->value : 0,
		.deviation = correct ? deviation_of(row) : 0,
		.seconds = record_row_cost(row),
		.build = row->cost.compile,
		.counters = counters && correct ? row->counters : NULL,
	};
}

const struct strategy_outcome *replay_outcomes(const struct record *record, bool counters, struct arena *arena) {
	uint64_t all = space_valid(record->space);
	struct strategy_outcome *outcomes = arena_alloc(arena, all, sizeof *outcomes);
	for (uint64_t i = 0; i < all; i++)
		outcomes[i] = replay_outcome(&record->rows[i], counters);
	return outcomes;
}

static struct strategy_outcome look_up(const struct replay_task *task, uint64_t index) {
	return task->outcomes ? task->outcomes[index] : replay_outcome(&task->record->rows[index], task->counters);
}

static struct replay_step *step_add(struct game *game) {
	struct replay *replay = game->replay;
	replay->steps = mem_room(replay->steps, replay->count, &game->room, sizeof *replay->steps);
	return &replay->steps[replay->count++];
}

/* A measurement that takes `seconds`. False if it would end after the time limit. */
static bool measure(struct game *game, uint64_t index, struct strategy_outcome *outcome, double seconds) {
	double limit = game->task->seconds, recorded = outcome->value;
	bool worked = outcome->result == STRATEGY_VALUE;
	if (limit > 0 && game->seconds + seconds > limit)
		return false;
	game->seconds += seconds;
	if (worked && game->task->noise > 0)
		outcome->value *= exp(game->task->noise * rng_normal(&game->rng));
	*step_add(game) = (struct replay_step){
		.index = index,
		.value = worked ? recorded : NAN,
		.measured = worked ? outcome->value : NAN,
		.seconds = game->seconds,
	};
	if (worked && game->task->noise > 0)
		leaders_note(game->leaders, index, outcome->value);
	return true;
}

static bool evaluate(struct game *game, uint64_t index) {
	struct strategy_outcome outcome = look_up(game->task, index);
	if (!measure(game, index, &outcome, outcome.seconds))
		return false;
	search_tell(game->search, index, &outcome);
	return true;
}

/* A configuration that was built already is only run. */
static bool evaluate_again(struct game *game, uint64_t index) {
	struct strategy_outcome outcome = look_up(game->task, index);
	return measure(game, index, &outcome, fmax(0, outcome.seconds - outcome.build));
}

/* Shares the time since the clock was set among the last `count` steps. */
static void clock_share(struct game *game, size_t count) {
	double now = sys_now(), spent = now - game->clock;
	for (size_t i = game->replay->count - count; i < game->replay->count; i++)
		game->replay->steps[i].asking = spent / (double)count;
	game->replay->asking += spent;
	game->clock = now;
}

/* A value that is good enough ends the replay, and so does the caller. */
static bool enough(struct game *game, size_t count) {
	const struct replay_task *task = game->task;
	const struct replay *replay = game->replay;
	for (size_t i = replay->count - count; task->until > 0 && i < replay->count; i++)
		if (replay->steps[i].value <= task->until)
			return true;
	if (!task->enough)
		return false;
	bool stop = task->enough(task->ctx, game->search, replay);
	game->clock = sys_now();
	return stop;
}

/* Is it time to repeat the leaders, and which one? */
static bool repeats(const struct game *game, uint64_t *index) {
	const struct replay_task *task = game->task;
	uint64_t most = replay_most(task), left = most - game->replay->count;
	bool last = (double)left <= REPEATS * (double)most ||
	            (task->seconds > 0 && task->seconds - game->seconds <= REPEATS * task->seconds);
	if (!(task->noise > 0) || left == 0 || !last)
		return false;
	leaders_inform(game->leaders, game->search);
	return leaders_again(game->leaders, index);
}

/* Plays one batch. False if the replay is over. */
static bool turn(struct game *game, uint64_t *batch, size_t most) {
	uint64_t left = replay_most(game->task) - game->replay->count;
	if (repeats(game, batch) && evaluate_again(game, *batch)) {
		clock_share(game, 1);
		return !enough(game, 1);
	}
	size_t want = left < most ? (size_t)left : most, done = 0;
	size_t asked = want ? search_ask(game->search, batch, want) : 0;
	while (done < asked && evaluate(game, batch[done]))
		done++;
	clock_share(game, done);
	return done && done == asked && !enough(game, done);
}

/* Evaluates the baseline. False if the replay is over. */
static bool begin(struct game *game) {
	if (!game->task->start)
		return true;
	if (replay_most(game->task) == 0 || !evaluate(game, *game->task->start))
		return false;
	clock_share(game, 1);
	return !enough(game, 1);
}

/* Without noise, nothing but the least value counts. */
static void choose(struct game *game) {
	uint64_t best = history_best(search_history(game->search));
	if (!(game->task->noise > 0) && best != UINT64_MAX)
		leaders_note(game->leaders, best, game->task->record->rows[best].value);
	else
		leaders_inform(game->leaders, game->search);
	game->replay->chosen = leaders_best(game->leaders);
	game->replay->noise = leaders_noise(game->leaders);
}

int replay_run(const struct replay_task *task, struct replay *replay, struct err *err) {
	uint64_t batch[BATCH_MAX];
	size_t most = task->batch < 1 ? 1 : task->batch < BATCH_MAX ? task->batch : BATCH_MAX;
	struct game game = {.task = task, .replay = replay, .clock = sys_now()};
	*replay = (struct replay){0};
	game.search = search_begin(task, err);
	if (!game.search)
		return -1;
	game.leaders = leaders_new();
	rng_split(&game.rng, task->seed, "replay noise");
	bool goes_on = begin(&game);
	while (goes_on && !search_fault(game.search, NULL))
		goes_on = turn(&game, batch, most);
	choose(&game);
	int failed = search_fault(game.search, err);
	leaders_free(game.leaders);
	search_free(game.search);
	return failed;
}

void replay_clear(struct replay *replay) {
	free(replay->steps);
	*replay = (struct replay){0};
}

/* For every parameter of the space: the parameter of the same name in the other space, and the place of each of that
 * parameter's values. */
struct mapping {
	const struct space *from, *to;
	int param[SPACE_PARAMS_MAX]; /* -1: the other space lacks the name */
	int *places[SPACE_PARAMS_MAX];
};

enum { NO_PLACE = -2 };

static int place_find(const struct space *space, size_t param, struct value value) {
	for (size_t i = 0; i < space_param_values(space, param); i++)
		if (value_equal(space_param_value(space, param, i), value))
			return (int)i;
	return NO_PLACE;
}

static void param_map(struct mapping *mapping, size_t param, struct arena *arena) {
	int other = space_param_find(mapping->from, space_param_name(mapping->to, param));
	size_t values = other < 0 ? 0 : space_param_values(mapping->from, (size_t)other);
	mapping->param[param] = other;
	mapping->places[param] = arena_alloc(arena, values + 1, sizeof **mapping->places);
	for (size_t i = 0; i < values; i++)
		mapping->places[param][i] = place_find(mapping->to, param, space_param_value(mapping->from, (size_t)other, i));
}

/* A parameter that the other configuration lacks has its only value, or is absent. */
static int place_of(const struct mapping *mapping, size_t param, const int *config) {
	int other = mapping->param[param], place = other < 0 ? SPACE_ABSENT : config[other];
	if (place != SPACE_ABSENT)
		return mapping->places[param][place];
	return !space_param_when(mapping->to, param) && space_param_values(mapping->to, param) == 1 ? 0 : SPACE_ABSENT;
}

static bool index_map(const struct mapping *mapping, uint64_t from, uint64_t *to) {
	int old[SPACE_PARAMS_MAX], config[SPACE_PARAMS_MAX];
	space_config(mapping->from, from, old);
	for (size_t param = 0; param < space_params(mapping->to); param++) {
		config[param] = place_of(mapping, param, old);
		if (config[param] == NO_PLACE)
			return false;
	}
	return space_index(mapping->to, config, to);
}

struct pair {
	uint64_t to, from;
	double value;
	bool failed;
};

static int by_place_then_value(const void *a, const void *b) {
	const struct pair *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->failed != y->failed)
		return x->failed ? 1 : -1;
	if (!x->failed && x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static size_t pairs_make(const struct mapping *mapping, const struct record *from, struct pair *pairs) {
	size_t count = 0;
	for (uint64_t i = 0; i < space_valid(from->space); i++) {
		const struct record_row *row = &from->rows[i];
		struct pair pair = {.from = i, .value = row->value, .failed = row->status != RECORD_CORRECT};
		if (index_map(mapping, i, &pair.to))
			pairs[count++] = pair;
	}
	qsort(pairs, count, sizeof *pairs, by_place_then_value);
	return count;
}

struct strategy_source replay_source(const struct record *from, const struct space *space, const char *name,
                                     struct arena *arena) {
	struct mapping mapping = {.from = from->space, .to = space};
	mem_auto struct pair *pairs = mem_alloc(space_valid(from->space), sizeof *pairs);
	for (size_t param = 0; param < space_params(space); param++)
		param_map(&mapping, param, arena);
	size_t found = pairs_make(&mapping, from, pairs), count = 0;
	uint64_t *index = arena_alloc(arena, found + 1, sizeof *index);
	struct strategy_outcome *outcome = arena_alloc(arena, found + 1, sizeof *outcome);
	for (size_t i = 0; i < found; i++) {
		if (i && pairs[i].to == pairs[i - 1].to)
			continue;
		index[count] = pairs[i].to;
		outcome[count++] = replay_outcome(&from->rows[pairs[i].from], false);
	}
	return (struct strategy_source){.name = name, .count = count, .index = index, .outcome = outcome};
}
