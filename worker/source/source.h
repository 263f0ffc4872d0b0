/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's own CUDA or OpenCL source as a kernel: two texts of JSON describe it (doc/protocol.md), one for the
 * problem and one for the configuration. It is not in a registry; only requests name it. */
#ifndef WORKER_SOURCE_SOURCE_H
#define WORKER_SOURCE_SOURCE_H
#include <jansson.h>

#include "gpu/open.h"
#include "kernels/registry.h"
#include "base/mem.h"

/* "t1", and "t1-reset", which restores read and written arguments before each run. A NULL kernel ends the list. */
extern const struct kernel_entry source_entries[];

enum { SOURCE_TEXT_MAX = 64 << 10, SOURCE_ARGUMENTS_MAX = 64, SOURCE_OPTIONS_MAX = 88 };
enum source_kind { SOURCE_SIGNED, SOURCE_UNSIGNED, SOURCE_REAL };
enum source_access { SOURCE_READ_ONLY, SOURCE_WRITE_ONLY, SOURCE_READ_WRITE };
enum source_memory { SOURCE_VECTOR, SOURCE_SCALAR, SOURCE_CONSTANT };

/* How an output is compared with its reference: by its elements; by sums of the elements whose indices are equal modulo
 * `columns`; by its elements in order; by the root of the sum of their squares; or by the problem's command. */
enum source_verified { SOURCE_ELEMENTS, SOURCE_SUM, SOURCE_SORTED, SOURCE_NORM, SOURCE_COMMAND };

/* An element is right if it differs from the reference by at most absolute + relative * |reference|. Without `given`,
 * reals may differ by a part of the largest reference value, and whole numbers must be equal. The share of the elements
 * may be wrong. */
struct source_tolerance {
	bool given;
	double absolute, relative, share;
};

struct source_argument {
	const char *name;
	enum source_kind kind;
	enum source_access access;
	enum source_memory memory;
	size_t bytes, count; /* bytes of an element; elements */
	bool random, output;
	double real;      /* the value, or the bound of random ones */
	uint64_t whole;   /* the same for whole numbers, two's complement */
	const char *file; /* raw elements; NULL: filled */
	enum source_verified by;
	size_t columns;
	bool single; /* it is a sum or a norm of elements of single precision */
	struct source_tolerance tolerance;
	const char *reference; /* raw reference elements; NULL: the output of a run with `reference` */
};

struct source_problem {
	const char *file, *function;
	const char *const *options; /* NULL-terminated */
	struct source_argument *arguments;
	size_t count;
	const char *command, *folder; /* verifies outputs, as files in $OUTPUTS, in this folder; NULL: none */
};

struct source_config {
	const char *const *defines; /* -DNAME=VALUE, NULL-terminated */
	struct gpu_shape shape;
	bool reference;       /* its outputs become the reference */
	const char *dump;     /* files that get what it has written, DUMP.0 and so on by argument; NULL: none */
	const char *compiler; /* "--compiler=nvcc" or "--compiler=nvrtc"; NULL: the problem's options tell */
};

/* Checks the texts; everything lives in the arena. */
int source_problem_read(struct arena *arena, const char *text, struct source_problem *problem, struct err *err);
int source_config_read(struct arena *arena, const char *text, struct source_config *config, struct err *err);
size_t source_size(const struct source_argument *argument);

/* Answers a request to compile (doc/protocol.md); *compiler is made when it is first needed. */
json_t *source_compile_answer(struct gpu_compiler **compiler, const json_t *request, struct err *err);

/* Sets a message of one line; returns the status. */
__attribute__((format(printf, 3, 4))) enum ss_status source_fail(const struct ss_call *call, enum ss_status status,
                                                                 const char *format, ...);

/* The absolute part of what elements may differ from their reference. */
double source_limit(const struct source_argument *argument, const unsigned char *want);
/* Compares the next `count` elements of an argument within its tolerance; *found begins as zeros. */
struct source_difference {
	size_t compared, wrong, first;
	unsigned char is[8]; /* the first wrong element */
};
void source_compare(const struct source_argument *argument, const unsigned char *is, const unsigned char *want,
                    size_t count, double limit, struct source_difference *found);

/* ---- data that lives in the worker ---- */

enum { SOURCE_GUARD = 4096, SOURCE_GUARD_BYTE = 0xA5 }; /* bytes after each vector that must stay untouched */

struct source_vector {
	unsigned char *host; /* content before a run */
	gpu_ptr device;      /* the same; 0 for large WriteOnly arguments */
	unsigned char *want; /* the reference */
	bool known;          /* want is filled */
	double limit;        /* source_limit of it */
	gpu_ptr wanted;      /* want on the device; 0: it is not there */
	uint32_t hash[2];    /* of what a ReadOnly argument must keep */
};

struct source_input {
	struct arena *arena;
	struct source_problem problem;
	struct source_vector vectors[SOURCE_ARGUMENTS_MAX];
	char *text; /* of the source */
	struct gpu *gpu;
	const struct gpu_module *look; /* compares on the device; NULL: the host does */
	gpu_ptr slots;                 /* what it has found */
};

struct source_state {
	struct arena *arena;
	struct source_input *input;
	struct source_config config;
	const struct gpu_function *function;
	gpu_ptr own[SOURCE_ARGUMENTS_MAX], at[SOURCE_ARGUMENTS_MAX]; /* freed by the owner */
	void *passed[SOURCE_ARGUMENTS_MAX + 1];
};

/* A hook of kernels/kernel.h. */
enum ss_status source_verify(void *memory, const struct ss_call *call);
void source_guard_set(struct gpu *gpu, gpu_ptr guard);
/* Fails unless a reference is finite. */
enum ss_status source_finite(const struct ss_call *call, const struct source_argument *a, const unsigned char *is);
/* Is what the argument holds never to be changed? */
static inline bool source_is_kept(const struct source_argument *a) {
	return a->memory != SOURCE_SCALAR && a->access == SOURCE_READ_ONLY;
}
/* The state of a vector after a run. */
struct source_look {
	bool done, guard_broken, changed;
	struct source_difference found;
};
/* Prepares the comparison on the device, once the inputs are there; ahead of that, it only has it compiled into the
 * cache on disk. */
void source_look_open(struct source_input *input, bool ahead);
/* The reference of an argument is known to the host, and lies on the device at `from`, unless that is 0. */
void source_wanted(struct source_input *input, size_t i, gpu_ptr from);
/* Looks at the vectors at these addresses, and at the elements of those that are compared, if the device can: done. */
void source_look(const struct source_input *input, const gpu_ptr *at, const bool *compared, struct source_look *looks);
#endif
