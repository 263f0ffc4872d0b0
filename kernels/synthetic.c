/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel with a known optimum, for tests, and the template to copy. Its cost is a formula:
 *     steps = n * (100 + bump[variant] + 2 (x - best_x[variant])^2 + 5 (log2 y - 4)^2) * (100 + extra) / 100
 * so variant=b x=10 y=16 extra=0 is the fastest, with 100 n steps. A step is one turn of a linear congruential
 * generator (Knuth's MMIX): each waits for the one before, so that time follows their number, and k of them have a
 * closed form, so that results are verified exactly (Brown, "Random number generation with arbitrary strides", 1994).
 */
#include <omp.h>
#include <stdio.h>

#include "kernels/kernel.h"

enum { PIECES = 240 /* divides evenly over most teams */ };
#define MULTIPLIER UINT64_C(6364136223846793005)
#define INCREMENT  UINT64_C(1442695040888963407)

static uint64_t steps_in(const struct ss_call *call, uint64_t piece) {
	static const int64_t bump[] = {15, 0, 30}, best_x[] = {3, 10, 7};
	int64_t variant = call->config[0].i, x = call->config[1].i - best_x[variant], y = -4;
	for (int64_t rest = call->config[2].i; rest > 1; rest /= 2)
		y++;
	uint64_t weight = (uint64_t)(100 + bump[variant] + 2 * x * x + 5 * y * y);
	uint64_t steps = (uint64_t)call->problem[0].i * weight * (uint64_t)(100 + call->config[3].i) / 100;
	return piece == PIECES ? steps : steps * (piece + 1) / PIECES - steps * piece / PIECES;
}
static enum ss_status synthetic_open(void *input, const struct ss_call *call) {
	return (void)input, (void)call, SS_OK;
}
static enum ss_status synthetic_setup(void *state, void *input, const struct ss_call *call) {
	return (void)state, (void)input, (void)call, SS_OK; /* here: allocate, and touch memory first in parallel */
}
/* Counting stays out of the inner loop. */
static void count(const struct ss_call *call, uint64_t piece) {
	if (call->events)
		call->events[omp_get_thread_num() * SS_EVENTS_MAX] += (int64_t)steps_in(call, piece);
}
static enum ss_status synthetic_run(void *state, const struct ss_call *call) {
	uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
	for (uint64_t piece = 0; piece < PIECES; piece++) {
		uint64_t value = call->seed + piece;
		for (uint64_t left = steps_in(call, piece); left > 0; left--)
			value = value * MULTIPLIER + INCREMENT;
		sum += value;
		count(call, piece);
	}
	*(uint64_t *)state = sum;
	return SS_OK;
}
/* Two steps in one are a step with another multiplier and increment: `count` of them by repeated squaring. */
static uint64_t jump(uint64_t value, uint64_t count) {
	for (uint64_t a = MULTIPLIER, c = INCREMENT; count > 0; count /= 2, c *= a + 1, a *= a)
		if (count % 2)
			value = value * a + c;
	return value;
}
static enum ss_status synthetic_verify(void *state, const struct ss_call *call) {
	uint64_t sum = 0, found = *(uint64_t *)state;
	for (uint64_t piece = 0; piece < PIECES; piece++)
		sum += jump(call->seed + piece, steps_in(call, piece));
	if (sum != found)
		snprintf(call->message, call->message_size, "sum is %#jx, should be %#jx", (uintmax_t)found, (uintmax_t)sum);
	return sum == found ? SS_OK : SS_INCORRECT;
}
static struct ss_work synthetic_work(const struct ss_call *call) {
	return (struct ss_work){.ops = (double)steps_in(call, PIECES), .op = "step"};
}
static void synthetic_teardown(void *state) {
	(void)state;
}
static void synthetic_close(void *input) {
	(void)input;
}

static const struct ss_param problem[] = {{"n", "scales the work, in per cent", SS_INT, NULL, "8000", NULL, 1, 1e8},
                                          {.name = NULL}};
static const struct ss_param params[] = {
	{"variant", "shifts the optimum", SS_WORD, "a,b,c", "a", NULL, 0, 0},
	{"x", "a quadratic cost", SS_INT, "0..15", "0", NULL, 0, 15},
	{"y", "a quadratic cost of its logarithm", SS_INT, "1..256*2", "1", NULL, 1, 256},
	{"extra", "added work in percent, to be set by hand", SS_INT, "0", "0", NULL, 0, 100},
	{.name = NULL}};
static const struct ss_event events[] = {{"steps", "turns of the generator"}, {.name = NULL}};
const struct ss_kernel kernel_synthetic = {.abi = SS_KERNEL_ABI,
                                           .name = "synthetic",
                                           .summary = "an analytic cost with a known optimum",
                                           .flags = SS_OPENMP,
                                           .problem = problem,
                                           .params = params,
                                           .input_size = 1,
                                           .state_size = sizeof(uint64_t),
                                           .open = synthetic_open,
                                           .setup = synthetic_setup,
                                           .run = synthetic_run,
                                           .verify = synthetic_verify,
                                           .work = synthetic_work,
                                           .teardown = synthetic_teardown,
                                           .close = synthetic_close,
                                           .events = events};
