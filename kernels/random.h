/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for inputs: the same seed, the same input, on every machine. SplitMix64: Steele, Lea and Flood, "Fast
 * splittable pseudorandom number generators", 2014. */
#ifndef KERNELS_RANDOM_H
#define KERNELS_RANDOM_H
#include <stdint.h>

static inline uint64_t kernel_random_mix(uint64_t z) {
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* The next of a sequence. */
static inline uint64_t kernel_random(uint64_t *state) {
	return kernel_random_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

/* Number `i` of the sequence that begins at the seed, without those before it. */
static inline uint64_t kernel_random_at(uint64_t seed, uint64_t i) {
	return kernel_random_mix(seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Below 2^31 the bias of the product method is under one in 2^33. */
static inline int32_t kernel_random_below(uint64_t *state, uint32_t bound) {
	return (int32_t)((kernel_random(state) >> 32) * bound >> 32);
}
#endif
