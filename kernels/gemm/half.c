/* SPDX-License-Identifier: BSD-3-Clause */
/* Floats to 16 bits, of numbers that lose nothing by it: no rounding, infinities or subnormal numbers. */
#include <config.h>

#include "kernels/gemm/gemm.h"

uint16_t gemm_narrow(float x, enum gemm_type type) {
	uint32_t word, sign;
	memcpy(&word, &x, sizeof word);
	if (type == GEMM_BF16)
		return (uint16_t)(word >> 16);
	sign = word >> 16 & 0x8000;
	x *= 0x1p-112f;
	memcpy(&word, &x, sizeof word);
	return (uint16_t)(sign | (word >> 13 & 0x7fff));
}

void gemm_narrow_all(uint16_t *to, const float *from, size_t n, enum gemm_type type) {
	for (size_t i = 0; i < n; i++)
		to[i] = gemm_narrow(from[i], type);
}
