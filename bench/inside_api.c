/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a choice and its report cost: alone, with a table, and while it is learned; and the regret of `auto` beside that
 * of tuners that propose at random and by simulated annealing, on a model with 72 configurations. For bench/inside.py.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "lib/sweetspot.h"
#include "tuner/inside/inside.h"

enum { CALLS = 200000, REPEATS = 9, STEPS = 2000, SEEDS = 20, LOOKS = 5, WINDOW = 5, STRETCH = 40, MOST = 28 };
static const double CLOSE = 1.06;
static const long long blocks[] = {8, 16, 32, 64, 128, 256}, unrolls[] = {1, 2, 4, 8}, ways[] = {0, 1, 2};
static const int looks[LOOKS] = {100, 200, 300, 1000, 2000};

static double now(void) {
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static sweetspot_context *declare(void) {
	sweetspot_context *context = sweetspot_context_open("inside_api:work");
	sweetspot_context_int(context, "block", blocks, 6, 32);
	sweetspot_context_int(context, "unroll", unrolls, 4, 1);
	sweetspot_context_int(context, "way", ways, 3, 0);
	return context;
}

static double model(long long block, long long unroll, long long way) {
	static const double of_way[] = {0.3, 0, 0.4};
	return 1e-3 * exp(0.15 * fabs(log2((double)block / 128)) + 0.12 * fabs(log2((double)unroll / 4)) + of_way[way]);
}

static void cost(const char *name) {
	sweetspot_context *context = declare();
	struct sweetspot_value n = {"n", 1000, NULL};
	double best = INFINITY;
	for (int repeat = 0; repeat < REPEATS; repeat++) {
		double begin = now();
		for (int i = 0; i < CALLS; i++) {
			struct sweetspot_choice choice;
			sweetspot_choose(context, &n, 1, &choice);
			sweetspot_report(&choice, 1e-3);
		}
		best = fmin(best, (now() - begin) / CALLS);
	}
	printf("%s %.1f\n", name, 1e9 * best);
}

/* Each in a process of its own, because the library reads its environment once. */
static void apart(void (*run)(const char *name), const char *name) {
	fflush(stdout);
	if (fork() == 0) {
		run(name);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
}

static void cost_known(const char *name) {
	setenv("SWEETSPOT_INSIDE", "sweetspot-inside 1\ninside_api%3Awork n=1000 : block=128 unroll=4 way=1\n", 1);
	cost(name);
}

static struct inside_session *begin(uint64_t seed, double share) {
	struct inside_session *session = inside_session_new(seed);
	js_auto json_t *set = json_object();
	struct err err = {0};
	const struct inside_mode mode = {.learns = true, .share = share};
	if (inside_run_begin(session, &mode, set, &err))
		exit(1);
	js_members (name, value, set)
		setenv(name, json_string_value(value), 1);
	return session;
}

static void cost_learned(const char *name) {
	struct inside_session *session = begin(1, 0.05);
	cost(name);
	inside_session_free(session);
}

/* The regret after some calls, and the call after which most are within 6 % of the optimum. */
static void regret_print(const char *name, const double *takes) {
	double sum = 0;
	int arrived = STEPS, close = 0;
	printf("%s", name);
	for (int i = 1, look = 0; i <= STEPS; i++) {
		sum += takes[i - 1] - 1e-3;
		if (i == looks[look])
			printf(" %.4f", sum / (1e-3 * looks[look++]));
	}
	for (int i = STEPS - 1; i >= 0; i--) {
		close += (takes[i] < CLOSE * 1e-3) - (i + STRETCH < STEPS && takes[i + STRETCH] < CLOSE * 1e-3);
		if (i + STRETCH <= STEPS && close >= MOST)
			arrived = i;
		else if (i + STRETCH <= STEPS)
			break;
	}
	printf(" %d\n", arrived);
}

static void regret_auto(const char *name) {
	uint64_t seed = strtoull(name, NULL, 10);
	struct inside_session *session = begin(seed, 0.05);
	sweetspot_context *context = declare();
	struct rng rng;
	double takes[STEPS];
	rng_seed(&rng, seed);
	for (int i = 0; i < STEPS; i++) {
		struct sweetspot_choice choice;
		sweetspot_choose(context, NULL, 0, &choice);
		takes[i] = model(sweetspot_chosen_int(&choice, "block"), sweetspot_chosen_int(&choice, "unroll"),
		                 sweetspot_chosen_int(&choice, "way"));
		sweetspot_report(&choice, takes[i] * exp(0.03 * rng_normal(&rng)));
		inside_run_poll(session);
	}
	regret_print("auto", takes);
	inside_session_free(session);
}

/* Another one at each call, until 30 were seen; then the best of them. */
static void regret_random(const char *name) {
	struct rng rng;
	double takes[STEPS], best = INFINITY;
	rng_seed(&rng, strtoull(name, NULL, 10));
	for (int i = 0; i < STEPS; i++) {
		takes[i] =
			i >= 30 ? best : model(blocks[rng_below(&rng, 6)], unrolls[rng_below(&rng, 4)], ways[rng_below(&rng, 3)]);
		best = fmin(best, takes[i]);
	}
	regret_print("random", takes);
}

/* Simulated annealing as APEX describes and sets it by default: from the middle, each candidate for WINDOW calls whose
 * least counts, steps that become shorter while the temperature rises with the iterations, back to the best every tenth
 * of them, and the best after the last one. */
static void regret_annealing(const char *name) {
	static const int counts[] = {6, 4, 3};
	int at[] = {2, 1, 1}, next[3], best[3], most = 72 * 3, k = 1;
	double takes[STEPS], cost = INFINITY, best_cost = INFINITY;
	struct rng rng;
	rng_seed(&rng, strtoull(name, NULL, 10));
	memcpy(best, at, sizeof best);
	for (int i = 0; i < STEPS; k++) {
		double least = INFINITY, heat = (double)k / most;
		for (int p = 0; p < 3; p++) {
			int step = (int)((2 * rng_unit(&rng) - 1) * 2 * (1 - heat));
			next[p] = k >= most ? best[p] : at[p] + step < 0 || at[p] + step >= counts[p] ? at[p] : at[p] + step;
		}
		for (int call = 0; call < WINDOW && i < STEPS; call++) {
			takes[i] = model(blocks[next[0]], unrolls[next[1]], ways[next[2]]);
			least = fmin(least, 1e9 * takes[i++] * exp(0.03 * rng_normal(&rng))); /* it counts nanoseconds */
		}
		if (least < cost || rng_unit(&rng) <= exp((cost - least) / heat)) {
			memcpy(at, next, sizeof at);
			cost = least;
		}
		if (least < best_cost) {
			memcpy(best, next, sizeof best);
			best_cost = least;
		}
		if (k % (most / 10) == 0) {
			memcpy(at, best, sizeof at);
			cost = best_cost;
		}
	}
	regret_print("annealing", takes);
}

int main(void) {
	char seed[16];
	apart(cost, "alone");
	apart(cost_known, "known");
	apart(cost_learned, "learned");
	for (int i = 1; i <= SEEDS; i++) {
		snprintf(seed, sizeof seed, "%d", i);
		apart(regret_auto, seed);
		apart(regret_random, seed);
		apart(regret_annealing, seed);
	}
	return 0;
}
