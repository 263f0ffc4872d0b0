/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's and doctor's view of GPUs: finding and opening them, timing, clocks and energy. */
#ifndef GPU_OPEN_H
#define GPU_OPEN_H
#include "gpu/gpu.h"
#include "base/err.h"

/* A part of CUDA on this machine, found without opening a device. version: "13.0"; reason and fix: why it is missing
 * and the remedy. */
struct gpu_part {
	const char *name; /* "driver", "NVRTC", "CUPTI", "NVML" */
	bool usable;
	char version[32], path[256], reason[200], fix[200];
};
enum { GPU_PART_DRIVER, GPU_PART_NVRTC, GPU_PART_CUPTI, GPU_PART_NVML, GPU_PARTS };
void gpu_part(int which, struct gpu_part *part);
/* Reads the i-th device's facts without a context; false if that device does not exist. */
bool gpu_probe(int index, struct gpu_facts *facts);

/* Is a device named by its kind, or by the kind, a colon and more? What comes behind the colon, "": nothing. */
bool gpu_device_is(const char *device, const char *kind);
const char *gpu_device_rest(const char *device, const char *kind);
/* "cuda", "cuda:1" -> 0, 1; ERR_USAGE for anything else ("cpu" and "opencl" included). */
int gpu_index(const char *device, int *index, struct err *err);
/* Retains the device's primary context. ERR_UNAVAILABLE names the missing part with a hint: the driver, the device (and
 * how many there are), or NVRTC. */
struct gpu *gpu_open(int index, struct err *err);
void gpu_close(struct gpu *gpu);

/* In a program with a context of its own: the gpu of the context that is current in this thread. Where none is, the
 * primary context of the first device becomes current. gpu_close leaves the program's context as it is. */
struct gpu *gpu_adopt(struct err *err);
/* Is it the gpu of this thread's context? Where none is current, its context becomes so. */
bool gpu_is_current(const struct gpu *gpu);
/* Launches what gpu_fit has found to fit, on a stream of the program's (CUstream; NULL is the default one). Nothing is
 * recorded. False after a failure, which gpu_failed tells. */
bool gpu_launch_on(struct gpu *gpu, const struct gpu_function *function, const struct gpu_shape *shape, void *stream,
                   void *const *arguments);
bool gpu_mark_on(struct gpu *gpu, struct gpu_mark *mark, void *stream);
bool gpu_mark_reached(struct gpu *gpu, struct gpu_mark *mark);
void *gpu_context(struct gpu *gpu); /* CUcontext, for CUPTI; it is made current */

/* The user's own source: text, and a name for messages. Further options are NULL-terminated or NULL. */
const struct gpu_module *gpu_module_text(struct gpu *gpu, const char *name, const char *text,
                                         const char *const *options, const struct gpu_defines *defines);
/* The user's own source; further options are NULL-terminated or NULL. */
struct gpu_text {
	const char *name, *text;
	const char *const *options;
};
/* A compiler for a device that another process drives: it fills the cache on disk. */
struct gpu_compiler;
struct gpu_compiler *gpu_compiler_new(struct err *err); /* ERR_UNAVAILABLE without NVRTC */
void gpu_compiler_free(struct gpu_compiler *compiler);
struct gpu_ahead {
	bool kept;      /* false: nothing was compiled, because it could not be kept: there is no cache, or the source
	                   includes files that may change */
	bool from_disk; /* it was there already */
	double seconds;
};
/* arch is 75, 80, 90... Returns false with err: ERR_FAILED has the compiler's first error. */
bool gpu_compile_ahead(struct gpu_compiler *compiler, const struct gpu_text *text, int arch, struct gpu_ahead *ahead,
                       struct err *err);
/* The same for one of our own sources, such as "fw/cuda/base.cu". */
bool gpu_compile_ours_ahead(struct gpu_compiler *compiler, const char *name, const struct gpu_defines *defines,
                            int arch, struct gpu_ahead *ahead, struct err *err);
/* Returns the address of the module's variable of this name, such as a __constant__, and its size in bytes. 0, without
 * a failure, if the module does not define it. */
gpu_ptr gpu_module_symbol(struct gpu *gpu, const struct gpu_module *module, const char *name, size_t *size);
/* Returns the name of this __global__ function in the module's code: unchanged, or as C++ mangles it. Lives as long as
 * the module and the name. */
const char *gpu_module_entry(const struct gpu_module *module, const char *name);
/* Returns the number of parameters, at most `most`, and their sizes; a size is 0 if it is not known. -1 if the driver
 * can't tell (it can since 12.4). */
int gpu_function_parameters(struct gpu *gpu, const struct gpu_function *function, size_t *sizes, int most);
/* Says what a function's arguments are, which OpenCL must know; CUDA's driver knows it. A local one is not a pointer in
 * gpu_launch's arguments, but the work group's memory of that many bytes. */
struct gpu_passed {
	enum gpu_passed_as { GPU_PASSED_VALUE, GPU_PASSED_MEMORY, GPU_PASSED_LOCAL } what;
	size_t bytes;
};
void gpu_function_pass(struct gpu *gpu, const struct gpu_function *function, const struct gpu_passed *passed,
                       size_t count);
/* Returns the code of the i-th module that was compiled with -lineinfo, counted from the latest, or NULL beyond the
 * last. */
const void *gpu_lines_code(const struct gpu *gpu, size_t i, size_t *size);
/* A function of compiled code, with the compiler's facts. */
struct gpu_compiled {
	char name[96];
	struct gpu_function_facts facts;
};
/* The seconds that this gpu has spent compiling so far. */
double gpu_compile_seconds(const struct gpu *gpu);
/* Lists the functions and shapes launched since gpu_launches_forget, each combination once, at most `most`; returns
 * their number. */
struct gpu_launched {
	const char *function;
	struct gpu_function_facts facts;
	struct gpu_shape shape;
	int64_t launches;
	double occupancy;    /* theoretical, 0..1; NAN: not known, and then limiter is NULL */
	const char *limiter; /* "registers", "shared memory", "threads", "blocks" */
	int64_t resident;    /* blocks that run at a time on the whole GPU; 0: not known */
};
size_t gpu_launches(const struct gpu *gpu, struct gpu_launched *out, size_t most);
void gpu_launches_forget(struct gpu *gpu);

/* Is called around each launch on this gpu, but not for those that a graph records or runs. NULL: none. It is
 * borrowed. */
struct gpu_watcher {
	void (*before)(void *ctx, const char *function, const struct gpu_shape *shape);
	void (*after)(void *ctx);
	void *ctx;
};
void gpu_watch(struct gpu *gpu, const struct gpu_watcher *watcher);

/* Returns the theoretical occupancy, 0..1, of a function on a device; limiter: as above. */
double gpu_occupancy_of(const struct gpu_facts *device, const struct gpu_function_facts *function, unsigned threads,
                        size_t dynamic_shared, const char **limiter);

/* Times by the device's clock, from an idle stream to the end of all work in the gpu's own stream. */
void gpu_clock_start(struct gpu *gpu);  /* waits until the device is idle */
double gpu_clock_stop(struct gpu *gpu); /* seconds; waits; NAN after a failure */
void gpu_flush_l2(struct gpu *gpu);     /* writes over it; not waited for */

/* Values from NVML; NAN, -1 or 0 for those that it does not know. */
struct gpu_health {
	double sm_mhz, sm_mhz_max, memory_mhz, power_w, temperature_c;
	uint64_t throttle; /* bits of NVML's reasons that slow it down (power, heat); 0 none */
	double energy_j;   /* since the driver was loaded */
};
void gpu_health(struct gpu *gpu, struct gpu_health *health);
/* Returns the last reading if it is not older than this many seconds, because asking NVML takes milliseconds. */
void gpu_health_lately(struct gpu *gpu, double age_s, struct gpu_health *health);
/* Writes the names of the bits: "power cap, hardware slowdown"; "" for none. */
const char *gpu_throttle_words(uint64_t bits, char *text, size_t size);
/* The users of a device, for doctor. */
struct gpu_tenants {
	bool mig;
	int processes; /* that use it, this one left out; -1 not known */
	unsigned pids[16];
};
void gpu_tenants(int index, struct gpu_tenants *tenants);

/* AMD's GPUs by HIP: finding and opening them. All else is in gpu/open.h. */

/* Whether there are any, otherwise the reason and the remedy. */
void gpu_hip_part(struct gpu_part *part);
/* As gpu_probe. */
bool gpu_hip_probe(int index, struct gpu_facts *facts);

/* "hip", "hip:1" -> 0, 1; ERR_USAGE for anything else. */
int gpu_hip_index(const char *device, int *index, struct err *err);
struct gpu *gpu_hip_open(int index, struct err *err); /* as gpu_open */

/* OpenCL devices as GPUs: finding and opening them. All else is in gpu/open.h. */

/* All devices that can compile, in the order of OpenCL's platforms. */
struct gpu_opencl;
struct gpu_opencl *gpu_opencl_new(void);
void gpu_opencl_free(struct gpu_opencl *opencl);
bool gpu_opencl_facts(const struct gpu_opencl *opencl, int i, struct gpu_facts *facts); /* false beyond the last */
/* Whether there are any, otherwise the reason and the remedy. */
void gpu_opencl_part(const struct gpu_opencl *opencl, struct gpu_part *part);

/* "opencl", "opencl:1", or "opencl:" and a part of the name of a platform or device in any case -> its index.
 * ERR_UNAVAILABLE for a name that OpenCL does not have. */
int gpu_opencl_index(const char *device, int *index, struct err *err);
struct gpu *gpu_opencl_open(int index, struct err *err); /* as gpu_open */
#endif
