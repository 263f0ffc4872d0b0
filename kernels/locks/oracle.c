/* SPDX-License-Identifier: BSD-3-Clause */
/* A step is x -> a x + c; two of them are one of the same form, so `units` steps are found by squaring (Brown: Random
 * Number Generation with Arbitrary Strides, 1994). */
#include "kernels/locks/locks.h"

uint64_t locks_oracle(uint64_t sum, uint64_t units) {
	uint64_t factor = LOCK_WORK_FACTOR, term = LOCK_WORK_TERM;
	for (; units > 0; units >>= 1) {
		if (units & 1)
			sum = factor * sum + term;
		term *= factor + 1;
		factor *= factor;
	}
	return sum;
}
