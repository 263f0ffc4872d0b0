/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/rng.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

static uint64_t splitmix(uint64_t *state) {
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int bits) {
	return x << bits | x >> (64 - bits);
}

void rng_seed(struct rng *rng, uint64_t seed) {
	for (int i = 0; i < 4; i++)
		rng->s[i] = splitmix(&seed);
}

void rng_split(struct rng *rng, uint64_t seed, const char *purpose) {
	uint64_t hash = hash_text(purpose);
	rng_seed(rng, splitmix(&seed) ^ splitmix(&hash));
}

static inline uint64_t next(struct rng *rng) {
	uint64_t *s = rng->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

uint64_t rng_u64(struct rng *rng) {
	return next(rng);
}

static inline uint64_t below(struct rng *rng, uint64_t bound) {
	uint64_t r = next(rng);
	if (r < bound) {                      /* rare: the division is only necessary here */
		uint64_t uneven = -bound % bound; /* 2^64 modulo bound: that many values would come up once too often */
		while (r < uneven)
			r = next(rng);
	}
	return r % bound;
}

uint64_t rng_below(struct rng *rng, uint64_t bound) {
	return below(rng, bound);
}

double rng_unit(struct rng *rng) {
	return (double)(next(rng) >> 11) * 0x1p-53;
}

/* The polar method (Marsaglia and Bray 1964). The second number of the pair is dropped, so that the seed is the only
 * state. */
double rng_normal(struct rng *rng) {
	double u, v, s;
	do {
		u = 2 * rng_unit(rng) - 1;
		v = 2 * rng_unit(rng) - 1;
		s = u * u + v * v;
	} while (s >= 1 || s == 0);
	return u * sqrt(-2 * log(s) / s);
}

static inline void swap(char *a, char *b, size_t size) {
	char kept[64];
	for (size_t part; size; size -= part, a += part, b += part) {
		part = size < sizeof(kept) ? size : sizeof(kept);
		memcpy(kept, a, part);
		memcpy(a, b, part);
		memcpy(b, kept, part);
	}
}

/* Fisher and Yates, from the end (Durstenfeld 1964) */
static inline void shuffle(struct rng *rng, char *item, size_t count, size_t size) {
	for (size_t i = count; i > 1; i--) {
		size_t j = below(rng, i);
		if (j != i - 1)
			swap(item + j * size, item + (i - 1) * size, size);
	}
}

/* Permutation tests spend much of their time here, with doubles: a size that is known saves two calls for each. */
void rng_shuffle(struct rng *rng, void *items, size_t count, size_t size) {
	if (size == sizeof(double))
		shuffle(rng, items, count, sizeof(double));
	else
		shuffle(rng, items, count, size);
}
