/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <stdlib.h>

#include "kernels/lists/lists.h"

/* n of the range, each subset as likely (Knuth, "The Art of Computer Programming" 3.4.2, algorithm S). */
static void choose(const struct lists_input *input) {
	size_t chosen = 0, left = (size_t)input->range;
	for (int32_t key = 0; chosen < input->n; key++, left--) {
		uint64_t hash = kernel_random_at(~input->seed, (uint64_t)key) >> 32;
		if (hash * left >> 32 < input->n - chosen)
			input->keys[chosen++] = key;
	}
}

/* Knuth 3.4.2, algorithm P. */
static void shuffle(const struct lists_input *input) {
	for (size_t i = input->n; i > 1; i--) {
		size_t j = (size_t)((kernel_random_at(input->seed ^ UINT32_MAX, i) >> 32) * i >> 32);
		uint32_t other = input->slot[j];
		input->slot[j] = input->slot[i - 1];
		input->slot[i - 1] = other;
	}
}

enum ss_status lists_input_new(struct lists_input *input, bool shuffled) {
	input->keys = calloc(input->n + 1, sizeof *input->keys);
	input->slot = calloc(input->n + 1, sizeof *input->slot);
	if (!input->keys || !input->slot)
		return SS_NOMEM;
	choose(input);
	for (size_t i = 0; i < input->n; i++)
		input->slot[i] = (uint32_t)i;
	if (shuffled)
		shuffle(input);
	return SS_OK;
}

void lists_input_free(struct lists_input *input) {
	free(input->keys);
	free(input->slot);
}
