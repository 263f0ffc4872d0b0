/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs every strategy of the registry on every landscape: what a search must never do, and what it must find. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/tuner/search/play.h"

enum { BATCH_MAX = 16 };

static const struct {
	const char *name;
	struct land *(*make)(void);
	bool found; /* auto must find the optimum early */
} lands[] = {
	{"single", land_single, false},          {"two", land_two, false},         {"separable", land_separable, true},
	{"interacting", land_interacting, true}, {"plateau", land_plateau, false}, {"needle", land_needle, false},
	{"conditional", land_conditional, true}, {"table", land_table, true},      {"failing", land_failing, true},
};
enum { LANDS = sizeof lands / sizeof *lands };

/* The way one search is driven. */
struct drive {
	const struct land *land;
	const struct strategy *strategy;
	uint64_t seed, start, budget;
	double until; /* ends when a time as good as this is found */
	bool batches; /* asks for 1 to 16 at a time and tells in any order, some late */
	bool noisy;
	bool censored;  /* trials slower than the best are cut short */
	bool meddled;   /* also tells about indexes that were not asked for */
	bool forgetful; /* never tells some of the results */
};

struct trace {
	uint64_t *index; /* in the order of requests */
	size_t count;
	bool *given; /* of each index: it was asked for, or told without a request */
	bool repeated, invalid, overfull;
	double best;
	uint64_t *late; /* asked for and not told yet */
	size_t late_count;
	struct rng rng;
};

static void trace_clear(struct trace *trace) {
	free(trace->index);
	free(trace->given);
	free(trace->late);
}

static void take(struct trace *trace, const struct land *land, uint64_t index) {
	if (index >= land->valid) {
		trace->invalid = true;
		return;
	}
	trace->repeated |= trace->given[index];
	trace->given[index] = true;
}

static void answer(struct search *search, const struct drive *drive, struct trace *trace, uint64_t index) {
	double time = drive->land->time[index] * (drive->noisy ? exp(0.1 * rng_normal(&trace->rng)) : 1);
	if (isinf(time)) {
		search_tell_value(search, index, STRATEGY_FAILURE, 0);
	} else if (drive->censored && time > 1.2 * trace->best) {
		search_tell_value(search, index, STRATEGY_CENSORED, 1.1 * trace->best);
	} else {
		search_tell_value(search, index, STRATEGY_VALUE, time);
		trace->best = fmin(trace->best, time);
	}
}

/* Tells a batch in random order, except for a few late results and those that are never told. */
static void answers(struct search *search, const struct drive *drive, struct trace *trace) {
	size_t keep = drive->batches ? rng_below(&trace->rng, BATCH_MAX) : 0;
	rng_shuffle(&trace->rng, trace->late, trace->late_count, sizeof *trace->late);
	while (trace->late_count > keep) {
		uint64_t index = trace->late[--trace->late_count];
		if (!(drive->forgetful && rng_below(&trace->rng, 10) == 0))
			answer(search, drive, trace, index);
	}
}

static void meddle(struct search *search, const struct drive *drive, struct trace *trace) {
	uint64_t index = rng_below(&trace->rng, drive->land->valid);
	if (history_taken(search_history(search), index))
		return;
	take(trace, drive->land, index);
	answer(search, drive, trace, index);
}

/* Runs until the space is used up, or a good enough time is found. */
static struct trace run(const struct drive *drive) {
	const struct land *land = drive->land;
	struct trace trace = {.best = INFINITY};
	struct err err = {0};
	struct search *search =
		search_new(drive->strategy,
	               &(struct strategy_task){
					   .space = land->space, .seed = drive->seed, .start = drive->start, .budget = drive->budget},
	               &err);
	trace.index = mem_alloc(land->valid + BATCH_MAX, sizeof *trace.index);
	trace.given = mem_alloc(land->valid, sizeof *trace.given);
	trace.late = mem_alloc(land->valid + BATCH_MAX, sizeof *trace.late);
	rng_split(&trace.rng, drive->seed, "drive");
	if (search && drive->start != UINT64_MAX) {
		take(&trace, land, drive->start);
		answer(search, drive, &trace, drive->start);
	}
	while (search && trace.count <= land->valid && !(trace.best <= drive->until)) {
		size_t want = drive->batches ? 1 + rng_below(&trace.rng, BATCH_MAX) : 1;
		uint64_t *asked = trace.index + trace.count;
		size_t count = search_ask(search, asked, want);
		trace.overfull |= count > want;
		if (count == 0)
			break;
		trace.count += count;
		for (size_t i = 0; i < count; i++)
			take(&trace, land, asked[i]);
		if (trace.invalid || trace.repeated)
			break;
		memcpy(trace.late + trace.late_count, asked, count * sizeof *asked);
		trace.late_count += count;
		answers(search, drive, &trace);
		if (drive->meddled)
			meddle(search, drive, &trace);
	}
	search_free(search);
	return trace;
}

static bool complete(const struct trace *trace, const struct land *land) {
	uint64_t given = 0;
	for (uint64_t i = 0; i < land->valid; i++)
		given += trace->given[i];
	return given == land->valid && !trace->repeated && !trace->invalid && !trace->overfull;
}

static bool runs_through(struct drive drive) {
	struct trace trace = run(&drive);
	bool good = complete(&trace, drive.land);
	trace_clear(&trace);
	return good;
}

static bool same(const struct trace *a, const struct trace *b) {
	return a->count == b->count && memcmp(a->index, b->index, a->count * sizeof *a->index) == 0;
}

static bool repeatable(struct drive drive) {
	struct trace a = run(&drive), b = run(&drive);
	bool good = a.count > 0 && same(&a, &b);
	trace_clear(&a);
	trace_clear(&b);
	return good;
}

static void conformance(const struct strategy *strategy, const struct land *land, const char *name) {
	struct drive drive = {.land = land, .strategy = strategy, .seed = 1, .start = land->start, .budget = land->valid};
	const char *s = strategy->name;
	ok(runs_through(drive), "%s on %s: every configuration once, with a budget for all", s, name);
	drive.budget = land->valid / 10;
	ok(runs_through(drive), "%s on %s: every configuration once, with a small budget", s, name);
	drive.budget = 0;
	drive.batches = true;
	ok(runs_through(drive), "%s on %s: every configuration once, in batches", s, name);
	drive.censored = true;
	ok(runs_through(drive), "%s on %s: every configuration once, with trials cut short", s, name);
	drive.start = UINT64_MAX;
	ok(runs_through(drive), "%s on %s: every configuration once, without a baseline", s, name);
	drive.forgetful = true;
	ok(runs_through(drive), "%s on %s: every configuration once, with trials that never end", s, name);
	drive.noisy = true;
	ok(runs_through(drive), "%s on %s: every configuration once, with noise", s, name);
	drive.meddled = true;
	ok(runs_through(drive), "%s on %s: every configuration once, with outcomes it did not ask for", s, name);
	if (land->valid > 1)
		ok(repeatable(drive), "%s on %s: the same seed gives the same sequence", s, name);
}

static void seeds(const struct strategy *strategy) {
	struct land *land = land_separable();
	struct drive drive = {.land = land, .strategy = strategy, .seed = 1, .start = land->start};
	struct trace a = run(&drive);
	drive.seed = 2;
	struct trace b = run(&drive);
	ok(!same(&a, &b), "%s: another seed gives another order", strategy->name);
	trace_clear(&a);
	trace_clear(&b);
	land_free(land);
}

/* The number of evaluations until the optimum is measured. */
static size_t evaluations(struct drive drive) {
	const struct land *land = drive.land;
	drive.until = land->time[land->best];
	struct trace trace = run(&drive);
	trace_clear(&trace);
	return trace.count;
}

static void finds(const struct land *land, const char *name) {
	enum { SEEDS = 20 };
	size_t automatic = 0, random = 0;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct drive drive = {.land = land, .seed = seed, .start = land->start, .strategy = strategy_find("auto")};
		automatic += evaluations(drive);
		drive.strategy = strategy_find("random");
		random += evaluations(drive);
	}
	bool good = 3 * automatic <= 2 * random;
	if (!ok(good, "auto finds the optimum of %s in at most two thirds of random's evaluations", name))
		printf("# %.1f and %.1f\n", (double)automatic / SEEDS, (double)random / SEEDS);
}

/* The percentage of searches that end within 3 % of the best, with a tenth of the valid configurations as budget. */
static double rate(const char *strategy, struct land *(*make)(uint64_t)) {
	enum { SHAPES = 40, SEEDS = 2 };
	int won = 0;
	for (uint64_t shape = 0; shape < SHAPES; shape++) {
		struct land *land = make(shape);
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			const struct play play = {.land = land,
			                          .strategy = strategy_find(strategy),
			                          .seed = SEEDS * shape + seed,
			                          .evaluations = land->valid / 10,
			                          .noise = 0.01 + 0.01 * (double)seed};
			won += play_run(&play) <= 1.03;
		}
		land_free(land);
	}
	return 100.0 * won / (SHAPES * SEEDS);
}

static void rates(const char *name, struct land *(*make)(uint64_t)) {
	double automatic = rate("auto", make), random = rate("random", make);
	ok(automatic >= 92, "auto comes within 3 %% of the best of %s in a tenth of its evaluations", name);
	ok(random < 70, "%s is not easy for random", name);
	printf("# auto %.1f, random %.1f of 100\n", automatic, random);
}

int main(void) {
	for (size_t i = 0; i < LANDS; i++) {
		struct land *land = lands[i].make();
		for (const struct strategy *const *s = strategy_registry; *s; s++)
			conformance(*s, land, lands[i].name);
		if (lands[i].found)
			finds(land, lands[i].name);
		land_free(land);
	}
	for (const struct strategy *const *s = strategy_registry; *s; s++)
		if (strcmp((*s)->name, "grid") != 0)
			seeds(*s);
	rates("fw", land_fw);
	rates("gol", land_gol);
	rates("mixed", land_mixed);
	ok(strategy_find("no such strategy") == NULL, "an unknown strategy is not found");
	return tap_done();
}
