/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations in streams, and their execution. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/gpu/emulator/memory.h"
#include "tests/gpu/emulator/stream_impl.h"

struct op *op_copy(const struct op *op) {
	struct op *copy = malloc(sizeof *copy);
	if (copy) {
		*copy = *op;
		copy->next = NULL;
	}
	return copy;
}

void op_free(struct op *op) {
	if (op->kind == OP_COPY)
		free(op->copy.staged);
	if (op->kind == OP_LAUNCH)
		free(op->launch.arguments);
	free(op);
}

void *launch_copy(const struct launch *launch, void *const *arguments) {
	unsigned count = launch->kernel->count;
	size_t bytes = (count + 1) * sizeof(void *);
	for (unsigned i = 0; i < count; i++)
		bytes += (launch->kernel->sizes[i] + 15) / 16 * 16 + 16;
	void **copy = aligned_alloc(16, (bytes + 15) / 16 * 16);
	char *at = (char *)copy + ((count + 1) * sizeof(void *) + 15) / 16 * 16;
	for (unsigned i = 0; copy && i < count; i++) {
		copy[i] = memcpy(at, arguments[i], launch->kernel->sizes[i]);
		at += (launch->kernel->sizes[i] + 15) / 16 * 16;
	}
	return copy;
}

static void fill(const struct op *op) {
	for (size_t i = 0; i < op->fill.count; i++)
		memcpy(op->fill.to + i * op->fill.each, &op->fill.value, op->fill.each);
}

/* A graph may be launched after its memory has gone. */
static bool gone(const char *memory, size_t size) {
	return !memory_holds((uintptr_t)memory, size);
}

static CUresult copy_rows(const struct op *op) {
	size_t last = op->copy.rows - 1, width = op->copy.width;
	if ((op->copy.to_device && gone(op->copy.to, last * op->copy.to_pitch + width)) ||
	    (op->copy.from_device && gone(op->copy.from, last * op->copy.from_pitch + width)))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (size_t row = 0; row < op->copy.rows; row++)
		memmove(op->copy.to + row * op->copy.to_pitch, op->copy.from + row * op->copy.from_pitch, width);
	return CUDA_SUCCESS;
}

static double now(void) {
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static CUresult launch_checked(const struct op *op) {
	CUresult result = launch_run(&op->launch);
	return result == CUDA_SUCCESS && !memory_whole() ? CUDA_ERROR_ILLEGAL_ADDRESS : result;
}

CUresult op_run(const struct op *op) {
	switch (op->kind) {
	case OP_COPY:
		return copy_rows(op);
	case OP_FILL:
		if (gone(op->fill.to, op->fill.count * op->fill.each))
			return CUDA_ERROR_ILLEGAL_ADDRESS;
		fill(op);
		return CUDA_SUCCESS;
	case OP_LAUNCH:
		return launch_checked(op);
	case OP_RECORD:
		op->event->done = op->ticket;
		op->event->seconds = now();
		return CUDA_SUCCESS;
	case OP_WAIT:
		return stream_finish_until(op->stream, op->event, op->ticket);
	}
	return CUDA_ERROR_INVALID_VALUE;
}
