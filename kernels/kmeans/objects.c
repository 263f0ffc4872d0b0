/* SPDX-License-Identifier: BSD-3-Clause */
/* The input: coordinates uniform on the grid, each a hash of its number, so that any thread can fill in any part. */
#include <config.h>

#include "kernels/random.h"
#include "kernels/kmeans/kmeans.h"

/* The main thread makes them, because a program that reads its objects from a file has them there, too. */
void kmeans_objects_fill(struct kmeans_input *input, uint64_t seed) {
	for (size_t v = 0; v < input->n * input->coords; v++)
		input->objects[v] =
			(double)(kernel_random_at(seed, v) >> (64 - KMEANS_OBJECT_BITS)) / (double)(1 << KMEANS_OBJECT_BITS);
}
