/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plug-ins with one thing wrong, chosen by -DBAD_..., and one with nothing wrong. FACTOR is what its kernel adds up. */
#include <sweetspot/kernel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ABI
#define ABI SS_KERNEL_ABI
#endif
#ifndef KERNEL_ABI
#define KERNEL_ABI ABI
#endif
#ifndef NAME
#define NAME "sum"
#endif
#ifndef NAME2
#define NAME2 "sum2"
#endif
#ifndef FLAGS
#define FLAGS 0
#endif
#ifdef UNDEFINED
enum ss_status nowhere(void *memory, const struct ss_call *call);
#define RUN nowhere
#endif
#ifndef RUN
#define RUN sum_run
#endif
#ifndef VERIFY
#define VERIFY sum_verify
#endif
#ifndef SIZE
#define SIZE sizeof(struct state)
#endif
#ifndef SUMMARY
#define SUMMARY "adds numbers"
#endif
#ifndef FACTOR
#define FACTOR 1
#endif
#ifndef PARAM
#define PARAM                                                                                                          \
	{ "step", "numbers at once", SS_INT, "1..4", "1", NULL, 1, 4 }
#endif
#ifndef PARAM2
#define PARAM2                                                                                                         \
	{ "fault", "what goes wrong", SS_WORD, "none,crash,wrong", "none", NULL, 0, 0 }
#endif
#ifndef EVENT
#define EVENT                                                                                                          \
	{ "numbers", "numbers that were added" }
#endif
#ifndef EVENT2
#define EVENT2                                                                                                         \
	{ .name = NULL }
#endif
#ifndef CONSTRAINT
#define CONSTRAINT "step > 0"
#endif

struct state {
	long sum;
};

static enum ss_status sum_run(void *memory, const struct ss_call *call) {
	struct state *state = memory;
	if (strcmp(call->config[1].w, "crash") == 0)
		raise(11);
	/* A small step adds up again and again, so that a large one is soon known to be faster. */
	for (int64_t again = call->config[0].i; again <= 4; again++) {
		state->sum = 0;
		for (int i = 0; i < 1000; i += (int)call->config[0].i)
			for (int k = i; k < i + (int)call->config[0].i && k < 1000; k++)
				state->sum += FACTOR * k;
	}
	if (call->events)
		call->events[0] += 1000;
	return SS_OK;
}

/* The message tells which of two libraries it is in. */
static enum ss_status sum_verify(void *memory, const struct ss_call *call) {
	const struct state *state = memory;
	if (state->sum == FACTOR * 499500 && strcmp(call->config[1].w, "wrong") != 0)
		return SS_OK;
	snprintf(call->message, call->message_size, "factor %d", FACTOR);
	return SS_INCORRECT;
}

static const struct ss_param params[] = {PARAM, PARAM2, {.name = NULL}};
static const char *const constraints[] = {CONSTRAINT, NULL};
static const struct ss_event events[] = {EVENT, EVENT2, {.name = NULL}};

#define KERNEL(word)                                                                                                   \
	{                                                                                                                  \
		.abi = KERNEL_ABI, .name = word, .summary = SUMMARY, .flags = FLAGS, .params = params,                         \
		.constraints = constraints, .state_size = SIZE, .run = RUN, .verify = VERIFY, .events = events                 \
	}
static const struct ss_kernel first = KERNEL(NAME), second = KERNEL(NAME2);
static const struct ss_kernel *const kernels[] = {
#ifndef NO_KERNELS
	&first,
#endif
#ifdef TWO
	&second,
#endif
#ifdef MANY
	&first,  &first, &first, &first, &first, &first, &first, &first, &first, &first, &first, &first, &first, &first,
#endif
	NULL};

#ifndef NO_SYMBOL
extern const struct ss_plugin sweetspot_plugin;
const struct ss_plugin sweetspot_plugin = {ABI,
#ifdef NO_TABLE
                                           NULL
#else
                                           kernels
#endif
};
#endif

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void at_load(void) {
	CONSTRUCTOR;
}
#endif
const void *const keep[] = {kernels, &first, &second};
