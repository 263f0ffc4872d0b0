/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/fail.h"
#include "kernels/locks/locks.h"
#include "kernels/locks/registry.h"

/* Throughput and fairness of the last run. The time from a release to the entry of another thread cannot be seen
 * without reading a clock, which would be most of a short section. So a shorter contest of the same kind, on a lock
 * of its own and not timed, is logged for that. */
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

/* figures.c */
static size_t locks_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
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

/* Invariants after a run, in whatever order threads entered. */
/* Also without mutual exclusion: a thread enters at most n times, and its work outside is its own. */
static enum ss_status check_tallies(const struct locks_state *s, const struct ss_call *call, int64_t *entries) {
	int64_t n = s->input->n;
	*entries = 0;
	for (int thread = 0; thread < s->team; thread++) {
		const struct lock_tally *tally = locks_tally(s, thread);
		uint64_t sum = locks_oracle(0, (uint64_t)tally->entries * (uint64_t)s->input->noncritical);
		if (tally->entries < 0 || tally->entries > n)
			return kernel_wrong(call, "thread %d entered %" PRId64 " of %" PRId64 " times", thread, tally->entries, n);
		if (tally->sum != sum)
			return kernel_wrong(call, "the work of thread %d gives %" PRIx64 ", should be %" PRIx64, thread, tally->sum,
			                    sum);
		*entries += tally->entries;
	}
	return *entries > 0 ? SS_OK : kernel_wrong(call, "no thread entered");
}

/* Every thread that entered became the owner at least once, and none but at an entry. */
static enum ss_status check_owner(const struct locks_state *s, const struct ss_call *call) {
	const struct lock_prize *prize = s->arena.prize;
	int64_t entered = 0;
	for (int thread = 0; thread < s->team; thread++)
		entered += locks_tally(s, thread)->entries > 0;
	if (prize->owner < 0 || prize->owner >= s->team || locks_tally(s, (int)prize->owner)->entries == 0)
		return kernel_wrong(call, "the last owner, %" PRId64 ", did not enter", prize->owner);
	if (prize->changes < entered || prize->changes > s->input->n)
		return kernel_wrong(call, "%" PRId64 " changes of the owner, should be %" PRId64 " to %" PRId64, prize->changes,
		                    entered, s->input->n);
	return SS_OK;
}

/* check.c: SS_OK, or SS_INCORRECT with a message. */
static enum ss_status locks_check(const struct locks_state *s, const struct ss_call *call) {
	const struct lock_prize *prize = s->arena.prize;
	int64_t entries, n = s->input->n;
	enum ss_status status = check_tallies(s, call, &entries);
	if (status != SS_OK || ((s->arena.kind->flags & LOCK_UNSAFE) && s->team > 1))
		return status;
	if (prize->count != n)
		return kernel_wrong(call, "the counter is %" PRId64 ", should be %" PRId64, prize->count, n);
	if (entries != n)
		return kernel_wrong(call, "threads entered %" PRId64 " times, should be %" PRId64, entries, n);
	if (prize->sum != s->input->sum)
		return kernel_wrong(call, "the protected sum is %" PRIx64 ", should be %" PRIx64, prize->sum, s->input->sum);
	return check_owner(s, call);
}

enum { N, CRITICAL, NONCRITICAL };
static const struct ss_param problem[] = {
	[N] = {"n", "acquisitions of all threads together", SS_INT, NULL, "20000", NULL, 1, LOCKS_N_MAX},
	[CRITICAL] = {"critical", "additional work in the critical section, in steps of about 1 ns", SS_INT, NULL, "0",
                  NULL, 0, LOCKS_UNITS_MAX},
	[NONCRITICAL] = {"noncritical", "work between two critical sections, in steps of about 1 ns", SS_INT, NULL, "0",
                     NULL, 0, LOCKS_UNITS_MAX},
	{.name = NULL},
};

enum { LOCK_WORD, PAD };
static const struct ss_param params[] = {
	[LOCK_WORD] = {"lock", "what keeps the others out", SS_WORD, LOCK_WORDS, "mutex", NULL, 0, 0},
	[PAD] = {"pad",
             "line, 1024: a cache line, or 1024 bytes, each for the lock's words, its data and each thread's own data",
             SS_WORD, "none,line,1024", "none", NULL, 0, 0},
	{.name = NULL},
};

static enum ss_status refuse(const struct ss_call *call, enum ss_status status, const char *why) {
	if (call->message)
		snprintf(call->message, call->message_size, "%s", why);
	return status;
}

static bool within(const struct ss_call *call, int part) {
	return call->problem[part].i >= (int64_t)problem[part].min && call->problem[part].i <= (int64_t)problem[part].max;
}

static enum ss_status locks_open(void *opaque, const struct ss_call *call) {
	struct locks_input *input = opaque;
	if (!within(call, N) || !within(call, CRITICAL) || !within(call, NONCRITICAL))
		return refuse(call, SS_INVALID, "n must be 1 to 100000000, critical and noncritical 0 to 1000000");
	*input = (struct locks_input){call->problem[N].i, call->problem[CRITICAL].i, call->problem[NONCRITICAL].i, 0};
	if ((double)input->n * (double)(1 + input->critical + input->noncritical) > LOCKS_WORK_MAX)
		return refuse(call, SS_INVALID, "n * (1 + critical + noncritical) must not be over 1e11, which takes minutes");
	input->sum = locks_oracle(0, (uint64_t)input->n * (uint64_t)(input->critical + 1));
	return SS_OK;
}

static enum ss_status locks_setup(void *opaque, void *input, const struct ss_call *call) {
	struct locks_state *s = opaque;
	const struct lock_kind *kind = lock_find(call->config[LOCK_WORD].w);
	if (!kind || call->threads < 1)
		return refuse(call, SS_INVALID, "the lock must be one of " LOCK_WORDS);
	static const size_t pads[] = {0, LOCK_LINE, LOCK_WIDE};
	int64_t pad = call->config[PAD].i;
	if (pad < 0 || pad > 2)
		return refuse(call, SS_INVALID, "pad must be none, line or 1024");
	*s = (struct locks_state){.input = input, .shape = {.threads = call->threads, .pad = pads[pad]}};
	if (locks_arena_new(&s->arena, kind, &s->shape) != SS_OK)
		return refuse(call, SS_NOMEM, "no memory for the lock");
	return SS_OK;
}

static void locks_reset(void *opaque, const struct ss_call *call) {
	const struct locks_state *s = opaque;
	(void)call;
	locks_arena_clear(&s->arena, s->shape.threads);
}

static const struct ss_event events[] = {
	[LOCK_ACQUISITIONS] = {"acquisitions", "entries into the critical section"},
	[LOCK_HANDOVERS] = {"handovers", "acquisitions that follow one by another thread"},
	[LOCK_CONTENTIONS] = {"contentions", "attempts that found the lock held"},
	[LOCK_CAS_RETRIES] = {"cas_retries", "exchanges and compare-and-swaps that were repeated"},
	{.name = NULL},
};

/* The counting twin of a lock in the registry: the same lock, and a loop that counts. */
static const struct lock_kind *lock_counted(const struct lock_kind *kind) {
	static const struct lock_kind *const counted[] = {
#define LOCK(name) &lock_##name##_counted,
#include "kernels/locks/registry.def"
#undef LOCK
	};
	size_t i = 0;
	while (lock_registry[i] != kind)
		i++;
	return counted[i];
}

static void run_counted(struct locks_state *s, struct lock_contest *contest, int64_t *counts) {
	struct locks_arena arena = s->arena;
	arena.kind = lock_counted(s->arena.kind);
	contest->events = counts;
	s->team = locks_arena_run(&arena, contest, s->shape.threads);
	for (int thread = 0; thread < s->shape.threads; thread++, counts += SS_EVENTS_MAX) {
		if (arena.kind->flags & LOCK_WAITS_HIDDEN)
			counts[LOCK_CONTENTIONS] = SS_EVENT_UNKNOWN;
		if (arena.kind->flags & LOCK_RETRIES_HIDDEN)
			counts[LOCK_CAS_RETRIES] = SS_EVENT_UNKNOWN;
	}
}

static enum ss_status locks_run(void *opaque, const struct ss_call *call) {
	struct locks_state *s = opaque;
	struct lock_contest contest = locks_arena_contest(&s->arena, s->input);
	if (call->events)
		run_counted(s, &contest, call->events);
	else
		s->team = locks_arena_run(&s->arena, &contest, s->shape.threads);
	return SS_OK;
}

static enum ss_status locks_verify(void *state, const struct ss_call *call) {
	return locks_check(state, call);
}

static struct ss_work locks_work(const struct ss_call *call) {
	return (struct ss_work){.ops = call->problem[N].r, .bytes = 0, .op = "acquisition"};
}

static void locks_teardown(void *opaque) {
	locks_arena_free(&((struct locks_state *)opaque)->arena);
}

static void locks_close(void *input) {
	(void)input;
}

const struct ss_kernel kernel_locks = {
	.abi = SS_KERNEL_ABI,
	.name = "locks",
	.summary = "locks: threads contend for one lock",
	.flags = SS_OPENMP | SS_RACY | SS_TEAM_GIVEN,
	.problem = problem,
	.params = params,
	.unsafe = "lock == 'none'",
	.serial = "lock=none",
	.input_size = sizeof(struct locks_input),
	.state_size = sizeof(struct locks_state),
	.open = locks_open,
	.setup = locks_setup,
	.reset = locks_reset,
	.run = locks_run,
	.verify = locks_verify,
	.work = locks_work,
	.teardown = locks_teardown,
	.close = locks_close,
	.figures = locks_figures,
	.events = events,
};
