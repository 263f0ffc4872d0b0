/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts that influence each other, on models whose optimum is known: costs are computed, with noise, so that nothing
 * depends on the machine. The library and the tuner's session are in one process. */
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "lib/sweetspot.h"
#include "tests/tap.h"
#include "tuner/inside/inside.h"

enum { BLOCKS = 4, SEEDS = 20, ROUNDS = 2500, LAST = 200, OTHERS = 3 };
static const long long blocks[BLOCKS] = {16, 32, 64, 128};

/* The cost of a call of each loop, by the blocks of both. */
typedef void model_fn(int first, int second, double cost[2]);

/* Alone, each loop is fastest with the largest block. Together these do not fit into the cache, and what the first one
 * leaves there slows the second one down. Least: 16 and 128. */
static void cache(int first, int second, double cost[2]) {
	cost[0] = 1e-3 * (1 - 0.1 * first);
	cost[1] = 1e-3 * (2 - 0.4 * second + 0.5 * fmax(0, (double)(blocks[first] + blocks[second] - 144) / 64));
}

/* The first loop writes what the second one reads: its own calls are fastest with 16, but what it leaves then costs the
 * other one more. Least: 128 and 128. */
static void layout(int first, int second, double cost[2]) {
	cost[0] = 1e-3 * (1 + 0.1 * first);
	cost[1] = 1e-3 * (2 + 0.5 * abs(first - second) - 0.3 * second);
}

/* They have nothing to do with each other. Least: 64 and 16. */
static void apart(int first, int second, double cost[2]) {
	cost[0] = 1e-3 * (1 + 0.15 * abs(first - 2));
	cost[1] = 1e-3 * (1 + 0.2 * second);
}

/* Each is best at the other's block only: a change of one alone makes it slower. Least: 128 and 128. */
static void twins(int first, int second, double cost[2]) {
	cost[0] = 1e-3 * (1 + 0.3 * abs(first - second) - 0.1 * first);
	cost[1] = cost[0];
}

struct course {
	double ratio, last, best; /* of all costs, and of the last ones, to those of the defaults; of the least there is */
	bool jointly;             /* the session says so */
};

struct loop {
	sweetspot_context *context;
	int at; /* the block of its latest call */
};

static double call(struct loop *loops, int number, model_fn *model, struct rng *rng) {
	struct sweetspot_choice choice;
	double cost[2];
	sweetspot_choose(loops[number].context, NULL, 0, &choice);
	loops[number].at = (int)log2((double)sweetspot_chosen_int(&choice, "block") / 16);
	model(loops[0].at, loops[1].at, cost);
	sweetspot_report(&choice, cost[number] * exp(0.03 * rng_normal(rng)) * (rng_unit(rng) < 0.01 ? 5 : 1));
	return cost[number];
}

static double least_of(model_fn *model) {
	double least = INFINITY, cost[2];
	for (int i = 0; i < BLOCKS * BLOCKS; i++) {
		model(i / BLOCKS, i % BLOCKS, cost);
		least = fmin(least, cost[0] + OTHERS * cost[1]);
	}
	return least;
}

/* The second loop is called more often than the first one. */
static struct course play(model_fn *model, uint64_t seed) {
	struct inside_session *session = inside_session_new(seed);
	const struct inside_mode mode = {.learns = true, .share = 0.05, .credit = true};
	js_auto json_t *set = json_object();
	struct err err = {0};
	struct rng rng;
	struct loop loops[2];
	double sum = 0, last = 0, by_default[2];
	rng_seed(&rng, seed);
	inside_run_begin(session, &mode, set, &err);
	js_members (name, value, set)
		setenv(name, json_string_value(value), 1);
	for (int i = 0; i < 2; i++) {
		loops[i] = (struct loop){sweetspot_context_open(i ? "second" : "first"), 0};
		sweetspot_context_int(loops[i].context, "block", blocks, BLOCKS, blocks[0]);
	}
	for (int i = 0; i < ROUNDS; i++) {
		double round = call(loops, 0, model, &rng);
		for (int k = 0; k < OTHERS; k++)
			round += call(loops, 1, model, &rng);
		inside_run_poll(session);
		sum += round;
		last += i >= ROUNDS - LAST ? round : 0;
	}
	inside_run_end(session, false);
	model(0, 0, by_default);
	double before = by_default[0] + OTHERS * by_default[1];
	struct course course = {
		.ratio = sum / ROUNDS / before, .last = last / LAST / before, .best = least_of(model) / before};
	js_auto json_t *contexts = inside_session_json(session);
	course.jointly = js_bool_or(json_array_get(contexts, 0), "jointly", false);
	inside_session_free(session);
	return course;
}

/* In a process of its own, because the library reads its environment once. */
static struct course play_apart(model_fn *model, uint64_t seed) {
	struct course course = {.ratio = NAN, .last = NAN};
	int ends[2];
	fflush(stdout);
	if (pipe(ends) != 0)
		return course;
	pid_t child = fork();
	if (child == 0) {
		course = play(model, seed);
		_exit(write(ends[1], &course, sizeof course) != sizeof course);
	}
	close(ends[1]);
	if (read(ends[0], &course, sizeof course) != sizeof course)
		course.ratio = course.last = NAN;
	close(ends[0]);
	waitpid(child, NULL, 0);
	return course;
}

static void model_test(const char *name, model_fn *model, bool jointly) {
	int found = 0, slower = 0, said = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct course course = play_apart(model, seed);
		printf("# %s %d: %.3f of the defaults, %.3f at the end, least %.3f%s\n", name, (int)seed, course.ratio,
		       course.last, course.best, course.jointly ? ", jointly" : "");
		found += course.last <= 1.03 * course.best;
		slower += !(course.ratio <= 1.03);
		said += course.jointly;
	}
	ok(found >= SEEDS - 2, "%s: what costs least in all is found", name);
	ok(slower == 0, "%s: no run is slower than the share permits", name);
	if (jointly)
		ok(said >= SEEDS - 2, "%s: the contexts are chosen jointly", name);
	else
		ok(said == 0, "%s: each context keeps its own choice", name);
}

int main(void) {
	model_test("a cache that two loops share", cache, true);
	model_test("a layout that is written and read", layout, true);
	model_test("two loops that have to agree", twins, true);
	model_test("loops that have nothing to do with each other", apart, false);
	return tap_done();
}
