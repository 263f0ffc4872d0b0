/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns a call into a job, and holds the code that the ceilings share. */
#include <config.h>
#include <string.h>

#include "kernels/fail.h"
#include "kernels/ceiling/ceiling.h"

enum { PROBLEM_WHAT, PROBLEM_N, PROBLEM_FROM, PROBLEM_TO };
enum { PARAM_ISA, PARAM_STORES };

/* The order is that of the words of `what`. */
static const struct ceiling *const ceilings[] = {
	&ceiling_read,     &ceiling_copy,      &ceiling_triad,   &ceiling_fp32,      &ceiling_fp64, &ceiling_addmin,
	&ceiling_handover, &ceiling_fork_join, &ceiling_barrier, &ceiling_reduction, &ceiling_task,
};
enum { CEILINGS = sizeof ceilings / sizeof *ceilings };

const struct ceiling_rate ceiling_bandwidth = {"bandwidth", "GB/s", 1e-9, false};
const struct ceiling_rate ceiling_flops = {"rate", "GFLOP/s", 1e-9, false};
const struct ceiling_rate ceiling_pairs = {"rate", "Gpair/s", 1e-9, false};
const struct ceiling_rate ceiling_latency = {"latency", "ns", 1e9, true};
const struct ceiling_rate ceiling_cost = {"cost", "us", 1e6, true};

/* The named one of the table's entries behind "best", which is the first that is usable; NULL if there is none. */
static const struct ceiling_isa *isa_find(int64_t word) {
	static const char *const names[] = {NULL, "avx512", "avx2", "sse41", "generic"};
	const char *name = names[word];
	for (const struct ceiling_isa *isa = ceiling_isas; isa->name; isa++)
		if (isa->usable() && (!name || strcmp(isa->name, name) == 0))
			return isa;
	return NULL;
}

static size_t whole_units(int64_t bytes) {
	return ((size_t)bytes + CEILING_UNIT - 1) / CEILING_UNIT * CEILING_UNIT;
}

static void sizes_set(struct ceiling_job *job) {
	int arrays = job->ceiling->arrays;
	if (arrays == 0)
		return;
	job->size = whole_units((job->n + arrays - 1) / arrays);
	job->passes = CEILING_PASS_BYTES / ((size_t)arrays * job->size);
	job->passes += job->passes == 0;
}

enum ss_status ceiling_job_read(struct ceiling_job *job, const struct ss_call *call) {
	int64_t what = call->problem[PROBLEM_WHAT].i, isa = call->config[PARAM_ISA].i;
	*job = (struct ceiling_job){.n = call->problem[PROBLEM_N].i, .threads = call->threads};
	if (what < 0 || what >= CEILINGS || isa < 0 || isa > 4)
		return kernel_fail(call, SS_INVALID, "no such ceiling or instruction set");
	job->ceiling = ceilings[what];
	job->isa = isa_find(isa);
	job->stream = call->config[PARAM_STORES].i == 1;
	job->from = (int)call->problem[PROBLEM_FROM].i;
	job->to = (int)call->problem[PROBLEM_TO].i;
	if (!job->isa)
		return kernel_fail(call, SS_INVALID, "this processor, or this build, does not support that instruction set");
	if (job->stream && job->ceiling->arrays > 1 && !job->isa->copy[1])
		return kernel_fail(call, SS_INVALID, "%s cannot store past the caches here", job->isa->name);
	sizes_set(job);
	return SS_OK;
}

double ceiling_repetitions(const struct ceiling_job *job) {
	return (double)job->n;
}

double ceiling_bytes(const struct ceiling_job *job) {
	return (double)job->threads * (double)job->passes * (double)job->ceiling->arrays * (double)job->size;
}
