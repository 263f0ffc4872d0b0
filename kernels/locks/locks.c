/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table. */
#include "kernels/locks/locks.h"

#include <stdio.h>

#include "kernels/locks/registry.h"

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
