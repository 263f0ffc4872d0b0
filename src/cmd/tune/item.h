/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An item that `tune` tunes: a kernel, a program, or the subject of a specification. All items are created, and thereby
 * checked, before the first one is measured, so that a mistake in the last one is found at once. */
#ifndef SRC_CMD_TUNE_ITEM_H
#define SRC_CMD_TUNE_ITEM_H
#include "src/app/cmd.h"
#include "tuner/fleet/pool_workers.h"
#include "tuner/spec/spec.h"
#include "tuner/tune/tune.h"

struct tune_item {
	/* Complete except for the strategy, seed, budget, store and runner, which the session fills in. */
	struct tune_task task;
	const char *const *notes;       /* notes for the user, printed first, NULL-terminated; may be NULL */
	struct trial_counters counters; /* as far as the session has checked them */
	const char *kernel;             /* the worker's name for it; NULL: that of the task */
	struct pool_work work;          /* runs it on a node; open is NULL if that is impossible */
	bool shares_builds;             /* nodes find through a cache what the task's builder has made */
	char *folder;                   /* visible on all nodes; NULL: not needed yet */
	struct runner runner;           /* set from the start, or by open */
	void *state;
	int (*open)(struct tune_item *item, struct app *app,
	            struct err *err); /* called before the first trial; may be NULL */
	bool made_by_open;            /* the worker does not know the kernel before that */
	/* The command of a configuration, which the caller frees; NULL: it is not a command. */
	char *(*line)(const struct tune_item *item, const json_t *config);
	void (*free)(struct tune_item *item); /* called even if open failed */
};

/* As tune_item_kernel, with an additional word of --size such as "n=512", or NULL. */
struct tune_item *tune_item_kernel_at(struct app *app, const struct kernel_desc *kernel, const struct opt_args *args,
                                      const char *size, struct err *err);
/* build_timeout_s: of one build; 0: the default. */
struct tune_item *tune_item_program(struct app *app, const struct opt_args *args, double build_timeout_s,
                                    struct err *err);
struct tune_item *tune_item_spec(struct app *app, const char *path, const struct opt_args *args, double build_timeout_s,
                                 struct err *err);
/* For a specification in the language "CUDA", "OpenCL" or "HIP"; ownership as above. */
struct tune_item *tune_item_gpu(struct app *app, struct spec *spec, const struct opt_args *args, struct err *err);
void tune_item_free(struct tune_item *item); /* NULL is allowed */
#endif
