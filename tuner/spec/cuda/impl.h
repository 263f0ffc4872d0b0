/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder. */
#ifndef TUNER_SPEC_CUDA_IMPL_H
#define TUNER_SPEC_CUDA_IMPL_H
#include "tuner/spec/c/impl.h"
#include "tuner/spec/spec.h"

struct cuda_argument {
	struct c_argument c; /* first, for c_arguments_check */
	bool constant;
	const char *file; /* absolute; NULL: none */
};

struct cuda_kernel {
	struct t1_launch launch;    /* json: KernelSpecification; the names of parameters have their largest value */
	const char *name, *file;    /* file: absolute */
	const char *const *options; /* NULL-terminated, NVRTC's or those of clBuildProgram */
	struct cuda_argument *arguments;
	size_t argument_count;
	bool resets, made;    /* an argument is restored before each run; the reference of an output has to be made */
	const char *language; /* "CUDA", "OpenCL", "HIP" */
	const char *verify, *folder; /* a command and where it runs; NULL: none */
	const char *compiler;        /* the parameter that chooses nvcc or nvrtc; NULL: none does */
	json_t *depends;             /* OutputDependsOn: names of parameters; NULL: none. Part of launch.json */
};

/* json is borrowed and must outlive the kernel; all else lives in the arena. */
int cuda_kernel_read(const json_t *json, enum spec_language language, const char *folder, const struct space *space,
                     struct arena *arena, struct cuda_kernel *kernel, struct err *err);

/* Compiles before a configuration is measured. The kernel and the worker are borrowed. */
struct cuda_ahead;
#endif
