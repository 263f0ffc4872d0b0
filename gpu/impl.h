/* SPDX-License-Identifier: BSD-3-Clause */
/* The internals of this layer; only gpu/ and its tests include it. */
#ifndef GPU_IMPL_H
#define GPU_IMPL_H
#include "gpu/library.h"
#include "gpu/open.h"
#include "gpu/compile.h"

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
	struct gpu_function *next;
};

struct gpu_module {
	char *id; /* source and options */
	driver_module handle;
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
void launch_log_add(struct launch_log *log, const struct gpu_function *function, const struct gpu_shape *shape,
                    int64_t launches);

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

struct gpu {
	struct gpu_facts facts;
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
	int64_t *recording; /* the log's counts when recording began; NULL: not recording */
	gpu_ptr flush;
	unsigned flushes;
	enum gpu_failure failure;
	char message[256];
	struct gpu *root, *peers[GPU_PEERS_MAX]; /* by index; only in the root. root: itself, or the gpu that opened it */
};

/* fail.c: returns true on success; otherwise keeps the failure. */
bool gpu_succeeded(struct gpu *gpu, const char *call, driver_result result);
bool gpu_lacks(struct gpu *gpu, const char *call);
enum gpu_failure gpu_failure_of(driver_result result);
#define GPU_CALL(gpu, name, ...)                                                                                       \
	((gpu)->driver.name ? gpu_succeeded((gpu), #name, (gpu)->driver.name(__VA_ARGS__)) : gpu_lacks((gpu), #name))
/* False after a failure. Makes the context current, because there may be several. */
bool gpu_enter(struct gpu *gpu);
/* The same for resources that are released even after a failure; false if the device is unusable. */
bool gpu_enter_to_free(struct gpu *gpu);

/* device.c */
bool device_facts(const struct driver *driver, int index, struct gpu_facts *facts);
struct gpu *device_open(int index, struct gpu *root, struct err *err);

/* memory_pool.c */
uint64_t pool_take(struct gpu *gpu, size_t size, bool pinned);
void pool_give(struct gpu *gpu, uint64_t memory);
bool pool_is_pinned(const struct gpu *gpu, const void *memory, size_t size);
size_t pool_idle(const struct gpu *gpu); /* bytes of device memory that are kept for reuse */
void pool_drop(struct gpu *gpu);         /* returns unused memory to the driver */
void pool_free(struct gpu *gpu);

/* occupancy.c */
struct occupancy {
	int blocks; /* that an SM holds */
	double occupancy;
	const char *limiter;
};
struct occupancy occupancy_of(const struct gpu_facts *device, const struct gpu_function_facts *function,
                              unsigned threads, size_t dynamic_shared);

/* nvml.c */
nvml_device nvml_find(const struct nvml *nvml, const struct driver *driver, const struct gpu_facts *facts);

/* module.c: the user's source with the options that it needs; it refers to its own fields. */
struct text_source {
	struct source source;
	const char *words[COMPILE_OPTIONS_MAX + 1];
	char headers[600];
};
/* Returns false if there are too many options. */
bool text_source_make(struct text_source *made, const struct gpu_text *text, const struct gpu_defines *defines,
                      int arch);

#endif
