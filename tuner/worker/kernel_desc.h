/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels as the worker describes them. Everything is checked, because a plug-in may be in there. */
#ifndef TUNER_WORKER_KERNEL_DESC_H
#define TUNER_WORKER_KERNEL_DESC_H
#include <stddef.h>

#include "base/err.h"
#include "base/value.h"

struct kernel_param {
	const char *name, *summary, *values /* may be NULL */, *initial, *when /* may be NULL */;
	enum value_type type;
	bool text;       /* any word is valid, for example a file name; `values` are the built-in ones */
	double min, max; /* both 0: unbounded */
};

struct kernel_desc {
	const char *name, *summary, *source;
	const char *library; /* the plug-in with this kernel; NULL: built in */
	const char *device;  /* "cpu", "cuda": a kernel may exist for several devices */
	bool openmp, schedule;
	bool team_given;                             /* `threads` is part of the problem: not searched unless requested */
	const char *schedule_when, *unsafe, *serial; /* may be NULL; see kernels/kernel.h */
	struct kernel_param *params, *problem;
	size_t param_count, problem_count;
	const char **constraints;
	size_t constraint_count;
};

struct kernel_list; /* owns all strings */
/* Reads the answer to "describe" for a plug-in (NULL: built-in kernels). ERR_FAILED names what is wrong with it. */
struct kernel_list *kernel_list_new(const json_t *description, const char *library, struct err *err);
void kernel_list_free(struct kernel_list *list);
size_t kernel_list_count(const struct kernel_list *list);
const struct kernel_desc *kernel_list_at(const struct kernel_list *list, size_t i);
/* ERR_USAGE: the hint names the nearest kernel, or the kernels that run on this device. */
const struct kernel_desc *kernel_list_find(const struct kernel_list *list, const char *name, const char *device,
                                           struct err *err);
/* Returns [{"name","devices":[..], and the rest of the description}], each name once, for one device or (NULL) for all.
 * New reference. */
json_t *kernel_list_json(const struct kernel_list *list, const char *device);
/* The complete description (compiler, cflags, openmp, counters); borrowed. */
const json_t *kernel_list_description(const struct kernel_list *list);
#endif
