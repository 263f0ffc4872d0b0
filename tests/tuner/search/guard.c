/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search must keep its promises whatever the strategy does, and must tell it only valid results. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/tuner/search/land.h"
#include "tuner/search/search.h"

/* Misbehaves as its table says, and reports by its phase what it was told. */
struct bad {
	struct strategy_task task;
	unsigned asked, told, failures, cut;
	char text[100];
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct bad *bad = state;
	(void)err;
	bad->task = *task;
	return 0;
}

static int init_fails(void *state, const struct strategy_task *task, struct err *err) {
	(void)state, (void)task;
	return err_set(err, ERR_USAGE, NULL, "this strategy needs something");
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct bad *bad = state;
	(void)index;
	bad->told++;
	bad->failures += outcome->result == STRATEGY_FAILURE;
	bad->cut += outcome->result == STRATEGY_CENSORED;
	snprintf(bad->text, sizeof bad->text, "told %u, failures %u, cut %u", bad->told, bad->failures, bad->cut);
}

static const char *phase(const void *state) {
	return ((const struct bad *)state)->text;
}

static size_t ask_nothing(void *state, uint64_t *out, size_t want) {
	(void)state, (void)out, (void)want;
	return 0;
}

static size_t ask_the_same(void *state, uint64_t *out, size_t want) {
	(void)state;
	for (size_t i = 0; i < want; i++)
		out[i] = 5;
	return want;
}

static size_t ask_what_is_not(void *state, uint64_t *out, size_t want) {
	const struct bad *bad = state;
	for (size_t i = 0; i < want; i++)
		out[i] = i % 2 ? UINT64_MAX : space_valid(bad->task.space);
	return want;
}

static size_t ask_more_than_there_is(void *state, uint64_t *out, size_t want) {
	struct bad *bad = state;
	for (size_t i = 0; i < want; i++)
		out[i] = bad->asked++ % (space_valid(bad->task.space) + 3);
	return SIZE_MAX;
}

static size_t ask_now_and_then(void *state, uint64_t *out, size_t want) {
	struct bad *bad = state;
	(void)want;
	*out = bad->asked++ / 3;
	return bad->asked % 3 == 0;
}

#define BAD(text, how)                                                                                                 \
	{ .name = text, .summary = "", .state_size = sizeof(struct bad), .init = init, .ask = how, .tell = tell }
static const struct strategy bads[] = {
	BAD("gives up at once", ask_nothing),
	BAD("asks for the same again and again", ask_the_same),
	BAD("asks for what does not exist", ask_what_is_not),
	BAD("says it gave more than was wanted", ask_more_than_there_is),
	BAD("asks now and then", ask_now_and_then),
};
enum { BADS = sizeof bads / sizeof *bads };

static void covers(const struct strategy *strategy, const struct land *land, size_t want) {
	struct err err = {0};
	struct search *search =
		search_new(strategy, &(struct strategy_task){.space = land->space, .seed = 1, .start = UINT64_MAX}, &err);
	bool *given = mem_alloc(land->valid, sizeof *given);
	uint64_t out[9], total = 0;
	bool good = true;
	size_t count;
	while (good && total <= land->valid && (count = search_ask(search, out, want)) > 0) {
		good = count <= want;
		for (size_t i = 0; good && i < count; i++, total++) {
			good = out[i] < land->valid && !given[out[i]];
			if (good)
				given[out[i]] = true;
			search_tell_value(search, out[i], STRATEGY_VALUE, 1);
		}
	}
	const char *name = strategy->name;
	ok(good && total == land->valid, "a strategy that %s: every configuration once, %zu at a time", name, want);
	ok(history_count(search_history(search)) == land->valid, "a strategy that %s: all are in the history", name);
	free(given);
	search_free(search);
}

static void fallback_is_seeded(const struct land *land) {
	uint64_t first[3];
	for (uint64_t i = 0; i < 3; i++) {
		struct search *search = search_new(
			&bads[0], &(struct strategy_task){.space = land->space, .seed = i / 2, .start = UINT64_MAX}, NULL);
		first[i] = UINT64_MAX;
		search_ask(search, &first[i], 1);
		search_free(search);
	}
	ok(first[0] == first[1] && first[0] != first[2], "the fallback depends on the seed alone");
}

static void outcomes(const struct land *land) {
	struct strategy watcher = bads[0];
	watcher.phase = phase;
	struct search *search =
		search_new(&watcher, &(struct strategy_task){.space = land->space, .seed = 1, .start = 3}, NULL);
	const struct history *history = search_history(search);
	uint64_t none = 77;
	ok(history_best(history) == UINT64_MAX && history_count(history) == 0, "there is no best at first");
	ok(search_ask(search, &none, 0) == 0 && none == 77, "asked for none, it gives none");
	search_tell_value(search, 3, STRATEGY_FAILURE, 123);
	ok(history_best(history) == UINT64_MAX && history_taken(history, 3), "a failure is never the best");
	search_tell_value(search, 4, STRATEGY_VALUE, 2);
	search_tell_value(search, 5, STRATEGY_CENSORED, 1);
	ok(history_best(history) == 4, "a trial that was cut short is never the best, however small its limit");
	search_tell_value(search, 6, STRATEGY_VALUE, 1.5);
	ok(history_best(history) == 6, "a smaller value is");
	is_text(search_phase(search), "told 4, failures 1, cut 1", "the strategy was told of all four");
	search_tell_value(search, 6, STRATEGY_VALUE, 9);
	search_tell_value(search, 4, STRATEGY_VALUE, 1);
	search_tell_value(search, land->valid, STRATEGY_VALUE, 1);
	search_tell_value(search, UINT64_MAX, STRATEGY_VALUE, 1);
	is_text(search_phase(search), "told 4, failures 1, cut 1",
	        "the strategy is not told of repetitions or of invalid configurations");
	const struct strategy_outcome *found = history_find(history, 6);
	ok(found && found->value == 1.5 && history_best(history) == 6,
	   "repetitions and invalid configurations change nothing");
	search_tell_value(search, 7, STRATEGY_VALUE, 0);
	search_tell_value(search, 8, STRATEGY_VALUE, NAN);
	search_tell_value(search, 9, STRATEGY_CENSORED, -INFINITY);
	is_text(search_phase(search), "told 7, failures 4, cut 1", "values that cannot be times are failures");
	ok(!history_find(history, 10) && !history_taken(history, 10),
	   "a configuration that was neither asked for nor told is unknown");
	ok(history_count(history) == 7, "the history counts measured configurations");
	search_free(search);
}

static void unseen(const struct land *land) {
	struct search *search =
		search_new(&bads[0], &(struct strategy_task){.space = land->space, .seed = 1, .start = UINT64_MAX}, NULL);
	struct rng rng;
	rng_seed(&rng, 1);
	for (uint64_t i = 0; i < land->valid; i++)
		if (i != 17)
			search_tell_value(search, i, STRATEGY_VALUE, 1);
	ok(history_unseen(search_history(search), land->space, &rng) == 17, "the last unseen configuration is found");
	search_tell_value(search, 17, STRATEGY_VALUE, 1);
	ok(history_unseen(search_history(search), land->space, &rng) == UINT64_MAX,
	   "no unseen configuration is found after the last");
	search_free(search);
}

int main(void) {
	struct land *land = land_separable();
	struct err err = {0};
	struct strategy failing = bads[0];
	for (size_t i = 0; i < BADS; i++) {
		covers(&bads[i], land, 1);
		covers(&bads[i], land, 7);
	}
	fallback_is_seeded(land);
	outcomes(land);
	unseen(land);
	failing.init = init_fails;
	ok(!search_new(&failing, &(struct strategy_task){.space = land->space, .seed = 1, .start = UINT64_MAX}, &err) &&
	       err.code == ERR_USAGE,
	   "a strategy that cannot start is an error");
	search_free(NULL);
	land_free(land);
	return tap_done();
}
