/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/base/near.h"
#include "src/cmd.h"
#include "src/list_params.h"
#include "src/plan.h"
#include "tuner/export/export.h"
#include "tuner/strategy/strategy.h"

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
		return list_params(app, args, err);
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
