/* SPDX-License-Identifier: BSD-3-Clause */
/* The input: coordinates uniform on the grid, each a hash of its number, so that any thread can fill in any part. */
#include <config.h>

#include "kernels/kmeans/kmeans.h"

/* splitmix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014 */
static uint64_t hash(uint64_t seed, uint64_t number) {
	uint64_t z = seed + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* By the main thread: that is where a program that reads its objects from a file has them. */
void kmeans_objects_fill(struct kmeans_input *input, uint64_t seed) {
	for (size_t v = 0; v < input->n * input->coords; v++)
		input->objects[v] =
			(double)(hash(seed, v) >> (64 - KMEANS_OBJECT_BITS)) / (double)(1 << KMEANS_OBJECT_BITS);
}
