/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "src/app/app.h"
#include "src/cmd/tune/item.h"
#include "src/plan/plan.h"
#include "tuner/build/compile.h"
#include "tuner/spec/cuda/cuda.h"

static int kernel_work_open(void *ctx, struct worker *worker, void **state, struct runner *runner, struct err *err) {
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
	struct plan *plan = worker ? plan_new(app, kernel, args, size, err) : NULL;
	if (!plan)
		return NULL;
	struct tune_item *item = mem_alloc(1, sizeof *item);
	struct kernel_item *state = mem_alloc(1, sizeof *state);
	*state = (struct kernel_item){.plan = plan, .worker = worker};
	*item = (struct tune_item){
		.state = state, .runner = worker_runner(worker), .work = {.open = kernel_work_open}, .free = free_kernel};
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

/* An item for a CUDA, OpenCL or HIP function of a specification. Everything except the GPU is checked when it is
 * created. */
struct source_item {
	struct spec *spec;
	struct spec_cuda *source;
};

/* Runs in the thread of a node, whose worker makes a reference of its own. */
static int source_work_open(void *ctx, struct worker *worker, void **state, struct runner *runner, struct err *err) {
	const struct tune_item *item = ctx;
	const struct source_item *s = item->state;
	struct spec_cuda *source = spec_cuda_new(s->spec, worker, err);
	if (!source)
		return -1;
	*state = source;
	*runner = spec_cuda_runner(source);
	return 0;
}

static void source_work_close(void *state) {
	spec_cuda_free(state);
}

/* Compiles ahead for the GPU that measures; OpenCL's and HIP's compilers look at the device, so there the worker
 * compiles. */
static int open_source(struct tune_item *item, struct app *app, struct err *err) {
	struct source_item *s = item->state;
	int arch = app_gpu_arch(app, err);
	if (arch > 0)
		item->task.builder = spec_cuda_ahead(s->source, arch);
	item->shares_builds = arch > 0;
	return arch < 0 ? -1 : 0;
}

static void free_source(struct tune_item *item) {
	mem_auto struct source_item *s = item->state;
	spec_cuda_free(s->source);
	spec_free(s->spec);
}

/* Without --device, each language uses its first device. */
static int device_use(struct app *app, const struct spec *spec, const struct opt_args *args, struct err *err) {
	bool opencl = spec_language(spec) == SPEC_OPENCL;
	const char *kind = spec_device(spec_language(spec)), *language = spec_language_word(spec);
	if (!opt_has(args, "device"))
		return app_device_use(app, kind, err);
	if (strcmp(app_device_kind(app), kind) == 0)
		return 0;
	char hint[80];
	snprintf(hint, sizeof hint, "give --device %s, or leave --device out", kind);
	if (!app_device(app))
		return err_set(err, ERR_USAGE, hint, "%s does not run on the CPU%s", language,
		               opencl ? " by this name: --device opencl with an OpenCL for CPUs does" : "");
	return err_set(err, ERR_USAGE, hint, "%s does not run on %s", language, app_device(app));
}

struct tune_item *tune_item_gpu(struct app *app, struct spec *spec, const struct opt_args *args, struct err *err) {
	struct worker *worker = device_use(app, spec, args, err) ? NULL : app_worker(app, err);
	struct spec_cuda *source = worker ? spec_cuda_new(spec, worker, err) : NULL;
	if (!source)
		return NULL;
	struct tune_item *item = mem_alloc(1, sizeof *item);
	struct source_item *s = mem_alloc(1, sizeof *s);
	*s = (struct source_item){.spec = spec, .source = source};
	*item = (struct tune_item){.state = s,
	                           .kernel = spec_cuda_kernel(source),
	                           .runner = spec_cuda_runner(source),
	                           .work = {.ctx = item, .open = source_work_open, .close = source_work_close},
	                           .open = open_source,
	                           .made_by_open = true,
	                           .free = free_source};
	item->task = (struct tune_task){
		.kernel = spec_name(spec),
		.source = spec_cuda_source(source),
		.device = app_device(app),
		.hooks.annotate = spec_cuda_annotate,
		.hooks.annotate_ctx = source,
		.flush_l2 = opt_has(args, "flush-l2"),
		.problem = spec_cuda_problem(source),
		.space = spec_space(spec),
		.baseline = spec_baseline(spec),
		.start = UINT64_MAX,
	};
	if (space_config_read(spec_space(spec), spec_baseline(spec), NULL, &item->task.start, NULL))
		item->task.start = UINT64_MAX;
	return item;
}
