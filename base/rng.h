/* SPDX-License-Identifier: BSD-3-Clause */
/* Seeded random numbers: xoshiro256** (Blackman and Vigna 2021), seeded through splitmix64. The same seed gives the
 * same sequence on every machine. */
#ifndef BASE_RNG_H
#define BASE_RNG_H
#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
/* An independent stream: same seed, another purpose. */
void rng_split(struct rng *rng, uint64_t seed, const char *purpose);
uint64_t rng_u64(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t bound); /* uniform in [0, bound), without bias; bound > 0 */
double rng_unit(struct rng *rng);                    /* uniform in [0, 1) */
double rng_normal(struct rng *rng);                  /* mean 0, deviation 1 */
void rng_shuffle(struct rng *rng, void *items, size_t count, size_t size);
#endif
