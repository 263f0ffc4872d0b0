/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/tune_item.h"
#include "tuner/spec_c.h"

/* A C function of a specification. */
struct function_item {
	struct spec *spec;
	struct spec_c *function;
	json_t *problem;
};

static int open_function(struct tune_item *item, struct app *app, struct err *err) {
	struct function_item *f = item->state;
	struct worker *worker = app_worker(app, err);
	f->function = worker ? spec_c_new(f->spec, worker, err) : NULL;
	if (!f->function)
		return -1;
	item->runner = spec_c_runner(f->function);
	item->task.source = spec_c_source(f->function);
	return 0;
}

static void free_function(struct tune_item *item) {
	struct function_item *f = item->state;
	spec_c_free(f->function);
	json_decref(f->problem);
	spec_free(f->spec);
	free(f);
}

static struct tune_item *function_new(struct spec *spec) {
	struct tune_item *item = mem_alloc(1, sizeof *item);
	struct function_item *f = mem_alloc(1, sizeof *f);
	*f = (struct function_item){.spec = spec, .problem = json_object()};
	*item = (struct tune_item){.state = f, .open = open_function, .free = free_function};
	item->task = (struct tune_task){
		.kernel = spec_name(spec),
		.source = spec_hash(spec),
		.problem = f->problem,
		.space = spec_space(spec),
		.baseline = spec_baseline(spec),
		.start = UINT64_MAX,
	};
	if (space_config_read(spec_space(spec), spec_baseline(spec), NULL, &item->task.start, NULL))
		item->task.start = UINT64_MAX;
	return item;
}

struct tune_item *tune_item_spec(struct app *app, const char *path, const struct opt_args *args, struct err *err) {
	struct spec *spec = spec_load(path, err);
	struct tune_item *item = NULL;
	if (!spec)
		return NULL;
	switch (spec_language(spec)) {
	case SPEC_COMMAND:
		item = tune_item_command(app, spec, args, err);
		break;
	case SPEC_C:
		item = function_new(spec);
		break;
	case SPEC_CUDA:
		err_set(err, ERR_UNAVAILABLE, "`sweetspot list params --spec` counts its space",
		        "%s wants a GPU: this version runs specifications of the languages Command and C", path);
		break;
	case SPEC_OTHER:
		err_set(err, ERR_USAGE, "its KernelSpecification's Language is Command or C", "%s is written for %s", path,
		        spec_language_word(spec));
	}
	if (!item)
		spec_free(spec);
	return item;
}
