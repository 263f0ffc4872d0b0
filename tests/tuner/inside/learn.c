/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library and the tuner's session in one process, on models whose optimum is known: costs are computed, with noise,
 * so that nothing depends on the machine. */
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "lib/sweetspot.h"
#include "tests/tap.h"
#include "tuner/inside/inside.h"

enum { FOUND = 300, FOLLOWED = 200, DRIFTS = 1000, CALLS = 2000, SEEDS = 12, STRETCH = 40, MOST = 28 };
static const double SHARE = 0.03, CLOSE = 1.06;

struct scene {
	void (*declare)(sweetspot_context *context);
	double (*cost)(const struct sweetspot_choice *choice, bool late); /* without noise */
	double by_default[2], best[2];
};

static const long long blocks[] = {8, 16, 32, 64, 128, 256}, unrolls[] = {1, 2, 4, 8}, rows[] = {1, 2, 4, 8, 16, 32};
static const char *const ways[] = {"plain", "tiled", "packed"};

static void stencil_declare(sweetspot_context *context) {
	sweetspot_context_int(context, "block", blocks, 6, 32);
	sweetspot_context_int(context, "unroll", unrolls, 4, 1);
	sweetspot_context_word(context, "way", ways, 3, "plain");
	sweetspot_context_constraint(context, "way != 'packed' or block >= 16");
}

static double steps(long long value, double best) {
	return fabs(log2((double)value) - log2(best));
}

static double stencil_cost(const struct sweetspot_choice *choice, bool late) {
	const char *way = sweetspot_chosen_word(choice, "way");
	double of_way = strcmp(way, "tiled") == 0 ? (late ? 0.9 : 0) : strcmp(way, "packed") == 0 ? (late ? 0 : 0.4) : 0.3;
	double sum = 0.15 * steps(sweetspot_chosen_int(choice, "block"), late ? 16 : 128) +
	             0.12 * steps(sweetspot_chosen_int(choice, "unroll"), 4) + of_way;
	return 1e-3 * exp(sum);
}

static void sort_declare(sweetspot_context *context) {
	sweetspot_context_int(context, "cutoff", rows, 6, 8);
}

static double flat_cost(const struct sweetspot_choice *choice, bool late) {
	(void)choice;
	(void)late;
	return 2e-3;
}

static const struct scene stencil = {stencil_declare, stencil_cost, {2.316367e-3, 1.993716e-3}, {1e-3, 1e-3}};
static const struct scene flat = {sort_declare, flat_cost, {2e-3, 2e-3}, {2e-3, 2e-3}};

/* A call in a hundred is interrupted, the others vary by 3 %. */
static double noisy(double cost, struct rng *rng) {
	return cost * exp(0.03 * rng_normal(rng)) * (rng_unit(rng) < 0.01 ? 5 : 1);
}

struct course {
	int found, followed; /* calls until it stays close to the optimum; before and after the drift */
	double ratio, lost;  /* of all costs to those of the defaults; part of the time that trying cost */
	size_t better;
};

/* The first call after which most calls are close to the optimum; those that try something else are in between. */
static int close_from(const bool *is_close, int begin, int end) {
	for (int i = begin; i + STRETCH <= end; i++) {
		int count = 0;
		for (int k = i; k < i + STRETCH; k++)
			count += is_close[k];
		if (is_close[i] && count >= MOST)
			return i;
	}
	return end;
}

static struct course play(const struct scene *scene, uint64_t seed, double share) {
	struct course course = {0};
	struct inside_session *session = inside_session_new(seed);
	const struct inside_mode mode = {.learns = true, .share = share, .ahead_s = 0};
	js_auto json_t *set = json_object();
	struct err err = {0};
	struct rng rng;
	double sum = 0, by_default = 0;
	static bool is_close[CALLS];
	rng_seed(&rng, seed);
	inside_run_begin(session, &mode, set, &err);
	js_members (name, value, set)
		setenv(name, json_string_value(value), 1);
	sweetspot_context *context = sweetspot_context_open("work");
	scene->declare(context);
	for (int i = 0; i < CALLS; i++) {
		struct sweetspot_value n = {"n", 1000, NULL};
		struct sweetspot_choice choice;
		bool late = i >= DRIFTS;
		sweetspot_choose(context, &n, 1, &choice);
		double cost = scene->cost(&choice, late);
		sweetspot_report(&choice, noisy(cost, &rng));
		inside_run_poll(session);
		sum += cost;
		by_default += scene->by_default[late];
		is_close[i] = cost <= CLOSE * scene->best[late];
	}
	course.found = close_from(is_close, 0, DRIFTS);
	course.followed = close_from(is_close, DRIFTS, CALLS) - DRIFTS;
	course.ratio = sum / by_default;
	inside_run_end(session, false);
	struct inside_account account = inside_session_account(session);
	course.lost = account.lost / account.seconds;
	course.better = account.better;
	inside_session_free(session);
	return course;
}

/* In a process of its own, because the library reads its environment once. */
static struct course play_apart(const struct scene *scene, uint64_t seed, double share) {
	struct course course = {0};
	int ends[2];
	fflush(stdout);
	if (pipe(ends) != 0)
		return course;
	pid_t child = fork();
	if (child == 0) {
		course = play(scene, seed, share);
		_exit(write(ends[1], &course, sizeof course) != sizeof course);
	}
	close(ends[1]);
	if (read(ends[0], &course, sizeof course) != sizeof course)
		course.ratio = NAN;
	close(ends[0]);
	waitpid(child, NULL, 0);
	return course;
}

static void stencil_test(void) {
	int found = 0, followed = 0, slower = 0, over = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct course course = play_apart(&stencil, seed, SHARE);
		printf("# seed %d: found %d, followed %d, %.4f of the defaults, %.4f lost\n", (int)seed, course.found,
		       course.followed, course.ratio, course.lost);
		found += course.found <= FOUND;
		followed += course.followed <= FOLLOWED;
		slower += !(course.ratio <= 1);
		over += !(course.lost <= 1.2 * SHARE);
	}
	ok(found == SEEDS, "the optimum of a stencil is found within %d calls", FOUND);
	ok(followed >= SEEDS - 1, "a drift of the stencil's optimum is followed within %d calls", FOLLOWED);
	ok(slower == 0, "a stencil that learns takes less than with its defaults, all in all");
	ok(over == 0, "trying costs a stencil about its share at most");
}

static void flat_test(void) {
	int slower = 0, over = 0, kept = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct course course = play_apart(&flat, seed, SHARE);
		slower += !(course.ratio <= 1.001);
		over += !(course.lost <= SHARE);
		kept += course.better == 0;
	}
	ok(slower == 0, "a sort that does not care takes as long as with its defaults");
	ok(over == 0, "trying costs a sort that does not care its share at most");
	ok(kept == SEEDS, "nothing is recommended for a sort that does not care");
}

static void nothing_test(void) {
	struct course course = play_apart(&stencil, 1, 0);
	ok(course.lost == 0 && fabs(course.ratio - 1) < 1e-5, "a program whose share is 0 keeps its defaults");
}

int main(void) {
	stencil_test();
	flat_test();
	nothing_test();
	return tap_done();
}
