/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/plan/plan.h"
#include "src/cmd/tune/item.h"

static int work_open(void *ctx, struct worker *worker, void **state, struct runner *runner, struct err *err) {
	(void)ctx;
	(void)state;
	(void)err;
	*runner = worker_runner(worker);
	return 0;
}

static void free_plan(struct tune_item *item) {
	plan_free(item->state);
}

struct tune_item *tune_item_kernel(struct app *app, const struct kernel_desc *kernel, const struct opt_args *args,
                                   struct err *err) {
	return tune_item_kernel_at(app, kernel, args, NULL, err);
}

struct tune_item *tune_item_kernel_at(struct app *app, const struct kernel_desc *kernel, const struct opt_args *args,
                                      const char *size, struct err *err) {
	struct worker *worker = app_worker(app, err);
	struct plan *plan = worker ? plan_new_at(app, kernel, args, size, err) : NULL;
	if (!plan)
		return NULL;
	struct tune_item *item = mem_alloc(1, sizeof *item);
	*item = (struct tune_item){
		.state = plan, .runner = worker_runner(worker), .work = {.open = work_open}, .free = free_plan};
	item->task = (struct tune_task){
		.kernel = kernel->name,
		.source = kernel->source,
		.library = kernel->library,
		.device = app_device(app),
		.flush_l2 = opt_has(args, "flush-l2"),
		.problem = plan->problem,
		.space = plan->space,
		.baseline = plan->baseline,
		.start = plan->start,
		.unsafe = kernel->unsafe,
	};
	return item;
}

void tune_item_free(struct tune_item *item) {
	if (!item)
		return;
	item->free(item);
	free(item->folder);
	free(item);
}
