/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every strategy on recorded spaces: the outcomes it is told, the costs, and the end. */
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "tests/tuner/replay/record_made.h"
#include "tuner/replay/threads.h"
#include "tuner/replay/score.h"

enum { WIDTH = 12, HEIGHT = 9, ALL = WIDTH * HEIGHT };

static double bowl(int x, int y) {
	return (x + y) % 7 == 3 ? NAN : 1 + (x - 8) * (x - 8) + .5 * (y - 3) * (y - 3);
}

static double slope(int x, int y) {
	return 1 + x + y;
}

static struct replay play(const struct replay_task *task) {
	struct replay replay;
	struct err err = {0};
	if (replay_run(task, &replay, &err)) {
		err_print(&err, stderr);
		exit(1);
	}
	return replay;
}

static bool same(const struct replay *a, const struct replay *b) {
	for (size_t i = 0; i < a->count && i < b->count; i++)
		if (a->steps[i].index != b->steps[i].index)
			return false;
	return a->count == b->count;
}

static bool no_twins(const struct replay *replay) {
	bool seen[ALL] = {false};
	for (size_t i = 0; i < replay->count; i++) {
		if (replay->steps[i].index >= ALL || seen[replay->steps[i].index])
			return false;
		seen[replay->steps[i].index] = true;
	}
	return true;
}

static bool faithful(const struct replay *replay, const struct record *record) {
	for (size_t i = 0; i < replay->count; i++) {
		const struct record_row *row = &record->rows[replay->steps[i].index];
		bool failed = row->status != RECORD_CORRECT;
		if (isnan(replay->steps[i].value) != failed || (!failed && replay->steps[i].value != row->value))
			return false;
	}
	return true;
}

static void every_strategy(const struct record *record) {
	for (const struct strategy *const *s = strategy_registry; *s; s++) {
		struct replay_task task = {.record = record, .strategy = *s, .seed = 5};
		struct replay whole = play(&task);
		ok(whole.count == ALL && no_twins(&whole), "%s uses the space up, every configuration once", (*s)->name);
		ok(faithful(&whole, record), "%s: values are the recorded ones, failures are failures", (*s)->name);
		task.evaluations = 40;
		struct replay first = play(&task), again = play(&task);
		ok(first.count == 40 && no_twins(&first), "%s uses its budget", (*s)->name);
		ok(same(&first, &again), "%s: same seed, same sequence", (*s)->name);
		task.batch = 7;
		struct replay batched = play(&task);
		ok(batched.count == 40 && no_twins(&batched), "%s uses its budget in batches", (*s)->name);
		replay_clear(&whole);
		replay_clear(&first);
		replay_clear(&again);
		replay_clear(&batched);
	}
}

static void limits(const struct record *record) {
	struct replay_task task = {.record = record, .strategy = strategy_find("random"), .seed = 1, .seconds = 20.5};
	struct replay replay = play(&task);
	ok(replay.count == 10, "20.5 s are 10 evaluations of 2 s, not %zu", replay.count);
	ok(replay.count && fabs(replay.steps[replay.count - 1].seconds - 20) < 1e-9,
	   "the last evaluation ended after 20 s");
	replay_clear(&replay);
	task.seconds = 1.9;
	replay = play(&task);
	ok(replay.count == 0, "no evaluation fits into less than one takes");
	replay_clear(&replay);
	task.seconds = 0;
	task.until = record->optimum;
	replay = play(&task);
	ok(replay.count && replay.steps[replay.count - 1].value == record->optimum, "a run ends at what was good enough");
	replay_clear(&replay);
}

static bool after_three(void *ctx, const struct search *search, const struct replay *replay) {
	size_t *calls = ctx;
	(*calls)++;
	return history_count(search_history(search)) >= 3 && replay->count >= 3;
}

static void hook(const struct record *record) {
	size_t calls = 0;
	struct replay_task task = {.record = record, .strategy = strategy_find("random"), .enough = after_three};
	task.ctx = &calls;
	struct replay replay = play(&task);
	ok(replay.count == 3 && calls == 3, "the caller is asked after every evaluation, and ends it");
	replay_clear(&replay);
}

static void outcomes(const struct record *record) {
	struct arena *arena = arena_new();
	const struct strategy_outcome *list = replay_outcomes(record, true, arena);
	bool right = true;
	for (uint64_t i = 0; i < ALL; i++) {
		bool worked = record->rows[i].status == RECORD_CORRECT;
		/* samples 0.9, 1, 1.1: standard error 0.1 / sqrt(3) */
		double expected = worked ? .1 / sqrt(3) : 0;
		right = right && fabs(list[i].deviation - expected) < 1e-9 && fabs(list[i].seconds - 2) < 1e-9 &&
		        (list[i].result == STRATEGY_VALUE) == worked;
	}
	ok(right, "outcomes have result, deviation of the mean and cost");
	struct replay_task task = {.record = record, .strategy = strategy_find("auto"), .seed = 3, .evaluations = 30};
	struct replay made = play(&task);
	task.outcomes = list;
	struct replay looked = play(&task);
	ok(same(&made, &looked), "outcomes that are made before change nothing");
	replay_clear(&made);
	replay_clear(&looked);
	arena_free(arena);
}

static void sources(const struct record *record) {
	struct arena *arena = arena_new();
	struct record *wider = record_made(WIDTH + 5, 4, slope, 1);
	struct strategy_source source = replay_source(wider, record->space, "wider", arena);
	bool right = source.count == WIDTH * 4;
	for (size_t i = 0; i < source.count && right; i++) {
		int config[SPACE_PARAMS_MAX], x = space_param_find(record->space, "x"),
									  y = space_param_find(record->space, "y");
		space_config(record->space, source.index[i], config);
		right = source.outcome[i].value == slope(config[x], config[y]) && config[y] < 4;
	}
	ok(right, "a source is mapped by names and values; what the space lacks is left out");
	struct replay_task task = {.record = record, .strategy = strategy_find("auto"), .seed = 1, .evaluations = 20};
	task.sources = &source;
	task.source_count = 1;
	struct replay replay = play(&task);
	ok(replay.count == 20 && no_twins(&replay), "auto searches with a source");
	replay_clear(&replay);
	record_free(wider);
	arena_free(arena);
}

static size_t repeats(const struct replay *replay, size_t *first) {
	size_t count = 0;
	*first = replay->count;
	for (size_t i = 0; i < replay->count; i++)
		for (size_t j = 0; j < i; j++)
			if (replay->steps[i].index == replay->steps[j].index) {
				*first = i < *first ? i : *first;
				count++;
				break;
			}
	return count;
}

static void noise(const struct record *record) {
	struct replay_task task = {.record = record, .strategy = strategy_find("auto"), .seed = 4, .evaluations = 40};
	struct replay quiet = play(&task);
	const struct leader *chosen = &quiet.chosen;
	ok(chosen->times == 1 && isnan(quiet.noise), "nothing is repeated without noise");
	bool least = chosen->value == record->rows[chosen->index].value;
	for (size_t i = 0; i < quiet.count; i++)
		least = least && !(quiet.steps[i].value < chosen->value);
	ok(least, "the least value is chosen without noise");
	task.noise = .2;
	struct replay noisy = play(&task), again = play(&task);
	size_t first, count = repeats(&noisy, &first);
	ok(noisy.count == 40 && count >= 3 && first == 36,
	   "the last tenth of a noisy search repeats, from %zu on %zu times", first, count);
	ok(faithful(&noisy, record), "the recorded values stay beside the measured ones");
	ok(noisy.steps[first].seconds - noisy.steps[first - 1].seconds < 1e-9, "a repeat builds nothing");
	ok(same(&noisy, &again) && noisy.chosen.index == again.chosen.index, "same seed, same sequence and choice");
	ok(noisy.chosen.times > 1 && noisy.noise > .02 && noisy.noise < .8,
	   "a leader is chosen that was measured %zu times", noisy.chosen.times);
	replay_clear(&noisy);
	replay_clear(&again);
	task.evaluations = 0;
	task.seconds = 60;
	noisy = play(&task);
	ok(noisy.count > 27 && repeats(&noisy, &first) && first == 27 && noisy.steps[noisy.count - 1].seconds <= 60,
	   "the last tenth of the seconds repeats, too, from %zu on", first);
	replay_clear(&noisy);
	replay_clear(&quiet);
}

static void add(void *ctx, size_t i) {
	((int *)ctx)[i]++;
}

static bool stop(void *ctx, size_t done) {
	(void)ctx, (void)done;
	return true;
}

static void threads(void) {
	int counts[500] = {0};
	bool once = true;
	ok(replay_threads_run(&(struct replay_threads_work){.count = 500, .work = add, .ctx = counts}, 8) == 500,
	   "the threads do all the work");
	for (size_t i = 0; i < 500; i++)
		once = once && counts[i] == 1;
	ok(once, "every piece once");
	ok(replay_threads_run(&(struct replay_threads_work){.count = 0, .work = add, .ctx = counts}, 8) == 0,
	   "nothing to do is done");
	size_t done =
		replay_threads_run(&(struct replay_threads_work){.count = 500, .work = add, .watch = stop, .ctx = counts}, 2);
	size_t total = 0;
	for (size_t i = 0; i < 500; i++)
		total += (size_t)counts[i];
	ok(total == 500 + done, "if stopped, they say how much they did");
}

int main(void) {
	struct record *record = record_made(WIDTH, HEIGHT, bowl, 2);
	ok(space_valid(record->space) == ALL, "the space was read");
	every_strategy(record);
	limits(record);
	hook(record);
	outcomes(record);
	sources(record);
	noise(record);
	threads();
	record_free(record);
	return tap_done();
}
