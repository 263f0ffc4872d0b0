/* SPDX-License-Identifier: BSD-3-Clause */
/* The internals of this layer; only gpu/ and its tests include it. */
#ifndef GPU_GPU_IMPL_H
#define GPU_GPU_IMPL_H
#include "gpu/backend.h"

/* Returns true on success; otherwise keeps the failure. */
bool gpu_succeeded(struct gpu *gpu, const char *call, driver_result result);
bool gpu_lacks(struct gpu *gpu, const char *call);
enum gpu_failure gpu_failure_of(driver_result result);
#define GPU_CALL(gpu, name, ...)                                                                                       \
	((gpu)->driver.name ? gpu_succeeded((gpu), #name, (gpu)->driver.name(__VA_ARGS__)) : gpu_lacks((gpu), #name))
/* False after a failure. Makes the context current, because there may be several. */
bool gpu_enter(struct gpu *gpu);
/* The same for resources that are released even after a failure; false if the device is unusable. */
bool gpu_enter_to_free(struct gpu *gpu);

void pool_free(struct gpu *gpu);

/* The driver, which must know the device facts.index, and the compiler. */
int libraries_open(struct gpu *gpu, const struct driver_api *api, struct err *err);

struct occupancy {
	int blocks; /* that an SM holds */
	double occupancy;
	const char *limiter;
};
struct occupancy occupancy_of(const struct gpu_facts *device, const struct gpu_function_facts *function,
                              unsigned threads, size_t dynamic_shared);

/* module.c: the user's source with the options that it needs; it refers to its own fields. */
enum { HEADERS_OPTION = 600 };
struct text_source {
	struct source source;
	const char *words[COMPILE_OPTIONS_MAX + 1];
	char headers[2][HEADERS_OPTION], seen[SHA256_TEXT];
};
#endif
