/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/tune/item.h"
#include "src/plan/plan.h"
#include "tuner/build/compile.h"

static int work_open(void *ctx, struct worker *worker, void **state, struct runner *runner, struct err *err) {
	(void)ctx;
	(void)state;
	(void)err;
	*runner = worker_runner(worker);
	return 0;
}

struct kernel_item {
	struct plan *plan;
	struct worker *worker;
	struct compile_kernel *ahead; /* NULL: not for CUDA, or of a plug-in */
};

/* Compiles ahead for the GPU that measures. */
static int open_kernel(struct tune_item *item, struct app *app, struct err *err) {
	struct kernel_item *k = item->state;
	int arch = app_gpu_arch(app, err);
	if (arch <= 0)
		return arch;
	k->ahead = compile_kernel_new(item->task.kernel, k->plan->problem, k->worker, arch);
	item->task.builder = compile_kernel_builder(k->ahead);
	item->shares_builds = true;
	item->runner = compile_kernel_runner(k->ahead);
	return 0;
}

static void free_kernel(struct tune_item *item) {
	mem_auto struct kernel_item *k = item->state;
	compile_kernel_free(k->ahead);
	plan_free(k->plan);
}

struct tune_item *tune_item_kernel_at(struct app *app, const struct kernel_desc *kernel, const struct opt_args *args,
                                      const char *size, struct err *err) {
	struct worker *worker = app_worker(app, err);
	struct plan *plan = worker ? plan_new_at(app, kernel, args, size, err) : NULL;
	if (!plan)
		return NULL;
	struct tune_item *item = mem_alloc(1, sizeof *item);
	struct kernel_item *state = mem_alloc(1, sizeof *state);
	*state = (struct kernel_item){.plan = plan, .worker = worker};
	*item = (struct tune_item){
		.state = state, .runner = worker_runner(worker), .work = {.open = work_open}, .free = free_kernel};
	if (!kernel->library && strcmp(app_device_kind(app), "cuda") == 0)
		item->open = open_kernel;
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
