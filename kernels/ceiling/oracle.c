/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "kernels/ceiling/ceiling.h"

/* 0 + 1 + .. is a triangle's number; one of the factors is even. */
uint64_t ceiling_oracle_sum(int thread, size_t words, size_t passes) {
	uint64_t count = words, triangle = count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
	return passes * (count * (uint64_t)thread + triangle);
}

double ceiling_oracle_triad(int thread, size_t i) {
	int64_t low = (int64_t)(i % 1021);
	return (double)(thread + 1 + low + 3 * (thread + 2 + low));
}

int64_t ceiling_oracle_chain(int64_t chain, int64_t steps, int64_t limit) {
	return chain + steps < limit ? chain + steps : limit;
}

bool ceiling_oracle_counts(const struct ceiling_job *job, uint64_t wanted) {
	uint64_t count = 0;
	for (int thread = 0; thread < job->threads; thread++)
		count += job->slots[thread].sum;
	return count == wanted;
}
