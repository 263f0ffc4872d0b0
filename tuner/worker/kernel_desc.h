/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels as the worker describes them: checked, since a worker may lie. */
#ifndef TUNER_WORKER_KERNEL_DESC_H
#define TUNER_WORKER_KERNEL_DESC_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"
#include "src/base/value.h"

struct kernel_param {
	const char *name, *summary, *values /* may be NULL */, *initial, *when /* may be NULL */;
	enum value_type type;
	bool text;       /* any word will do: a file, for example; `values` are those that are built in */
	double min, max; /* both 0: no bounds */
};

struct kernel_desc {
	const char *name, *summary, *source;
	const char *library; /* plug-in that it is in; NULL: built in */
	const char *device;  /* "cpu", "cuda": one name may be there for several */
	bool openmp, schedule, racy;
	bool team_given;                             /* threads is part of the question: not searched unless asked for */
	const char *schedule_when, *unsafe, *serial; /* may be NULL; see kernels/kernel.h */
	struct kernel_param *params, *problem;
	size_t param_count, problem_count;
	const char **constraints;
	size_t constraint_count;
};

struct kernel_list; /* owns the texts */
/* From the answer to "describe", with the plug-in that was asked for (NULL: built in). ERR_FAILED names what is wrong
 * with it. */
struct kernel_list *kernel_list_new(const json_t *description, const char *library, struct err *err);
void kernel_list_free(struct kernel_list *list);
size_t kernel_list_count(const struct kernel_list *list);
const struct kernel_desc *kernel_list_at(const struct kernel_list *list, size_t i);
/* ERR_USAGE with the nearest name, or with the kernels that run on this device. */
const struct kernel_desc *kernel_list_find(const struct kernel_list *list, const char *name, const char *device,
                                           struct err *err);
/* [{"name","devices":[..], and all else as the worker describes it}], each name once, of one device or (NULL) of all.
 * New reference. */
json_t *kernel_list_json(const struct kernel_list *list, const char *device);
/* The whole description (compiler, cflags, openmp, counters); borrowed. */
const json_t *kernel_list_description(const struct kernel_list *list);

#endif
