/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/base/near.h"
#include "src/cmd.h"
#include "src/plan.h"
#include "src/results.h"
#include "tuner/export/export.h"
#include "tuner/spec.h"
#include "tuner/strategy/strategy.h"

enum { SAMPLES_MAX = 100000 };

static const struct opt options[] = {
	{"spec", 0, "FILE", "params of a T1 specification instead of a kernel", 0},
	{"sample", 0, "N", "with params: also N valid configurations, drawn at random", 0},
	{0},
};

static json_t *row(const char *name, const char *summary) {
	return json_pack("{s:s,s:s}", "name", name, "summary", summary);
}

static json_t *list_strategies(struct app *app, struct err *err) {
	json_t *array = json_array();
	(void)app;
	(void)err;
	for (const struct strategy *const *s = strategy_registry; *s; s++)
		json_array_append_new(array, row((*s)->name, (*s)->summary));
	return array;
}

static json_t *list_formats(struct app *app, struct err *err) {
	json_t *array = json_array();
	(void)app;
	(void)err;
	for (const struct export_format *const *f = export_registry; *f; f++)
		json_array_append_new(array, row((*f)->name, (*f)->summary));
	return array;
}

static json_t *described(const struct kernel_list *list, const char *what) {
	json_t *array = list ? json_object_get(kernel_list_description(list), what) : NULL;
	return json_is_array(array) ? json_incref(array) : list ? json_array() : NULL;
}

/* Kernels and counters as the worker describes them. */
static json_t *list_kernels(struct app *app, struct err *err) {
	return described(app_kernels(app, err), "kernels");
}

static json_t *list_counters(struct app *app, struct err *err) {
	return described(app_kernels(app, err), "counters");
}

/* "kernels ./libmine.so" */
static json_t *list_plugin(struct app *app, const char *path, struct err *err) {
	return described(app_plugin(app, path, err), "kernels");
}

/* What the counters count, one row an event. */
static json_t *list_metrics(struct app *app, struct err *err) {
	json_t *counters = list_counters(app, err), *array = counters ? json_array() : NULL;
	size_t i, k;
	json_t *counter, *event;
	json_array_foreach(counters, i, counter) {
		json_array_foreach(json_object_get(counter, "events"), k, event) {
			char *summary = mem_printf("counted by %s", js_string_or(counter, "name", "?"));
			json_array_append_new(array, row(json_string_value(event), summary));
			free(summary);
		}
	}
	json_decref(counters);
	return array;
}

static json_t *list_launchers(struct app *app, struct err *err) {
	json_t *array = json_array();
	(void)app;
	(void)err;
	json_array_append_new(array, row("local", "the worker as a child process on this machine"));
	return array;
}

static const struct {
	const char *name;
	json_t *(*list)(struct app *app, struct err *err);
} lists[] = {
	{"kernels", list_kernels}, {"strategies", list_strategies}, {"counters", list_counters},
	{"metrics", list_metrics}, {"formats", list_formats},       {"launchers", list_launchers},
};

static const char *text_of(const json_t *object, const char *key) {
	return js_string_or(object, key, "");
}

static void rows_print(struct ui *ui, const json_t *array) {
	static const char *const plain[] = {"name", "summary"}, *const states[] = {"name", "usable", "summary", "why"};
	bool usable = json_object_get(json_array_get(array, 0), "usable") != NULL;
	struct table *table = usable ? table_new(4, states) : table_new(2, plain);
	size_t i;
	json_t *item;
	json_array_foreach((json_t *)array, i, item) {
		if (usable)
			table_add(table, text_of(item, "name"), js_bool_or(item, "usable", false) ? "yes" : "no",
			          text_of(item, "summary"), text_of(item, "reason"));
		else
			table_add(table, text_of(item, "name"), text_of(item, "summary"));
	}
	table_print(table, ui, stdout);
	table_free(table);
}

static void params_print(struct ui *ui, const json_t *document) {
	static const char *const titles[] = {"parameter", "values", "where", "summary"};
	struct table *table = table_new(4, titles);
	size_t i, k;
	json_t *param, *value;
	json_array_foreach(json_object_get(document, "params"), i, param) {
		char *values = mem_strdup("");
		json_array_foreach(json_object_get(param, "values"), k, value) {
			struct value one;
			char text[64] = "?";
			if (value_from_json(value, &one))
				value_text(one, text, sizeof text);
			char *longer = mem_printf("%s%s%s", values, k ? "," : "", text);
			free(values);
			values = longer;
		}
		table_add(table, text_of(param, "name"), values, text_of(param, "when"), text_of(param, "summary"));
		free(values);
	}
	table_print(table, ui, stdout);
	table_free(table);
	const json_t *space = json_object_get(document, "space");
	printf("\n%.0f valid configurations of %.0f combinations\n", js_real_or(space, "valid", 0),
	       js_real_or(space, "cartesian", 0));
}

/* Configurations drawn uniformly, to see what a space is like. */
static json_t *samples_json(const struct space *space, long long count) {
	json_t *array = json_array();
	struct rng rng;
	rng_seed(&rng, 1);
	for (long long i = 0; i < count; i++) {
		uint64_t index = space_sample(space, &rng);
		json_array_append_new(array, space_config_json(space, index));
	}
	return array;
}

static void samples_print(const json_t *samples) {
	size_t i;
	json_t *config;
	json_array_foreach((json_t *)samples, i, config) {
		char *text = results_config(config, NULL);
		puts(text);
		free(text);
	}
}

static int params_show(struct app *app, const struct opt_args *args, json_t *document, const struct space *space,
                       struct err *err) {
	long long count = 0;
	if (opt_int(args, "sample", 1, SAMPLES_MAX, 0, &count, err))
		return -1;
	if (count)
		json_object_set_new(document, "samples", samples_json(space, count));
	if (opt_has(args, "json")) {
		js_write(document, stdout);
		return 0;
	}
	params_print(app_ui(app), document);
	samples_print(json_object_get(document, "samples"));
	return 0;
}

static int params_spec(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_words(args) > 1)
		return err_set(err, ERR_USAGE, NULL, "--spec takes the place of the kernel \"%s\"", opt_word(args, 1));
	for (const struct opt *o = plan_options; o->name; o++)
		if (opt_has(args, o->name))
			return err_set(err, ERR_USAGE, "change the file instead", "--%s is for kernels, not for a specification",
			               o->name);
	struct spec *spec = spec_load(opt_get(args, "spec", ""), err);
	if (!spec)
		return -1;
	json_t *document = space_json(spec_space(spec));
	json_object_set_new(document, "kernel", json_string(spec_name(spec)));
	json_object_set_new(document, "language", json_string(spec_language_word(spec)));
	json_object_set(document, "baseline", (json_t *)spec_baseline(spec));
	int status = params_show(app, args, document, spec_space(spec), err);
	json_decref(document);
	spec_free(spec);
	return status;
}

static int params(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "spec"))
		return params_spec(app, args, err);
	if (opt_words(args) < 2)
		return err_set(err, ERR_USAGE, "sweetspot list params KERNEL, or --spec FILE", "parameters of which kernel?");
	const struct kernel_desc *kernel = app_kernel(app, opt_word(args, 1), err);
	struct plan *plan = kernel ? plan_new(app, kernel, args, err) : NULL;
	if (!plan)
		return -1;
	json_t *document = space_json(plan->space);
	json_object_set_new(document, "kernel", json_string(kernel->name));
	json_object_set(document, "problem", plan->problem);
	json_object_set(document, "baseline", plan->baseline);
	int status = params_show(app, args, document, plan->space, err);
	json_decref(document);
	plan_free(plan);
	return status;
}

static int unknown(const char *word, struct err *err) {
	const char *names[sizeof lists / sizeof *lists + 1] = {"params"};
	size_t count = sizeof lists / sizeof *lists;
	for (size_t i = 0; i < count; i++)
		names[i + 1] = lists[i].name;
	const char *near = near_word(word, names, count + 1);
	err_set(err, ERR_USAGE, "kernels, strategies, counters, metrics, formats, launchers, or params KERNEL",
	        "there is no list of \"%s\"", word);
	return near ? err_hint(err, "did you mean `sweetspot list %s`?", near) : -1;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	const char *word = opt_words(args) ? opt_word(args, 0) : "kernels";
	if (strcmp(word, "params") == 0)
		return params(app, args, err);
	for (const struct opt *o = options; o->name; o++)
		if (opt_has(args, o->name))
			return err_set(err, ERR_USAGE, "sweetspot list params --spec FILE", "--%s goes with `list params`",
			               o->name);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		if (strcmp(word, lists[i].name) != 0)
			continue;
		bool plugin = lists[i].list == list_kernels && opt_words(args) > 1;
		json_t *array = plugin ? list_plugin(app, opt_word(args, 1), err) : lists[i].list(app, err);
		if (!array)
			return -1;
		if (opt_has(args, "json"))
			js_write(array, stdout);
		else
			rows_print(app_ui(app), array);
		json_decref(array);
		return 0;
	}
	return unknown(word, err);
}

static const struct opt *const tables[] = {options, plan_options, NULL};

const struct cmd cmd_list = {
	.name = "list",
	.summary = "kernels, strategies, counters, metrics, formats, launchers; params KERNEL",
	.usage = "[kernels [PLUGIN]|strategies|counters|metrics|formats|launchers|params KERNEL|--spec FILE] [OPTION...]",
	.options = tables,
	.run = run,
};
