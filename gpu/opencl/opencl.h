/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenCL device beneath a struct gpu: what gpu.h's functions do there. Failures go to the gpu. */
#ifndef GPU_OPENCL_OPENCL_H
#define GPU_OPENCL_OPENCL_H
#include "gpu/open.h"
#include "gpu/opencl/library.h"

struct opencl; /* an open device with its memory, queue and time */
/* word: see opencl_find. NULL with ERR_UNAVAILABLE if the device does not exist or does not open. */
struct opencl *opencl_open(struct gpu *gpu, const char *word, struct gpu_facts *facts, struct err *err);
void opencl_close(struct opencl *ocl);
/* A text that tells this device's compiler from others. */
const char *opencl_identity(const struct opencl *ocl);

/* memory.c; an address is a place in our own numbering, because OpenCL has buffers and not addresses. */
uint64_t opencl_alloc(struct opencl *ocl, size_t size);
void opencl_free(struct opencl *ocl, uint64_t memory);
void opencl_upload(struct opencl *ocl, uint64_t to, const void *from, size_t size);
void opencl_download(struct opencl *ocl, void *to, uint64_t from, size_t size);
void opencl_copy(struct opencl *ocl, uint64_t to, uint64_t from, size_t size);
void opencl_fill(struct opencl *ocl, uint64_t to, uint32_t value, size_t bytes_each, size_t count);

/* program.c */
/* NULL after a failure: GPU_COMPILE with the compiler's first error. */
opencl_program opencl_build(struct opencl *ocl, const char *name, const char *text, const char *options);
/* NULL, without a failure, if the binary does not load: it may be meant for an earlier driver. */
opencl_program opencl_load(struct opencl *ocl, const char *binary, size_t size, const char *options);
/* The binary to keep, for free(3); NULL if there is none. */
char *opencl_binary(struct opencl *ocl, opencl_program program, size_t *size);
void opencl_program_free(struct opencl *ocl, opencl_program program);

/* launch.c */
opencl_kernel opencl_function(struct opencl *ocl, opencl_program program, const char *name, int *parameters,
                              struct gpu_function_facts *facts);
void opencl_function_free(struct opencl *ocl, opencl_kernel kernel);
/* Arguments as gpu_launch has them; kinds says what they are. */
void opencl_launch(struct opencl *ocl, opencl_kernel kernel, const char *name, const struct gpu_shape *shape,
                   const struct gpu_passed *kinds, size_t count, void *const *arguments);
bool opencl_sync(struct opencl *ocl);
void opencl_clock_start(struct opencl *ocl);
double opencl_clock_stop(struct opencl *ocl); /* from the first launch's start to the last one's end */

#endif
