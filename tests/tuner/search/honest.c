/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search drops invalid proposals and goes on when a strategy gives up. Here every strategy is watched from inside,
 * so that none relies on that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/tuner/search/land.h"
#include "tuner/search/search.h"

enum { BATCH_MAX = 16 };

/* A strategy that wraps another one and keeps account of it. */
struct watched {
	struct strategy_task task;
	void *state;
	uint64_t *asked;
	size_t asked_count;
};

static const struct strategy *inside;
static size_t repeated, invalid, overfull, gave_up, silent;

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct watched *watched = state;
	watched->task = *task;
	watched->state = arena_alloc(task->arena, 1, inside->state_size);
	watched->asked = arena_alloc(task->arena, space_valid(task->space), sizeof *watched->asked);
	repeated = invalid = overfull = gave_up = silent = 0;
	return inside->init(watched->state, task, err);
}

static bool waits(const struct watched *watched) {
	for (size_t i = 0; i < watched->asked_count; i++)
		if (!history_find(watched->task.history, watched->asked[i]))
			return true;
	return false;
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct watched *watched = state;
	size_t count = inside->ask(watched->state, out, want);
	uint64_t valid = space_valid(watched->task.space);
	overfull += count > want;
	gave_up += count == 0 && !waits(watched) && history_count(watched->task.history) < valid;
	for (size_t i = 0; i < count && i < want; i++) {
		invalid += out[i] >= valid;
		repeated += out[i] < valid && history_taken(watched->task.history, out[i]);
		for (size_t j = 0; j < i; j++)
			repeated += out[i] == out[j];
		if (watched->asked_count < valid)
			watched->asked[watched->asked_count++] = out[i];
	}
	silent += inside->phase && count > 0 && inside->phase(watched->state) == NULL;
	return count;
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct watched *watched = state;
	inside->tell(watched->state, index, outcome);
}

static const struct strategy watcher = {
	.name = "watched", .summary = "", .state_size = sizeof(struct watched), .init = init, .ask = ask, .tell = tell};

static void answer(struct search *search, const struct land *land, uint64_t index) {
	if (isinf(land->time[index]))
		search_tell_value(search, index, STRATEGY_FAILURE, 0);
	else if (land->time[index] > 3 * land->time[land->best])
		search_tell_value(search, index, STRATEGY_CENSORED, 2 * land->time[land->best]);
	else
		search_tell_value(search, index, STRATEGY_VALUE, land->time[index]);
}

/* Plays until the space is used up; results come in random order, some of a batch only after the next one. */
static void play(const struct land *land, bool batches) {
	struct err err = {0};
	struct search *search =
		search_new(&watcher, &(struct strategy_task){.space = land->space, .seed = 3, .start = land->start}, &err);
	uint64_t *late = mem_alloc(land->valid + BATCH_MAX, sizeof *late), asked[BATCH_MAX];
	size_t late_count = 0, count;
	struct rng rng;
	rng_seed(&rng, 1);
	answer(search, land, land->start);
	while ((count = search_ask(search, asked, batches ? 1 + rng_below(&rng, BATCH_MAX) : 1)) > 0) {
		memcpy(late + late_count, asked, count * sizeof *asked);
		late_count += count;
		rng_shuffle(&rng, late, late_count, sizeof *late);
		for (size_t keep = batches ? rng_below(&rng, BATCH_MAX) : 0; late_count > keep;)
			answer(search, land, late[--late_count]);
	}
	free(late);
	search_free(search);
}

static void honest(const struct land *land, const char *name, bool batches) {
	const char *how = batches ? "in batches" : "one by one";
	play(land, batches);
	bool good = ok(repeated == 0 && invalid == 0 && overfull == 0,
	               "%s on %s, %s: proposes only unseen and valid configurations", inside->name, name, how);
	good &= ok(gave_up == 0, "%s on %s, %s: does not give up early", inside->name, name, how);
	good &= ok(silent == 0, "%s on %s, %s: describes what it is doing", inside->name, name, how);
	if (!good)
		printf("# repeated %zu, invalid %zu, overfull %zu, gave up %zu, silent %zu\n", repeated, invalid, overfull,
		       gave_up, silent);
}

int main(void) {
	static const struct {
		const char *name;
		struct land *(*make)(void);
	} lands[] = {{"single", land_single},           {"two", land_two},        {"interacting", land_interacting},
	             {"plateau", land_plateau},         {"needle", land_needle},  {"table", land_table},
	             {"conditional", land_conditional}, {"failing", land_failing}};
	for (size_t i = 0; i < sizeof lands / sizeof *lands; i++) {
		struct land *land = lands[i].make();
		for (const struct strategy *const *s = strategy_registry; *s; s++) {
			inside = *s;
			honest(land, lands[i].name, false);
			honest(land, lands[i].name, true);
		}
		land_free(land);
	}
	return tap_done();
}
