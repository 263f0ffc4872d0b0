/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps fresh pages for every job, so that the threads that fill them place them; large ones if the system has them. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/pages.h"
#include "kernels/fail.h"
#include "kernels/ceiling/ceiling.h"

enum { PAGE = 4096, LARGE_PAGE = 2 << 20 };

static size_t round_up(size_t size, size_t unit) {
	return (size + unit - 1) / unit * unit;
}

static double memory_total(void) {
	return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Sets of a few pages lie one behind the other: at multiples of a large page they would all be in the same lines of a
 * shared cache. */
static enum ss_status arrays_new(struct ceiling_job *job) {
	size_t set = (size_t)job->ceiling->arrays * job->size;
	job->stride = round_up(set, set < LARGE_PAGE ? PAGE : LARGE_PAGE);
	job->mapped = (size_t)job->threads * job->stride + LARGE_PAGE;
	void *base = kernel_pages_new(job->mapped);
	if (!base)
		return SS_NOMEM;
	job->base = base;
	job->memory = job->base + (LARGE_PAGE - (uintptr_t)base % LARGE_PAGE) % LARGE_PAGE;
#ifdef MADV_HUGEPAGE
	madvise(job->memory, job->mapped - (size_t)(job->memory - job->base), MADV_HUGEPAGE);
#endif
	return SS_OK;
}

enum ss_status ceiling_memory_new(struct ceiling_job *job, const struct ss_call *call) {
	double wanted = (double)job->threads * (double)job->ceiling->arrays * (double)job->size;
	if (wanted > memory_total() / 2)
		return kernel_fail(call, SS_INVALID, "%d times %lld bytes are more than half of the memory here", job->threads,
		                   (long long)job->n);
	size_t size = (size_t)job->threads * sizeof *job->slots;
	job->slots = aligned_alloc(CEILING_LINE, size);
	if (!job->slots)
		return SS_NOMEM;
	memset(job->slots, 0, size);
	return job->ceiling->arrays ? arrays_new(job) : SS_OK;
}

void ceiling_memory_free(struct ceiling_job *job) {
	kernel_pages_free(job->base, job->mapped);
	free(job->slots);
}
