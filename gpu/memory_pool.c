/* SPDX-License-Identifier: BSD-3-Clause */
/* Released memory is kept, because the next configuration wants as much as the last. It is freed first when the driver
 * runs out of memory. */
#include <config.h>

#include <stdlib.h>

#include "gpu/impl.h"
#include "src/base/mem.h"

enum { POOL_KEPT = 64 }; /* blocks of each kind that are kept at most */

static struct block *unused_of(struct pool *pool, size_t size, bool pinned) {
	for (size_t i = 0; i < pool->count; i++)
		if (!pool->blocks[i].used && pool->blocks[i].size == size && pool->blocks[i].pinned == pinned)
			return &pool->blocks[i];
	return NULL;
}

static driver_result make(struct gpu *gpu, size_t size, bool pinned, uint64_t *memory) {
	driver_ptr device = 0;
	void *host = NULL;
	driver_result result =
		pinned ? gpu->driver.host_alloc(&host, size, DRIVER_HOST_PORTABLE) : gpu->driver.memory_alloc(&device, size);
	*memory = pinned ? (uintptr_t)host : device;
	return result;
}

static void unmake(struct gpu *gpu, const struct block *block) {
	if (block->pinned)
		GPU_CALL(gpu, host_free, (void *)(uintptr_t)block->memory);
	else
		GPU_CALL(gpu, memory_free, block->memory);
}

static uint64_t pool_add(struct pool *pool, uint64_t memory, size_t size, bool pinned) {
	if (pool->count == pool->room) {
		pool->room = pool->room ? 2 * pool->room : 32;
		pool->blocks = mem_grow(pool->blocks, pool->room, sizeof *pool->blocks);
	}
	pool->blocks[pool->count++] = (struct block){memory, size, pinned, true};
	return memory;
}

uint64_t pool_take(struct gpu *gpu, size_t size, bool pinned) {
	struct block *block = unused_of(&gpu->pool, size, pinned);
	uint64_t memory = 0;
	if (block) {
		block->used = true;
		return block->memory;
	}
	driver_result result = make(gpu, size, pinned, &memory);
	if (result == DRIVER_OUT_OF_MEMORY) {
		pool_drop(gpu);
		result = make(gpu, size, pinned, &memory);
	}
	if (result == DRIVER_OUT_OF_MEMORY)
		gpu_fail(gpu, GPU_NO_MEMORY, "fewer than %zu bytes of %s memory are left", size, pinned ? "pinned" : "GPU");
	else if (gpu_succeeded(gpu, pinned ? "host_alloc" : "memory_alloc", result))
		return pool_add(&gpu->pool, memory, size, pinned);
	return 0;
}

static void block_forget(struct pool *pool, size_t i) {
	pool->blocks[i] = pool->blocks[--pool->count];
}

void pool_drop(struct gpu *gpu) {
	for (size_t i = gpu->pool.count; i-- > 0;)
		if (!gpu->pool.blocks[i].used) {
			unmake(gpu, &gpu->pool.blocks[i]);
			block_forget(&gpu->pool, i);
		}
}

static size_t kept(const struct pool *pool) {
	size_t count = 0;
	for (size_t i = 0; i < pool->count; i++)
		count += !pool->blocks[i].used;
	return count;
}

/* Pending writes must not reach the memory's next owner. */
void pool_give(struct gpu *gpu, uint64_t memory) {
	struct pool *pool = &gpu->pool;
	size_t i = 0;
	while (i < pool->count && !(pool->blocks[i].memory == memory && pool->blocks[i].used))
		i++;
	if (i == pool->count) {
		gpu_fail(gpu, GPU_REFUSED, "released memory was not allocated here");
		return;
	}
	pool->blocks[i].used = false;
	if (!gpu_enter_to_free(gpu) || !GPU_CALL(gpu, context_sync))
		return;
	if (kept(pool) > POOL_KEPT)
		pool_drop(gpu);
}

bool pool_is_pinned(const struct gpu *gpu, const void *memory, size_t size) {
	uintptr_t at = (uintptr_t)memory;
	for (size_t i = 0; i < gpu->pool.count; i++) {
		const struct block *block = &gpu->pool.blocks[i];
		if (block->pinned && at >= block->memory && at - block->memory <= block->size &&
		    size <= block->size - (at - block->memory))
			return true;
	}
	return false;
}

size_t pool_idle(const struct gpu *gpu) {
	size_t bytes = 0;
	for (size_t i = 0; i < gpu->pool.count; i++)
		if (!gpu->pool.blocks[i].used && !gpu->pool.blocks[i].pinned)
			bytes += gpu->pool.blocks[i].size;
	return bytes;
}

void pool_free(struct gpu *gpu) {
	for (size_t i = 0; i < gpu->pool.count && gpu->failure != GPU_BROKEN; i++)
		unmake(gpu, &gpu->pool.blocks[i]);
	free(gpu->pool.blocks);
}
