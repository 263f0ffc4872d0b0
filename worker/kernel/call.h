/* SPDX-License-Identifier: BSD-3-Clause */
/* A request's call of a kernel, checked against the kernel's tables. */
#ifndef WORKER_KERNEL_CALL_H
#define WORKER_KERNEL_CALL_H
#include <jansson.h>
#include <omp.h>

#include "kernels/registry.h"
#include "base/mem.h"
#include "gpu/open.h"
#include "kernels/cuda.h"

struct call {
	const struct kernel_entry *entry;
	struct ss_value *problem, *config; /* complete, in the order of the kernel's tables */
	int threads;                       /* 0: all CPUs */
	const char *places, *proc_bind;
	omp_sched_t schedule;
	int chunk; /* 0: the schedule's default */
	uint64_t seed;
	int device;      /* its index, or DEVICE_CPU */
	struct gpu *gpu; /* the device with that index, opened; NULL on the CPU */
};

/* problem and config are objects or NULL; missing parameters take their initial values. Everything, words included,
 * lives in the arena. ERR_USAGE names the parameter, its values, and the nearest word. */
int call_read(struct arena *arena, const struct kernel_entry *entry, const json_t *problem, const json_t *config,
              struct call *call, struct err *err);
/* A copy that lives in another arena. */
void call_copy(struct arena *arena, const struct call *from, struct call *to);

/* Values of single parameters, checked against their rows. */

/* ERR_USAGE if the value has the wrong type, is out of bounds or is not one of the words. */
int param_read(struct arena *arena, const struct ss_param *param, const json_t *json, struct ss_value *out,
               struct err *err);
/* The initial value, which need not be inside the bounds; ERR_USAGE if the row has none. */
int param_initial(struct arena *arena, const struct ss_param *param, struct ss_value *out, struct err *err);

/* Plug-ins: shared objects with third-party kernels, loaded once and kept to the end. */

enum { LIBRARIES_MAX = 64, LIBRARY_KERNELS_MAX = 64 };

struct libraries;

struct libraries *libraries_new(void);
void libraries_free(struct libraries *libraries); /* unloads nothing, because threads may still run in there */
/* The kernels of the plug-in with this absolute path, ended by a NULL kernel, each with the file's hash as source;
 * they live as long as the process. ERR_USAGE says what is wrong with the file or its tables, or that it has changed
 * since it was loaded. */
const struct kernel_entry *libraries_load(struct libraries *libraries, const char *path, struct err *err);

/* Answers to "compile": configurations that a process without a device compiles into the cache on disk. */

enum { COMPILE_ARCH_LEAST = 10, COMPILE_ARCH_MOST = 1000 };

/* A request that names a kernel of ours. *compiler is made when it is first needed. New reference; NULL with err for a
 * bad request, or without a compiler. */
json_t *compile_kernel_answer(struct gpu_compiler **compiler, const json_t *request, struct err *err);
/* The answer for what gpu_compile_ahead returned; NULL with err if the source is not the cause. */
json_t *compile_answer(bool fine, const struct gpu_ahead *ahead, struct err *why, struct err *err);

/* Devices that run kernels: the word of a request, and the GPUs that this worker has opened. */

/* OpenCL's devices come after DEVICE_OPENCL, HIP's after DEVICE_HIP. */
enum { DEVICE_CPU = -1, DEVICE_OPENCL = 1 << 16, DEVICE_HIP = 1 << 17 };

/* "cpu", "cuda", "cuda:1", "opencl", "hip" -> DEVICE_CPU, 0, 1, DEVICE_OPENCL, DEVICE_HIP. */
int device_read(const char *word, int *index, struct err *err);
/* The device's name in kernels' tables: "cpu", "cuda", "opencl", "hip". */
const char *device_kind(int index);
const char *device_kind_of(const struct gpu *gpu); /* NULL: the CPU */

struct devices;
struct devices *devices_new(void); /* opens nothing yet */
void devices_free(struct devices *devices);
/* Opens the device on first use; NULL with ERR_UNAVAILABLE on failure, and NULL for DEVICE_CPU. */
struct gpu *devices_get(struct devices *devices, int index, struct err *err);
/* Describes the device, opened or not; false with ERR_UNAVAILABLE if it cannot be used. Not for DEVICE_CPU. */
bool devices_facts(struct devices *devices, int index, struct gpu_facts *facts, struct err *err);
#endif
