/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thing that `tune` is to tune: a kernel, a program, or what a specification describes. All items are made, and so
 * checked, before the first is measured: a typing error in the last costs nothing. */
#ifndef SRC_CMD_TUNE_ITEM_H
#define SRC_CMD_TUNE_ITEM_H
#include "src/app/cmd.h"
#include "tuner/fleet/pool_workers.h"
#include "tuner/spec/spec.h"
#include "tuner/tune/tune.h"

struct tune_item {
	/* Complete but for what the session decides: strategy, seed, budget, store, and the runner. */
	struct tune_task task;
	const char *const *notes;       /* what the user should know first, NULL-terminated; may be NULL */
	struct trial_counters counters; /* what the session has found out about them */
	const char *kernel;             /* the worker's name of it; NULL: the task's */
	struct pool_work work;          /* what a node runs it with; open NULL: it can't go there */
	char *folder;                   /* that all nodes see; NULL: not needed yet */
	struct runner runner;           /* there from the start, or made by open */
	void *state;
	int (*open)(struct tune_item *item, struct app *app, struct err *err); /* before its first trial; may be NULL */
	void (*free)(struct tune_item *item);                                  /* also after a failed open */
};

/* NULL and err for what the options don't allow. */
struct tune_item *tune_item_kernel(struct app *app, const struct kernel_desc *kernel, const struct opt_args *args,
                                   struct err *err);
/* With one more word of --size, "n=512"; NULL: none. */
struct tune_item *tune_item_kernel_at(struct app *app, const struct kernel_desc *kernel, const struct opt_args *args,
                                      const char *size, struct err *err);
struct tune_item *tune_item_program(struct app *app, const struct opt_args *args, struct err *err);
struct tune_item *tune_item_spec(struct app *app, const char *path, const struct opt_args *args, struct err *err);
/* Of a specification whose language is "Command"; owns the specification where it succeeds. */
struct tune_item *tune_item_command(struct app *app, struct spec *spec, const struct opt_args *args, struct err *err);
/* Of one whose language is "CUDA", in the same way. */
struct tune_item *tune_item_cuda(struct app *app, struct spec *spec, const struct opt_args *args, struct err *err);
/* Of FILE.cu and its options (src/plan/source_spec.h). */
struct tune_item *tune_item_source(struct app *app, const char *path, const struct opt_args *args, struct err *err);
void tune_item_free(struct tune_item *item); /* NULL is fine */

#endif
