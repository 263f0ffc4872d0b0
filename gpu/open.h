/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs as the worker and doctor see them: which there are, opening one, timing, clocks and energy. */
#ifndef GPU_OPEN_H
#define GPU_OPEN_H
#include "gpu/gpu.h"
#include "src/base/err.h"

/* Which parts of CUDA are here, without opening a device. version: "13.0"; reason and fix: why not and what to do. */
struct gpu_part {
	const char *name; /* "driver", "NVRTC", "CUPTI", "NVML" */
	bool usable;
	char version[32], path[256], reason[200], fix[200];
};
enum { GPU_PARTS = 4 };
void gpu_parts(struct gpu_part parts[GPU_PARTS]);
int gpu_count(void); /* 0 without a driver */
/* The i-th device's facts, without a context; false where there is none. */
bool gpu_look(int index, struct gpu_facts *facts);

/* "cuda", "cuda:1" -> 0, 1; ERR_USAGE for anything else ("cpu" included). */
int gpu_index(const char *device, int *index, struct err *err);
/* Retains the device's primary context. ERR_UNAVAILABLE with what is missing and a hint: no driver, no such device (how
 * many there are), no NVRTC. */
struct gpu *gpu_open(int index, struct err *err);
void gpu_close(struct gpu *gpu);
void *gpu_context(struct gpu *gpu); /* CUcontext, for CUPTI; it is made current */

/* The user's own source: text, and a name for messages. Further options are NULL-terminated or NULL. */
const struct gpu_module *gpu_module_text(struct gpu *gpu, const char *name, const char *text,
                                         const char *const *options, const struct gpu_defines *defines);
/* Of a module: where its variable of this name is, such as a __constant__, and of how many bytes. 0, and no failure,
 * where there is none. */
gpu_ptr gpu_module_symbol(struct gpu *gpu, const struct gpu_module *module, const char *name, size_t *size);
/* What the __global__ of this name is called in it: so, or as C++ mangles it. Lives as long as the module and the name.
 */
const char *gpu_module_entry(const struct gpu_module *module, const char *name);
/* How many parameters it has, at most `most`; their sizes. -1 where the driver can't tell (it can since 12.4). */
int gpu_function_parameters(struct gpu *gpu, const struct gpu_function *function, size_t *sizes, int most);
/* Compiles and loads nothing: for any architecture, without a GPU. arch is 75, 80, 90...; the facts of all functions of
 * it, in an array to free(3), *count of them. NULL with err: ERR_FAILED holds the compiler's first error. */
struct gpu_compiled {
	char name[96];
	struct gpu_function_facts facts;
};
struct gpu_compiled *gpu_compile_only(const char *source, const struct gpu_defines *defines, int arch, size_t *count,
                                      struct err *err);
/* How long compiling took by this gpu so far, in seconds; how many modules were compiled, or came from the disk. */
double gpu_compile_seconds(const struct gpu *gpu);
size_t gpu_compile_count(const struct gpu *gpu, bool from_disk);
/* Launched since gpu_launches_forget: functions and shapes, each combination once, at most `most`; returns how many. */
struct gpu_launched {
	const char *function;
	struct gpu_function_facts facts;
	struct gpu_shape shape;
	int64_t launches;
	double occupancy;    /* theoretical, 0..1 */
	const char *limiter; /* "registers", "shared memory", "threads", "blocks" */
};
size_t gpu_launches(const struct gpu *gpu, struct gpu_launched *out, size_t most);
void gpu_launches_forget(struct gpu *gpu);

/* The device's clock: from an idle stream to the end of all that was given to the gpu's own stream. */
void gpu_clock_start(struct gpu *gpu);  /* waits until the device is idle */
double gpu_clock_stop(struct gpu *gpu); /* seconds; waits; NAN after a failure */
void gpu_flush_l2(struct gpu *gpu);     /* writes over it; not waited for */

/* By NVML; NAN, -1 or 0 for what it can't tell. */
struct gpu_health {
	double sm_mhz, sm_mhz_max, memory_mhz, power_w, temperature_c;
	uint64_t throttle; /* bits of NVML's reasons that slow it down (power, heat); 0 none */
	double energy_j;   /* since the driver was loaded */
};
void gpu_health(struct gpu *gpu, struct gpu_health *health);
/* The last one, if it is not older than so many seconds: asking NVML takes milliseconds. */
void gpu_health_lately(struct gpu *gpu, double age_s, struct gpu_health *health);
/* The words of the bits: "power cap, hardware slowdown"; "" for none. */
const char *gpu_throttle_words(uint64_t bits, char *text, size_t size);
/* What doctor wants to know of a device. */
struct gpu_tenants {
	bool mig;
	int processes; /* that use it, this one left out; -1 not known */
	unsigned pids[16];
};
void gpu_tenants(int index, struct gpu_tenants *tenants);

#endif
