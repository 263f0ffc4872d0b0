/* SPDX-License-Identifier: BSD-3-Clause */
/* A GPU as kernels see it: memory, compiled code, launches, streams. The CUDA driver, NVRTC and NVML are opened at run
 * time (gpu/open.h is the worker's side); nothing here needs CUDA's headers.
 *
 * Failures are sticky, so that host code reads like the algorithm: the first failure is kept with its message, later
 * calls do nothing (allocations return 0 or NULL), and the caller asks once, with gpu_failed.
 *
 * Work runs in the order of a stream. A GPU has a stream of its own, which is used unless gpu_use names another one.
 * All calls must come from one thread. Sizes are in bytes unless they are called count. The gpu owns all functions,
 * modules, streams, marks and graphs that it returns, until it is closed. */
#ifndef GPU_GPU_H
#define GPU_GPU_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu;
typedef uint64_t gpu_ptr; /* device memory; 0 is none */

enum gpu_kind { GPU_CUDA, GPU_OPENCL, GPU_HIP };

/* The facts of a device. */
struct gpu_facts {
	enum gpu_kind kind;
	char name[96], uuid[64];
	int index;        /* N of cuda:N */
	int major, minor; /* compute capability */
	int sms, threads_per_sm, blocks_per_sm, registers_per_sm, registers_per_block, threads_per_block;
	int shared_per_sm, shared_per_block /* with the opt-in */, shared_reserved /* of each block, by the driver */;
	int64_t l2_bytes, memory_bytes;
	int clock_khz, memory_clock_khz, memory_bus_bits;
	bool cooperative;
	/* OpenCL's and HIP's; "" for CUDA. There sms are compute units, threads_per_block work items of a work group,
	 * shared_per_block local memory, and l2_bytes the cache of global memory. */
	char platform[96], driver[96];
};
const struct gpu_facts *gpu_facts(const struct gpu *gpu);

enum gpu_failure {
	GPU_FINE,
	GPU_COMPILE, /* the source does not compile with this configuration */
	GPU_REFUSED, /* this device cannot run this configuration: threads, shared memory, registers or a missing feature */
	GPU_NO_MEMORY, /* of the device, or pinned */
	GPU_BROKEN     /* an illegal access, a lost device: the context, and so the process, is unusable from then on */
};
/* Returns the first failure since the last call and forgets it (GPU_BROKEN stays); message: the reason in one line. */
enum gpu_failure gpu_failed(struct gpu *gpu, char *message, size_t size);
bool gpu_is_fine(const struct gpu *gpu);
/* For code above this layer, if the configuration cannot run for a reason that this layer does not know. */
__attribute__((format(printf, 3, 4))) void gpu_fail(struct gpu *gpu, enum gpu_failure failure, const char *format, ...);

/* ---- memory ---- */
gpu_ptr gpu_alloc(struct gpu *gpu, size_t size); /* contents are undefined; 0 on failure or if size is 0 */
void gpu_free(struct gpu *gpu, gpu_ptr memory);  /* 0 is fine; waits for pending work that uses it */
void *gpu_pinned_alloc(struct gpu *gpu, size_t size);
void gpu_pinned_free(struct gpu *gpu, void *memory);
/* These run in the stream's order. The host does not wait for copies to and from pinned memory; copies with other
 * memory return when that may be used again. */
void gpu_upload(struct gpu *gpu, gpu_ptr to, const void *from, size_t size);
void gpu_download(struct gpu *gpu, void *to, gpu_ptr from, size_t size);
void gpu_copy(struct gpu *gpu, gpu_ptr to, gpu_ptr from, size_t size);
void gpu_fill8(struct gpu *gpu, gpu_ptr to, uint8_t value, size_t count);
void gpu_fill32(struct gpu *gpu, gpu_ptr to, uint32_t value, size_t count);
/* Copies a rectangle: rows of `width` bytes, `to_pitch` and `from_pitch` bytes apart. Either side may be host memory;
 * if that is not pinned, the host waits. */
enum gpu_way { GPU_UP, GPU_DOWN, GPU_ACROSS };
struct gpu_rectangle {
	uint64_t to, from; /* gpu_ptr, or (uintptr_t) of host memory */
	size_t to_pitch, from_pitch, width, rows;
};
void gpu_copy_rectangle(struct gpu *gpu, enum gpu_way way, const struct gpu_rectangle *rectangle);
/* A matrix in device memory as the copy engine of compute capability 9.0 and newer reads it (cp.async.bulk.tensor): an
 * argument of a launch. Rows are `pitch` bytes apart, a multiple of 16; it copies boxes to shared memory, zeros beyond
 * the border, and permutes their rows in runs of `swizzle` bytes (32, 64 or 128, or 0: it does not). */
struct gpu_tensor_map {
	uint64_t opaque[16];
};
struct gpu_matrix {
	gpu_ptr at;
	size_t element, columns, rows, pitch; /* element: 1, 2 or 4 bytes */
	unsigned box_columns, box_rows, swizzle;
};
void gpu_tensor_map(struct gpu *gpu, struct gpu_tensor_map *map, const struct gpu_matrix *matrix);

/* ---- compiled code ---- */
enum { GPU_DEFINES_MAX = 32, GPU_DEFINE = 80 };
/* Definitions that the compiler gets as -DNAME=VALUE. All zero is none. */
struct gpu_defines {
	char text[GPU_DEFINES_MAX][GPU_DEFINE];
	size_t count;
};
void gpu_define(struct gpu_defines *defines, const char *name, long long value);
void gpu_define_word(struct gpu_defines *defines, const char *name, const char *value);

struct gpu_module; /* modules and their functions live as long as the gpu; the same source and defines give the same
                      module */
/* source: one of ours, such as "fw/cuda/tile.cu". NULL on failure. */
const struct gpu_module *gpu_module(struct gpu *gpu, const char *source, const struct gpu_defines *defines);
struct gpu_function;
/* Finds an extern "C" __global__ function. module may be NULL after a failure, and then the result is NULL, too. */
const struct gpu_function *gpu_function(struct gpu *gpu, const struct gpu_module *module, const char *name);

struct gpu_function_facts {
	int registers, shared_bytes /* static */, local_bytes /* of a thread: its stack and spilled registers */,
		spill_bytes;
	int threads_max; /* of a block */
};
const struct gpu_function_facts *gpu_function_facts(const struct gpu_function *function);
/* Returns the number of blocks of this shape that fit on an SM; it bounds a cooperative launch. */
int gpu_blocks_per_sm(struct gpu *gpu, const struct gpu_function *function, unsigned block, size_t dynamic_shared);

/* ---- launches ---- */
struct gpu_shape {
	unsigned grid[3], block[3]; /* 0 is taken for 1 */
	unsigned shared;            /* dynamic shared memory in bytes; more than 48 KiB is opted in for automatically */
	bool cooperative;           /* all blocks run at once, so that they can wait for each other (sweetspot.cuh) */
};
/* arguments: pointers to the values, ended by NULL; copied before it returns. A launch that exceeds the device's limits
 * is GPU_REFUSED. */
void gpu_launch(struct gpu *gpu, const struct gpu_function *function, const struct gpu_shape *shape,
                void *const *arguments);
/* Reports the refusal that such a launch would meet, without launching it, so that setup can tell. */
void gpu_fit(struct gpu *gpu, const struct gpu_function *function, const struct gpu_shape *shape);
#define GPU_LAUNCH(gpu, function, shape, ...) gpu_launch(gpu, function, shape, (void *[]){__VA_ARGS__, NULL})
/* Waits for all streams of this gpu. */
void gpu_sync(struct gpu *gpu);
static inline unsigned gpu_blocks(uint64_t count, uint64_t each) {
	return (unsigned)((count + each - 1) / each);
}

/* ---- streams, marks, graphs ---- */
struct gpu_stream;
struct gpu_stream *gpu_stream_new(struct gpu *gpu, bool urgent); /* NULL on failure; urgent: runs before the others */
void gpu_stream_free(struct gpu *gpu, struct gpu_stream *stream);
void gpu_use(struct gpu *gpu, struct gpu_stream *stream); /* for what follows; NULL: the gpu's own */
void gpu_stream_sync(struct gpu *gpu);                    /* waits for the stream in use alone */

struct gpu_mark; /* a place in a stream, and the moment it was reached */
struct gpu_mark *gpu_mark_new(struct gpu *gpu);
void gpu_mark_free(struct gpu *gpu, struct gpu_mark *mark);
void gpu_mark(struct gpu *gpu, struct gpu_mark *mark); /* set it here, in the stream in use */
void gpu_wait(struct gpu *gpu, struct gpu_mark *mark); /* the stream in use waits for it; it may be another gpu's */
void gpu_mark_sync(struct gpu *gpu, struct gpu_mark *mark); /* the host waits for it */
/* Returns the seconds from one to the other after both are reached (the host waits); NAN after a failure. */
double gpu_elapsed(struct gpu *gpu, struct gpu_mark *from, struct gpu_mark *to);

struct gpu_graph;                 /* recorded work, launched as one */
void gpu_record(struct gpu *gpu); /* from here on the stream in use records launches and does not run them */
struct gpu_graph *gpu_recorded(struct gpu *gpu);
void gpu_graph_launch(struct gpu *gpu, struct gpu_graph *graph);
void gpu_graph_free(struct gpu *gpu, struct gpu_graph *graph);

/* ---- several GPUs ---- */
int gpu_peers(struct gpu *gpu); /* how many there are, this one included */
/* Returns the i-th of them; 0 is this one, then the others in the order of their index. It is opened on first use and
 * lives as long as this one; NULL if it is not available (the failure is this gpu's). Its own failures are separate:
 * ask gpu_failed about it. */
struct gpu *gpu_peer(struct gpu *gpu, int i);
/* Runs in the order of the stream that `gpu` uses. */
void gpu_copy_peer(struct gpu *gpu, struct gpu *to_gpu, gpu_ptr to, struct gpu *from_gpu, gpu_ptr from, size_t size);
#endif
