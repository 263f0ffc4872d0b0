/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plug-in that exports a software-defined event by itself, as a library does: how often it ran. */
#include <sweetspot/kernel.h>

#include <sde_lib.h>

static long long runs;

__attribute__((constructor)) static void export(void) {
	papi_sde_register_counter(papi_sde_init("solver"), "runs", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &runs);
}

static enum ss_status solver_run(void *state, const struct ss_call *call) {
	(void)state, (void)call;
	runs++;
	return SS_OK;
}

static const struct ss_param problem[] = {{NULL, NULL, SS_INT, NULL, NULL, NULL, 0, 0}};

static const struct ss_kernel solver = {
	.abi = SS_KERNEL_ABI,
	.name = "solver",
	.summary = "counts its runs",
	.flags = SS_OPENMP,
	.problem = problem,
	.params = problem,
	.state_size = 1,
	.run = solver_run,
	.verify = solver_run,
};

SS_PLUGIN(&solver);
