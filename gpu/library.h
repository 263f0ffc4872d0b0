/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA's libraries, opened when they are first needed. A call that a library does not export is NULL. */
#ifndef GPU_LIBRARY_H
#define GPU_LIBRARY_H
#include <stdbool.h>

#include "gpu/driver_abi.h"
#include "gpu/gpu.h"
#include "gpu/nvml_abi.h"
#include "gpu/nvrtc_abi.h"

struct library {
	void *handle; /* NULL: not open */
	char path[256];
};

struct driver_api;
struct driver {
	struct library library;
	const struct driver_api *api;
	int version; /* 13000 */
#define DRIVER_POINTER(name, symbol, parameters) driver_result(*name) parameters;
	DRIVER_CALLS(DRIVER_POINTER)
#undef DRIVER_POINTER
	const char *(*word)(driver_result result); /* HIP's, instead of error_name */
};

struct nvrtc {
	struct library library;
	bool is_hip; /* hiprtc: the options are Clang's, and the code is for the GPU that is there */
	int major, minor;
#define NVRTC_POINTER(name, symbol, parameters) nvrtc_result(*name) parameters;
	NVRTC_CALLS(NVRTC_POINTER)
#undef NVRTC_POINTER
};

struct nvml {
	struct library library;
#define NVML_POINTER(name, symbol, parameters) nvml_result(*name) parameters;
	NVML_CALLS(NVML_POINTER)
#undef NVML_POINTER
};

enum { LIBRARY_WHY = 200 };
struct library_why {
	char reason[LIBRARY_WHY], fix[LIBRARY_WHY];
};

/* The libraries behind these tables: CUDA's, or HIP's, whose functions have the same shapes. */
struct driver_api {
	enum gpu_kind kind;
	const char *device, *list; /* "cuda"; the command that lists the devices */
	bool (*open)(struct driver *driver, struct library_why *why);
	bool (*compiler_open)(struct nvrtc *nvrtc, int driver_major, struct library_why *why);
	int (*attribute)(int which);              /* its number of one of DRIVER_NUMBERS; -1: it has none */
	const char *(*symbol)(const char *field); /* what the library exports for a field of struct driver */
};
extern const struct driver_api driver_cuda;

struct library_symbol {
	const char *name;
	size_t place;
};
/* Tries the names as they are, so that LD_LIBRARY_PATH decides, then beneath the roots, which may be NULL. `known`: a
 * function that tells where the library lies. */
bool library_open(struct library *library, const char *const *names, const char *known, const char *const *roots,
                  size_t root_count);
void library_close(struct library *library);
void library_symbols(void *table, const struct library *library, const struct library_symbol *symbols);
__attribute__((format(printf, 3, 4))) bool library_because(struct library_why *why, const char *fix, const char *format,
                                                           ...);

/* False with the reason in why. An opened library stays in the process; *_close forgets it. */
bool driver_open(struct driver *driver, struct library_why *why); /* cuInit is done */
/* driver_major: 13 of 13.0; code of a compiler newer than the driver may not load. 0: no matter. */
bool nvrtc_open(struct nvrtc *nvrtc, int driver_major, struct library_why *why);
bool nvml_open(struct nvml *nvml, struct library_why *why); /* nvmlInit is done */
bool cupti_find(struct library *library, unsigned *version, struct library_why *why);
void driver_close(struct driver *driver);
void nvrtc_close(struct nvrtc *nvrtc);
void nvml_close(struct nvml *nvml);
/* "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)" */
void driver_words(const struct driver *driver, const char *call, driver_result result, char *text, size_t size);

#endif
