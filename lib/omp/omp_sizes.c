/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of one region whose amounts of work differ, as the levels of a V-cycle do. How much a call will do is in the
 * numbers that it gets: the bounds of a loop, or what the region shares with its caller. Nobody says which number it
 * is, so all that could be one are watched in a run without changes; the table names one of them later on. */
#include <string.h>

#include "lib/omp/omp_impl.h"

/* Measure 0: iterations of a loop. Then the halves of each word, and the number that each word points to. */
enum { HALVES = 2 * OMP_INPUTS, FIRST_HALF = 1, FIRST_POINTER = FIRST_HALF + HALVES };
_Static_assert(FIRST_POINTER + OMP_INPUTS == OMP_MEASURES, "each measure has a number");

OMP_TLS uintptr_t stack_start, stack_end;

/* The numbers of the call that is being recorded; there is one at a time. */
static struct {
	bool is_known[OMP_MEASURES];
	int64_t value[OMP_MEASURES];
} now;

static void stack_find(void) {
	pthread_attr_t attributes;
	void *start;
	size_t length;
	stack_end = 1;
	if (pthread_getattr_np(pthread_self(), &attributes))
		return;
	if (pthread_attr_getstack(&attributes, &start, &length) == 0) {
		stack_start = (uintptr_t)start;
		stack_end = stack_start + length;
	}
	pthread_attr_destroy(&attributes);
}

/* Callers' frames lie between this one and the end; a program may also run on a stack that it made itself, whose end
 * nobody knows. */
static bool is_on_stack(uintptr_t address, size_t size) {
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	if (!stack_end)
		stack_find();
	return frame >= stack_start && frame < stack_end && address >= frame && address < stack_end &&
	       stack_end - address >= size;
}

/* Memory that can be read for certain: the stack, and the variables of the program that the region is in. */
static bool is_readable(const struct omp_slot *slot, uintptr_t address, size_t size) {
	if (address % size)
		return false;
	return is_on_stack(address, size) ||
	       (address >= slot->data && address < slot->data_end && slot->data_end - address >= size);
}

/* Two numbers in one word look like an address only if the second is between 20,480 and 32,767. */
static bool is_address(uint64_t word) {
	return word >> 44 == 5 || word >> 44 == 7;
}

static bool size_read(const struct omp_slot *slot, const struct omp_inputs *inputs, unsigned measure, int64_t *size) {
	uint64_t word;
	int32_t half;
	if (measure == 0) {
		*size = inputs->trips;
		return *size > 0;
	}
	unsigned number = measure < FIRST_POINTER ? (measure - FIRST_HALF) / 2 : measure - FIRST_POINTER;
	uintptr_t at = (uintptr_t)inputs->words + sizeof word * number;
	if (!inputs->words || number >= inputs->count || !is_on_stack(at, sizeof word))
		return false;
	memcpy(&word, (const void *)at, sizeof word);
	if (measure >= FIRST_POINTER) {
		if (!is_readable(slot, (uintptr_t)word, sizeof half))
			return false;
		memcpy(&half, (const void *)(uintptr_t)word, sizeof half);
	} else {
		if (is_address(word))
			return false;
		half = (int32_t)(uint32_t)(word >> (32 * ((measure - FIRST_HALF) % 2)));
	}
	*size = half;
	return half > 0;
}

unsigned omp_size_class(const struct omp_slot *slot, const struct omp_inputs *inputs) {
	const struct omp_sizes *sizes = slot->sizes;
	int64_t size;
	uint32_t i = sizes->count - 1;
	if (size_read(slot, inputs, sizes->measure, &size))
		for (i = 0; i + 1 < sizes->count && size > sizes->upto[i]; i++)
			;
	return sizes->numbers[i];
}

void omp_sizes_look(const struct omp_slot *slot, const struct omp_inputs *inputs) {
	for (unsigned i = 0; slot->seen && i < OMP_MEASURES; i++)
		now.is_known[i] = slot->seen[i].count <= OMP_VALUES && size_read(slot, inputs, i, &now.value[i]);
}

static void seen_add(struct omp_seen *seen, int64_t value, uint64_t ns) {
	uint32_t i = 0;
	while (i < seen->count && seen->values[i].value != value)
		i++;
	if (i == OMP_VALUES) {
		seen->count = OMP_VALUES + 1;
		return;
	}
	if (i == seen->count)
		seen->values[seen->count++].value = value;
	seen->values[i].calls++;
	seen->values[i].ns += ns;
}

void omp_sizes_learn(const struct omp_slot *slot, uint64_t ns) {
	for (unsigned i = 0; slot->seen && i < OMP_MEASURES; i++)
		if (now.is_known[i] && slot->seen[i].count <= OMP_VALUES)
			seen_add(&slot->seen[i], now.value[i], ns);
}
