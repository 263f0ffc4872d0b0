/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder. */
#ifndef TUNER_SPEC_CUDA_IMPL_H
#define TUNER_SPEC_CUDA_IMPL_H
#include "base/expr/expr.h"
#include "tuner/spec/c/impl.h"
#include "tuner/spec/spec.h"

enum { CUDA_OPTIONS_MAX = 16, CUDA_DIVISORS_MAX = 16 };

/* The parameters and scalar arguments that an expression may use, with their values. */
struct cuda_names {
	struct cuda_name {
		const char *name;
		struct value value;
	} * at;
	size_t count;
	const double *problem; /* ProblemSize[0..2] */
};
void cuda_names_set(struct cuda_names *names, const char *name, struct value value);

/* A number, or a text with ProblemSize[i], names and arithmetic; `where` names the member in messages. */
int cuda_evaluate(const struct cuda_names *names, const json_t *json, const char *where, double *out, struct err *err);

struct cuda_argument {
	struct c_argument c; /* first, for c_arguments_check */
	bool constant;
	const char *file, *reference; /* absolute; NULL: none */
	const char *verify;           /* the worker's word; NULL: elements are compared */
};

struct cuda_kernel {
	const char *name, *file;    /* file: absolute */
	const char *const *options; /* NULL-terminated, NVRTC's or those of clBuildProgram */
	struct cuda_argument *arguments;
	size_t argument_count;
	bool resets, made;    /* an argument is restored before each run; the reference of an output has to be made */
	const char *language; /* "CUDA", "OpenCL", "HIP" */
	bool opencl;
	const char *verify, *folder; /* a command and where it runs; NULL: none */
	const char *compiler;        /* the parameter that chooses nvcc or nvrtc; NULL: none does */
	json_t *depends;             /* OutputDependsOn: names of parameters; NULL: none. Part of json */
	const json_t *json;          /* KernelSpecification */
	double problem[3];
	struct cuda_names names; /* scalars, and parameters with their largest value; room for all */
	bool macro[7];           /* the source has the words of cuda_macros */
};
extern const char *const cuda_macros[7];

/* json is borrowed and must outlive the kernel; all else lives in the arena. */
int cuda_kernel_read(const json_t *json, enum spec_language language, const char *folder, const struct space *space,
                     struct arena *arena, struct cuda_kernel *kernel, struct err *err);
int cuda_arguments_read(const json_t *json, const char *folder, struct arena *arena, struct cuda_kernel *kernel,
                        struct err *err);

/* The names with this configuration's values in place of the largest ones, and room for one more; at is for free(3). */
struct cuda_names cuda_names_of(const struct cuda_kernel *kernel, const json_t *config);

/* Blocks, threads of a block and dynamic shared bytes of a configuration. */
struct cuda_shape {
	double grid[3], block[3], shared;
};
int cuda_shape_of(const struct cuda_kernel *kernel, const json_t *config, struct cuda_shape *shape, struct err *err);

/* The worker's documents (doc/protocol.md). New references; NULL and err. */
json_t *cuda_problem_json(const struct cuda_kernel *kernel);
json_t *cuda_config_json(const struct cuda_kernel *kernel, const json_t *config, bool reference, struct err *err);

/* Compiles before a configuration is measured. The kernel and the worker are borrowed. */
struct cuda_ahead;
#endif
