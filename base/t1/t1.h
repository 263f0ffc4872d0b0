/* SPDX-License-Identifier: BSD-3-Clause */
/* Those parts of T1 tuning specifications that the tuner and the launcher of tuned kernels both read: the values of a
 * parameter, conditions, and the shape of a launch. */
#ifndef BASE_T1_T1_H
#define BASE_T1_T1_H
#include "base/mem.h"
#include "base/expr/expr.h"

/* The Values of a parameter from a Python list expression: lists, tuples, sets, range(), list(), tuple(), set(),
 * sorted(), lists joined by + and repeated by *, comprehensions with one `for` and one `if`. The first of equal
 * values stays. Words and array live in the arena; ERR_USAGE has the place in the text. */
int t1_values(const char *text, struct arena *arena, struct value **values, size_t *count, struct err *err);

/* One of TuningParameters: its values, and which of them is its Default; -1: none is. */
struct t1_param {
	struct arena *arena; /* of the words and of `values` */
	const char *name;    /* in the JSON */
	struct value *values;
	size_t count;
	int place;
};
int t1_param_read(const json_t *json, struct t1_param *param, struct err *err);

/* The condition in Python: && || ! of C become and, or, not unless that would change the meaning. The caller frees it;
 * NULL and err. */
char *t1_condition(const char *text, struct err *err);

/* A name that neither C, the compiler nor a generated file uses. */
bool t1_is_name(const char *text);
/* "-DNAME=VALUE" for a member of a configuration; ERR_USAGE where the name or the value cannot be part of C. */
const char *t1_define(struct arena *arena, const char *name, struct value value, struct err *err);

bool t1_is_plain(const char *text); /* without control characters */
/* CompilerOptions, as far as they are harmless, at options[*count] .., which has room for T1_OPTIONS_MAX. Folders to
 * include from are relative to `folder`. */
enum { T1_OPTIONS_MAX = 16 };
int t1_options_read(const json_t *kernel, const char *language, const char *folder, struct arena *arena,
                    const char **options, size_t *count, struct err *err);

/* How KernelSpecification launches a function of a GPU. */
struct t1_launch {
	const json_t *json; /* KernelSpecification */
	bool opencl;
	double problem[3];
	/* The names that expressions may use: scalar arguments, and parameters. The room is for all of them. */
	struct t1_names {
		struct t1_name {
			const char *name;
			struct value value;
		} * at;
		size_t count;
	} names;
	bool macro[7]; /* the source has the words of t1_macros */
};
/* Kernel Tuner's words for the size of a block and of the grid, in x, y and z, and for itself. */
extern const char *const t1_macros[7];

void t1_names_set(struct t1_names *names, const char *name, struct value value);
/* The scalars with their FillValues, and ProblemSize, which may name those that are numbers. */
int t1_launch_read(struct t1_launch *launch, const json_t *arguments, struct arena *arena, struct err *err);
/* ProblemSize, from the present values of the names. */
int t1_problem_read(struct t1_launch *launch, struct err *err);
void t1_macros_find(struct t1_launch *launch, const char *source);

/* A number, or a text with ProblemSize[i], names and arithmetic; `where` names the member in messages. */
int t1_evaluate(const struct t1_launch *launch, const struct t1_names *names, const json_t *json, const char *where,
                double *out, struct err *err);
/* The same with the launch's own names, for a whole number from min to max. */
int t1_whole(const struct t1_launch *launch, const struct t1_names *names, const json_t *json, const char *where,
             double min, double max, double *out, struct err *err);
bool t1_is_scalar(const json_t *argument);

/* The names with this configuration's values in place of their own, and room for one more; at is for free(3). */
struct t1_names t1_names_of(const struct t1_launch *launch, const json_t *config);
/* Blocks, threads of a block and dynamic shared bytes of a configuration. */
struct t1_shape {
	double grid[3], block[3], shared;
};
int t1_shape_of(const struct t1_launch *launch, const json_t *config, struct t1_shape *shape, struct err *err);
/* The configuration as options, "-DNAME=VALUE", and with the macros of Kernel Tuner that the source uses. New
 * reference; NULL and err. */
json_t *t1_defines(const struct t1_launch *launch, const json_t *config, const struct t1_shape *shape, struct err *err);
/* The source with such options, NULL-terminated, as macros in front. As options they would reach the headers that a
 * compiler includes on its own, such as PoCL's, whose names may be the same. The caller frees it. */
char *t1_source(const char *const *defines, const char *text);
#endif
