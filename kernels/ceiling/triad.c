/* SPDX-License-Identifier: BSD-3-Clause */
/* STREAM's triad, a = b + s c over doubles; bytes are counted as in copy.c. */
#include "kernels/ceiling/ceiling.h"

static void triad_fill(const struct ceiling_job *job, int thread) {
	double *a = ceiling_array(job, thread, 0), *b = ceiling_array(job, thread, 1), *c = ceiling_array(job, thread, 2);
	for (size_t i = 0; i < job->size / sizeof *a; i++) {
		a[i] = 0;
		b[i] = ceiling_real(thread, 1, i);
		c[i] = ceiling_real(thread, 2, i);
	}
}

static void triad_part(const struct ceiling_job *job, int thread) {
	double *a = ceiling_array(job, thread, 0), *b = ceiling_array(job, thread, 1), *c = ceiling_array(job, thread, 2);
	for (size_t pass = 0; pass < job->passes; pass++)
		job->isa->triad[job->stream](a, b, c, CEILING_FACTOR, job->size);
}

static bool triad_right(const struct ceiling_job *job, int thread) {
	const double *a = ceiling_array(job, thread, 0);
	size_t i = 0, count = job->size / sizeof *a;
	while (i < count && a[i] == ceiling_oracle_triad(thread, i))
		i++;
	return i == count;
}

const struct ceiling ceiling_triad = {
	.name = "triad",
	.op = "byte",
	.rate = &ceiling_bandwidth,
	.n_max = INT64_C(1) << 36,
	.arrays = 3,
	.ops = ceiling_bytes,
	.fill = triad_fill,
	.part = triad_part,
	.right = triad_right,
};
