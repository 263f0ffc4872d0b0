/* SPDX-License-Identifier: BSD-3-Clause */
/* When a device worked: kernels and copies of several streams overlap, so times are those of their union. */
#include <config.h>

#include <string.h>

#include "worker/gpu/work.h"

struct sweep {
	uint64_t busy_ns, kernels_ns, until_ns, kernels_until_ns;
	size_t last; /* the span that ends at until_ns */
};

/* Keeps the longest, sorted. Returns how many there are now. */
static size_t gap_keep(struct gpu_gap *gaps, size_t count, size_t most, const struct gpu_gap *gap) {
	size_t at = count;
	while (at > 0 && gaps[at - 1].ns < gap->ns)
		at--;
	if (at == most)
		return count;
	count += count < most;
	memmove(&gaps[at + 1], &gaps[at], (count - at - 1) * sizeof *gaps);
	gaps[at] = *gap;
	return count;
}

/* The part of the span that lies after `until`. */
static uint64_t beyond(const struct cuda_span *span, uint64_t *until) {
	uint64_t from = span->start_ns > *until ? span->start_ns : *until;
	uint64_t ns = span->end_ns > from ? span->end_ns - from : 0;
	*until = span->end_ns > *until ? span->end_ns : *until;
	return ns;
}

size_t gpu_busy_find(const struct cuda_span *spans, size_t count, struct gpu_busy *busy, struct gpu_gap *gaps,
                     size_t most) {
	struct sweep sweep = {.busy_ns = 0};
	size_t found = 0;
	for (size_t i = 0; i < count; i++) {
		const struct cuda_span *span = &spans[i];
		if (i > 0 && span->start_ns > sweep.until_ns) {
			const struct gpu_gap gap = {span->start_ns - sweep.until_ns, sweep.until_ns, sweep.last, i};
			found = gap_keep(gaps, found, most, &gap);
		}
		if (span->function >= CUDA_WAYS)
			sweep.kernels_ns += beyond(span, &sweep.kernels_until_ns);
		sweep.last = span->end_ns >= sweep.until_ns ? i : sweep.last;
		sweep.busy_ns += beyond(span, &sweep.until_ns);
	}
	*busy = (struct gpu_busy){.busy_s = 1e-9 * (double)sweep.busy_ns, .kernels_s = 1e-9 * (double)sweep.kernels_ns};
	if (count > 0)
		busy->span_s = 1e-9 * (double)(sweep.until_ns - spans[0].start_ns);
	return found;
}
