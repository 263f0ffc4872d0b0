/* SPDX-License-Identifier: BSD-3-Clause */
/* Throughput and fairness of the last run. The time from a release to the entry of another thread cannot be seen
 * without reading a clock, which would be most of a short section. So a shorter contest of the same kind, on a lock
 * of its own and not timed, is logged for that. */
#include <stdlib.h>

#include "kernels/locks/locks.h"

enum { PASS_N = 20000, CLOCK_LOOKS = 256 };
#define PASS_UNITS 2e7 /* work in the logged contest, about as many ns */

struct fairness {
	int64_t entries;
	double jain, min_max;
};

/* Jain, Chiu, Hawe: A Quantitative Measure of Fairness and Discrimination, 1984: 1 for equal shares, 1 / threads if
 * one thread has all. */
static struct fairness fairness(const struct locks_state *s) {
	int64_t least = INT64_MAX, most = 0, entries = 0;
	double squares = 0;
	for (int thread = 0; thread < s->team; thread++) {
		int64_t own = locks_tally(s, thread)->entries;
		least = own < least ? own : least;
		most = own > most ? own : most;
		entries += own;
		squares += (double)own * (double)own;
	}
	double all = (double)entries;
	return (struct fairness){entries, all * all / (s->team * squares), (double)least / (double)most};
}

static int64_t clock_cost(void) {
	int64_t least = INT64_MAX;
	for (int i = 0; i < CLOCK_LOOKS; i++) {
		int64_t begun = lock_now(), cost = lock_now() - begun;
		least = cost < least ? cost : least;
	}
	return least;
}

static int compare(const void *a, const void *b) {
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* The median, as a preempted thread makes a few of them very long; less one look at the clock, which is part of each.
 */
static double median(struct lock_log *log) {
	qsort(log->ns, (size_t)log->count, sizeof *log->ns, compare);
	double ns = (double)(log->ns[(log->count - 1) / 2] + log->ns[log->count / 2]) / 2 - (double)clock_cost();
	return ns > 0 ? ns : 0;
}

static int64_t pass_n(const struct locks_input *input) {
	double fit = PASS_UNITS / (double)(1 + input->critical + input->noncritical);
	int64_t n = fit < PASS_N ? (int64_t)fit : PASS_N;
	return n < 100 ? 100 : n;
}

/* False if a waiting thread never took over from another (without a lock threads do not wait), or without memory. */
static bool handover(const struct locks_state *s, double *ns) {
	struct locks_arena arena = {.kind = NULL};
	bool seen = false, queue = s->team > 1 && !(s->arena.kind->flags & LOCK_UNSAFE);
	struct lock_log *log = queue ? calloc(1, sizeof *log) : NULL;
	if (!log || locks_arena_new(&arena, s->arena.kind, &s->shape) != SS_OK)
		goto cleanup;
	struct lock_contest contest = locks_arena_contest(&arena, s->input);
	contest.n = pass_n(s->input);
	contest.log = log;
	locks_arena_clear(&arena, s->shape.threads);
	locks_arena_run(&arena, &contest, s->team);
	seen = log->count > 0;
	if (seen)
		*ns = median(log);
cleanup:
	locks_arena_free(&arena);
	free(log);
	return seen;
}

size_t locks_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                     size_t most) {
	const struct locks_state *s = state;
	struct fairness fair = fairness(s);
	double entries = (double)fair.entries, handovers = (double)s->arena.prize->changes - 1, latency = 0;
	const struct ss_figure all[] = {
		{"throughput", entries / seconds / 1e3, "Kops/s"},
		{"ns_per_acquire", 1e9 * seconds / entries, "ns"},
		{"ns_per_acquire_of_a_thread", 1e9 * seconds * s->team / entries, "ns"},
		{"handovers", handovers, ""},
		{"handover_share", entries > 1 ? handovers / (entries - 1) : 0, ""},
		{"fairness_jain", fair.jain, ""},
		{"fairness_min_max", fair.min_max, ""},
	};
	size_t count = 0;
	(void)call;
	for (; count < sizeof all / sizeof *all && count < most; count++)
		out[count] = all[count];
	if (count < most && handover(s, &latency))
		out[count++] = (struct ss_figure){"handover_latency", latency, "ns"};
	return count;
}
