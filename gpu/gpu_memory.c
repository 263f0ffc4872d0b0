/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/mem.h"
#include "gpu/backend.h"

/* Released memory is kept, because the next configuration wants as much as the last. It is freed first when the driver
 * runs out of memory. */

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
	pool->blocks = mem_room(pool->blocks, pool->count, &pool->room, sizeof *pool->blocks);
	pool->blocks[pool->count++] = (struct block){memory, size, pinned, true};
	return memory;
}

static void block_forget(struct pool *pool, size_t i) {
	pool->blocks[i] = pool->blocks[--pool->count];
}

/* Returns unused memory to the driver. */
static void pool_drop(struct gpu *gpu) {
	for (size_t i = gpu->pool.count; i-- > 0;)
		if (!gpu->pool.blocks[i].used) {
			unmake(gpu, &gpu->pool.blocks[i]);
			block_forget(&gpu->pool, i);
		}
}

static uint64_t pool_take(struct gpu *gpu, size_t size, bool pinned) {
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

static size_t kept(const struct pool *pool) {
	size_t count = 0;
	for (size_t i = 0; i < pool->count; i++)
		count += !pool->blocks[i].used;
	return count;
}

/* Pending writes must not reach the memory's next owner. */
static void pool_give(struct gpu *gpu, uint64_t memory) {
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

static bool pool_is_pinned(const struct gpu *gpu, const void *memory, size_t size) {
	uintptr_t at = (uintptr_t)memory;
	for (size_t i = 0; i < gpu->pool.count; i++) {
		const struct block *block = &gpu->pool.blocks[i];
		if (block->pinned && at >= block->memory && at - block->memory <= block->size &&
		    size <= block->size - (at - block->memory))
			return true;
	}
	return false;
}

void pool_free(struct gpu *gpu) {
	for (size_t i = 0; i < gpu->pool.count && gpu->failure != GPU_BROKEN; i++)
		unmake(gpu, &gpu->pool.blocks[i]);
	free(gpu->pool.blocks);
}

gpu_ptr gpu_alloc(struct gpu *gpu, size_t size) {
	if (!size || !gpu_enter(gpu))
		return 0;
	return gpu->backend ? gpu->backend->alloc(gpu->opencl, size) : pool_take(gpu, size, false);
}

void gpu_free(struct gpu *gpu, gpu_ptr memory) {
	if (memory && gpu->backend)
		gpu->backend->free(gpu->opencl, memory);
	else if (memory)
		pool_give(gpu, memory);
}

void *gpu_pinned_alloc(struct gpu *gpu, size_t size) {
	return size && gpu_enter(gpu) ? (void *)(uintptr_t)pool_take(gpu, size, true) : NULL;
}

void gpu_pinned_free(struct gpu *gpu, void *memory) {
	if (memory)
		pool_give(gpu, (uintptr_t)memory);
}

/* The driver may return before it is done with memory that is not pinned. */
static void host_wait(struct gpu *gpu, const void *memory, size_t size) {
	if (!gpu->recording && !pool_is_pinned(gpu->root, memory, size) && !pool_is_pinned(gpu, memory, size))
		GPU_CALL(gpu, stream_sync, gpu->use->handle);
}

void gpu_upload(struct gpu *gpu, gpu_ptr to, const void *from, size_t size) {
	if (!size || !gpu_enter(gpu))
		return;
	if (gpu->backend)
		gpu->backend->upload(gpu->opencl, to, from, size);
	else if (GPU_CALL(gpu, copy_up, to, from, size, gpu->use->handle))
		host_wait(gpu, from, size);
}

void gpu_download(struct gpu *gpu, void *to, gpu_ptr from, size_t size) {
	if (!size || !gpu_enter(gpu))
		return;
	if (gpu->backend)
		gpu->backend->download(gpu->opencl, to, from, size);
	else if (GPU_CALL(gpu, copy_down, to, from, size, gpu->use->handle))
		host_wait(gpu, to, size);
}

void gpu_copy(struct gpu *gpu, gpu_ptr to, gpu_ptr from, size_t size) {
	if (!size || !gpu_enter(gpu))
		return;
	if (gpu->backend)
		gpu->backend->copy(gpu->opencl, to, from, size);
	else
		GPU_CALL(gpu, copy_across, to, from, size, gpu->use->handle);
}

void gpu_fill8(struct gpu *gpu, gpu_ptr to, uint8_t value, size_t count) {
	if (!count || !gpu_enter(gpu))
		return;
	if (gpu->backend)
		gpu->backend->fill(gpu->opencl, to, value, 1, count);
	else
		GPU_CALL(gpu, fill8, to, value, count, gpu->use->handle);
}

void gpu_fill32(struct gpu *gpu, gpu_ptr to, uint32_t value, size_t count) {
	if (!count || !gpu_enter(gpu))
		return;
	if (gpu->backend)
		gpu->backend->fill(gpu->opencl, to, value, 4, count);
	else
		GPU_CALL(gpu, fill32, to, value, count, gpu->use->handle);
}

static driver_copy_2d described(enum gpu_way way, const struct gpu_rectangle *r) {
	driver_copy_2d copy = {.from_type = way == GPU_UP ? DRIVER_MEMORY_HOST : DRIVER_MEMORY_DEVICE,
	                       .to_type = way == GPU_DOWN ? DRIVER_MEMORY_HOST : DRIVER_MEMORY_DEVICE,
	                       .from_pitch = r->from_pitch,
	                       .to_pitch = r->to_pitch,
	                       .width = r->width,
	                       .height = r->rows};
	if (way == GPU_UP)
		copy.from_host = (const void *)(uintptr_t)r->from;
	else
		copy.from = r->from;
	if (way == GPU_DOWN)
		copy.to_host = (void *)(uintptr_t)r->to;
	else
		copy.to = r->to;
	return copy;
}

void gpu_copy_rectangle(struct gpu *gpu, enum gpu_way way, const struct gpu_rectangle *rectangle) {
	if (!rectangle->width || !rectangle->rows || !gpu_enter(gpu))
		return;
	driver_copy_2d copy = described(way, rectangle);
	if (!GPU_CALL(gpu, copy_rectangle, &copy, gpu->use->handle) || way == GPU_ACROSS)
		return;
	size_t pitch = way == GPU_UP ? rectangle->from_pitch : rectangle->to_pitch;
	host_wait(gpu, way == GPU_UP ? copy.from_host : copy.to_host, (rectangle->rows - 1) * pitch + rectangle->width);
}

void gpu_tensor_map(struct gpu *gpu, struct gpu_tensor_map *map, const struct gpu_matrix *matrix) {
	const uint64_t sizes[] = {matrix->columns, matrix->rows}, pitch = matrix->pitch;
	const uint32_t box[] = {matrix->box_columns, matrix->box_rows}, steps[] = {1, 1};
	/* CUtensorMapDataType counts unsigned integers of 1, 2 and 4 bytes, CUtensorMapSwizzle 32, 64 and 128 bytes. */
	unsigned type = (unsigned)matrix->element / 2, swizzle = matrix->swizzle >= 128 ? 3 : matrix->swizzle / 32;
	_Alignas(64) struct gpu_tensor_map own = {{0}};
	if (gpu_enter(gpu))
		GPU_CALL(gpu, tensor_map, &own, type, 2, (void *)(uintptr_t)matrix->at, sizes, &pitch, box, steps, 0, swizzle,
		         DRIVER_TENSOR_L2_256, 0);
	*map = own;
}

struct gpu_stream *gpu_stream_new(struct gpu *gpu, bool urgent) {
	int least = 0, greatest = 0;
	driver_stream handle;
	if (!gpu_enter(gpu) || !GPU_CALL(gpu, priorities, &least, &greatest) ||
	    !GPU_CALL(gpu, stream_create, &handle, DRIVER_STREAM_NON_BLOCKING, urgent ? greatest : least))
		return NULL;
	struct gpu_stream *stream = mem_alloc(1, sizeof *stream);
	*stream = (struct gpu_stream){handle, gpu->streams};
	return gpu->streams = stream;
}

void gpu_stream_free(struct gpu *gpu, struct gpu_stream *stream) {
	if (!stream)
		return;
	struct gpu_stream **at = &gpu->streams;
	while (*at && *at != stream)
		at = &(*at)->next;
	if (*at)
		*at = stream->next;
	if (gpu->use == stream)
		gpu->use = &gpu->own;
	if (gpu_enter_to_free(gpu))
		GPU_CALL(gpu, stream_destroy, stream->handle);
	free(stream);
}

void gpu_use(struct gpu *gpu, struct gpu_stream *stream) {
	gpu->use = stream ? stream : &gpu->own;
}

void gpu_stream_sync(struct gpu *gpu) {
	if (gpu_enter(gpu))
		GPU_CALL(gpu, stream_sync, gpu->use->handle);
}

struct gpu_mark *gpu_mark_new(struct gpu *gpu) {
	driver_event handle;
	if (!gpu_enter(gpu) || !GPU_CALL(gpu, event_create, &handle, DRIVER_EVENT_DEFAULT))
		return NULL;
	struct gpu_mark *mark = mem_alloc(1, sizeof *mark);
	*mark = (struct gpu_mark){handle, gpu, gpu->marks};
	return gpu->marks = mark;
}

void gpu_mark_free(struct gpu *gpu, struct gpu_mark *mark) {
	if (!mark)
		return;
	struct gpu_mark **at = &gpu->marks;
	while (*at && *at != mark)
		at = &(*at)->next;
	if (*at)
		*at = mark->next;
	if (gpu_enter_to_free(gpu))
		GPU_CALL(gpu, event_destroy, mark->handle);
	free(mark);
}

void gpu_mark(struct gpu *gpu, struct gpu_mark *mark) {
	if (mark && gpu_enter(gpu))
		GPU_CALL(gpu, event_record, mark->handle, gpu->use->handle);
}

void gpu_wait(struct gpu *gpu, struct gpu_mark *mark) {
	if (mark && gpu_enter(gpu))
		GPU_CALL(gpu, stream_wait, gpu->use->handle, mark->handle, 0);
}

void gpu_mark_sync(struct gpu *gpu, struct gpu_mark *mark) {
	if (mark && gpu_enter(gpu))
		GPU_CALL(gpu, event_sync, mark->handle);
}

double gpu_elapsed(struct gpu *gpu, struct gpu_mark *from, struct gpu_mark *to) {
	float milliseconds = 0;
	gpu_mark_sync(gpu, from);
	gpu_mark_sync(gpu, to);
	if (!from || !to || !gpu_enter(gpu) || !GPU_CALL(gpu, event_elapsed, &milliseconds, from->handle, to->handle))
		return NAN;
	return 1e-3 * (double)milliseconds;
}

/* Timing by events on an idle device. */

static bool clock_ready(struct gpu *gpu) {
	if (!gpu->clock_from)
		gpu->clock_from = gpu_mark_new(gpu);
	if (!gpu->clock_to)
		gpu->clock_to = gpu_mark_new(gpu);
	return gpu->clock_from && gpu->clock_to;
}

void gpu_clock_start(struct gpu *gpu) {
	if (gpu->backend) {
		if (gpu_enter(gpu))
			gpu->backend->clock_start(gpu->opencl);
		return;
	}
	if (!clock_ready(gpu))
		return;
	gpu_sync(gpu);
	if (gpu_enter(gpu))
		GPU_CALL(gpu, event_record, gpu->clock_from->handle, gpu->own.handle);
}

double gpu_clock_stop(struct gpu *gpu) {
	if (gpu->backend)
		return gpu_enter(gpu) ? gpu->backend->clock_stop(gpu->opencl) : NAN;
	if (!gpu->clock_to || !gpu_enter(gpu) || !GPU_CALL(gpu, event_record, gpu->clock_to->handle, gpu->own.handle))
		return NAN;
	return gpu_elapsed(gpu, gpu->clock_from, gpu->clock_to);
}

/* The buffer is twice the size of the cache, because caches do not always replace the least recently used line. */
void gpu_flush_l2(struct gpu *gpu) {
	size_t size = 2 * (size_t)(gpu->facts.l2_bytes > 0 ? gpu->facts.l2_bytes : 64 << 20);
	if (!gpu->flush)
		gpu->flush = gpu_alloc(gpu, size);
	if (gpu->flush && gpu->backend)
		gpu_fill8(gpu, gpu->flush, (uint8_t)gpu->flushes++, size);
	else if (gpu->flush && gpu_enter(gpu))
		GPU_CALL(gpu, fill8, gpu->flush, (unsigned char)gpu->flushes++, size, gpu->own.handle);
}

static void counts_read(const struct launch_log *log, int64_t counts[LAUNCHES_MAX]) {
	for (size_t i = 0; i < LAUNCHES_MAX; i++)
		counts[i] = i < log->count ? log->entries[i].launches : 0;
}

void gpu_record(struct gpu *gpu) {
	if (!gpu_enter(gpu) || !GPU_CALL(gpu, capture_begin, gpu->use->handle, DRIVER_CAPTURE_RELAXED))
		return;
	free(gpu->recording);
	gpu->recording = mem_alloc(LAUNCHES_MAX, sizeof *gpu->recording);
	counts_read(&gpu->log, gpu->recording);
}

/* Recorded launches did not run, so they count for the graph. */
static void counts_move(struct gpu *gpu, struct gpu_graph *graph) {
	for (size_t i = 0; i < gpu->log.count; i++) {
		graph->launches[i] = gpu->log.entries[i].launches - gpu->recording[i];
		gpu->log.entries[i].launches = gpu->recording[i];
	}
}

struct gpu_graph *gpu_recorded(struct gpu *gpu) {
	driver_graph handle = NULL;
	driver_graph_exec exec;
	if (!gpu->recording)
		return NULL;
	/* This happens after a failure, too, because the stream must not keep recording. */
	bool fine = gpu_enter_to_free(gpu) && GPU_CALL(gpu, capture_end, gpu->use->handle, &handle) && gpu_is_fine(gpu) &&
	            GPU_CALL(gpu, graph_instantiate, &exec, handle, 0);
	struct gpu_graph *graph = NULL;
	if (fine) {
		graph = mem_alloc(1, sizeof *graph);
		graph->handle = handle;
		graph->exec = exec;
		counts_move(gpu, graph);
	} else if (handle && gpu_enter_to_free(gpu)) {
		GPU_CALL(gpu, graph_destroy, handle);
	}
	free(gpu->recording);
	gpu->recording = NULL;
	return graph;
}

void gpu_graph_launch(struct gpu *gpu, struct gpu_graph *graph) {
	if (!graph || !gpu_enter(gpu) || !GPU_CALL(gpu, graph_launch, graph->exec, gpu->use->handle))
		return;
	for (size_t i = 0; i < gpu->log.count; i++)
		gpu->log.entries[i].launches += graph->launches[i];
}

void gpu_graph_free(struct gpu *gpu, struct gpu_graph *graph) {
	if (!graph)
		return;
	if (gpu_enter_to_free(gpu)) {
		GPU_CALL(gpu, graph_exec_destroy, graph->exec);
		GPU_CALL(gpu, graph_destroy, graph->handle);
	}
	free(graph);
}
