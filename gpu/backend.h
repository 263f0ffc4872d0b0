/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a gpu, and the functions that stand in for CUDA's driver on another kind of device. Only gpu/, its
 * backends and its tests include it. */
#ifndef GPU_BACKEND_H
#define GPU_BACKEND_H
#include "gpu/compile.h"
#include "gpu/library.h"
#include "gpu/open.h"

struct gpu_stream {
	driver_stream handle;
	struct gpu_stream *next;
};

struct gpu_mark {
	driver_event handle;
	struct gpu *gpu;
	struct gpu_mark *next;
};

struct gpu_function {
	driver_function handle;
	char name[COMPILED_NAME];
	struct gpu_function_facts facts;
	int dynamic_allowed; /* bytes of dynamic shared memory that were opted in for */
	struct opencl_kernel_st *kernel;
	int parameters; /* of an OpenCL kernel; -1: not known */
	struct gpu_passed *passed;
	size_t passed_count;
	struct gpu_function *next;
};

struct gpu_module {
	char *id; /* source and options */
	driver_module handle;
	struct opencl_program_st *program;
	struct gpu_function *functions;
	struct gpu_compiled *compiled; /* the compiler's facts */
	size_t compiled_count;
	struct gpu_module *next;
};

/* launch_log.c */
enum { LAUNCHES_MAX = 256 };
struct launch_entry {
	const struct gpu_function *function;
	struct gpu_shape shape;
	int64_t launches;
};
struct launch_log {
	struct launch_entry entries[LAUNCHES_MAX];
	size_t count, last;
};

struct gpu_graph {
	driver_graph handle;
	driver_graph_exec exec;
	int64_t launches[LAUNCHES_MAX]; /* of each entry of the log, by one launch of this graph */
};

/* memory_pool.c: released memory is kept for the next request of its size, because allocating is slow. */
struct block {
	uint64_t memory; /* or (uintptr_t) of pinned host memory */
	size_t size;
	bool pinned, used;
};
struct pool {
	struct block *blocks;
	size_t count, room;
};

enum { GPU_PEERS_MAX = 64 };

/* Another way than CUDA to do what a source of the user needs (gpu/opencl). Each function is called only while the gpu
 * is fine, except for close; failures go to gpu_fail. */
struct opencl;
struct gpu_backend {
	uint64_t (*alloc)(struct opencl *device, size_t size);
	void (*free)(struct opencl *device, uint64_t memory);
	void (*upload)(struct opencl *device, uint64_t to, const void *from, size_t size);
	void (*download)(struct opencl *device, void *to, uint64_t from, size_t size);
	void (*copy)(struct opencl *device, uint64_t to, uint64_t from, size_t size);
	void (*fill)(struct opencl *device, uint64_t to, uint32_t value, size_t bytes_each, size_t count);
	bool (*sync)(struct opencl *device);
	void (*clock_start)(struct opencl *device);
	double (*clock_stop)(struct opencl *device);
	const struct gpu_module *(*module)(struct gpu *gpu, const char *name, const char *text, const char *const *options);
	struct gpu_function *(*function)(struct gpu *gpu, struct gpu_module *module, const char *name);
	void (*launch)(struct gpu *gpu, const struct gpu_function *function, const struct gpu_shape *shape,
	               void *const *arguments);
	void (*close)(struct gpu *gpu);
};

struct gpu {
	struct gpu_facts facts;
	const struct gpu_backend *backend; /* NULL: CUDA, which is all that the rest of this layer knows */
	struct opencl *opencl;             /* the backend's */
	struct driver driver;
	struct compiler compiler;
	struct nvml nvml;
	bool nvml_tried;
	struct gpu_health health; /* as last read */
	double health_at;         /* when, on sys_now's clock; 0: never */
	nvml_device nvml_device;
	driver_device device;
	driver_context context;
	struct gpu_stream own, *streams, *use;
	struct gpu_mark *marks, *clock_from, *clock_to;
	struct gpu_module *modules;
	struct pool pool;
	struct launch_log log;
	const struct gpu_watcher *watcher; /* NULL: none */
	int64_t *recording;                /* the log's counts when recording began; NULL: not recording */
	gpu_ptr flush;
	unsigned flushes;
	enum gpu_failure failure;
	char message[256];
	struct gpu *root, *peers[GPU_PEERS_MAX]; /* by index; only in the root. root: itself, or the gpu that opened it */
};

/* device.c */
bool device_facts(const struct driver *driver, int index, struct gpu_facts *facts);
int device_count(const struct driver *driver);
struct gpu *device_open(const struct driver_api *api, int index, struct gpu *root, struct err *err);

#endif
