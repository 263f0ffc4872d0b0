/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plug-in for the guest of `guest`: thread t runs the guest's loop (t + 1) * n times. */
#include <sweetspot/kernel.h>

#include <omp.h>

#include "guest_loop.h"

enum { THREADS_MAX = 64 };

struct state {
	int64_t left[THREADS_MAX][8]; /* a line of its own each */
};

static enum ss_status stairs_setup(void *memory, void *input, const struct ss_call *call) {
	(void)memory;
	(void)input;
	return call->threads <= THREADS_MAX ? SS_OK : SS_INVALID;
}

static enum ss_status stairs_run(void *memory, const struct ss_call *call) {
	struct state *state = memory;
#pragma omp parallel
	{
		int t = omp_get_thread_num();
		state->left[t][0] = 1;
		state->left[t][0] = guest_loop((t + 1) * (long)call->problem[0].i);
	}
	return SS_OK;
}

static enum ss_status stairs_verify(void *memory, const struct ss_call *call) {
	const struct state *state = memory;
	for (int t = 0; t < call->threads; t++)
		if (state->left[t][0] != 0)
			return SS_INCORRECT;
	return SS_OK;
}

static const struct ss_param problem[] = {
	{"n", "turns of the loop in thread 0", SS_INT, NULL, "1000000", NULL, 1, 1e9},
	{.name = NULL},
};

static const struct ss_param params[] = {{.name = NULL}};

static const struct ss_kernel stairs = {
	.abi = SS_KERNEL_ABI,
	.name = "stairs",
	.summary = "threads with a known number of instructions",
	.flags = SS_OPENMP,
	.problem = problem,
	.params = params,
	.state_size = sizeof(struct state),
	.setup = stairs_setup,
	.run = stairs_run,
	.verify = stairs_verify,
};

SS_PLUGIN(&stairs);
