/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is left of a device's memory, for tests of leaks. */
#ifndef TESTS_GPU_MEMORY_H
#define TESTS_GPU_MEMORY_H
#include "gpu/backend.h"

/* Bytes of device memory that are kept for reuse. */
static size_t pool_idle(const struct gpu *gpu) {
	size_t bytes = 0;
	for (size_t i = 0; i < gpu->pool.count; i++)
		if (!gpu->pool.blocks[i].used && !gpu->pool.blocks[i].pinned)
			bytes += gpu->pool.blocks[i].size;
	return bytes;
}

/* Bytes that are available now. */
static inline size_t gpu_memory_free(struct gpu *gpu) {
	size_t unused = 0, total = 0;
	if (!gpu_enter(gpu) || !GPU_CALL(gpu, memory_info, &unused, &total))
		return 0;
	return unused + pool_idle(gpu);
}

#endif
