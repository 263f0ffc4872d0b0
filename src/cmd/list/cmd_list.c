/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strings.h>

#include "src/app/app.h"
#include "src/cmd/list/list_impl.h"
#include "src/plan/plan.h"
#include "src/show/results.h"
#include "tuner/diagnosis/diagnosis.h"
#include "tuner/export/export.h"
#include "tuner/fleet/launcher.h"

static const json_t *described(struct app *app, const char *what, struct err *err) {
	return json_object_get(app_counters(app, err), what);
}

/* Sources, as the worker describes them; new reference. NULL and err if the worker does not answer. */
static json_t *list_counters(struct app *app, struct err *err) {
	if (!app_counters(app, err))
		return NULL;
	const json_t *sources = described(app, "counters", err);
	return json_is_array(sources) ? json_incref((json_t *)sources) : json_array();
}

static void groups_add(json_t *rows, const json_t *groups) {
	js_each (group, groups) {
		if (!*list_text(group, "name"))
			continue;
		json_t *row = json_copy(group);
		json_object_set_new(row, "summary",
		                    json_string(*list_text(group, "summary") ? list_text(group, "summary") : "a group"));
		json_object_set_new(row, "kind", json_string("group"));
		json_array_append_new(rows, row);
	}
}

static json_t *event_add(json_t *rows, const char *name, const char *unit, const char *summary) {
	json_t *row =
		json_pack("{s:s,s:s,s:s,s:s,s:[]}", "name", name, "summary", summary, "kind", "event", "unit", unit, "sources");
	json_array_append_new(rows, row);
	return row;
}

/* Adds events that have one name, whichever source counts them. */
static void portable_add(json_t *rows, const json_t *events) {
	js_each (event, events) {
		const char *name = list_text(event, "name"), *summary = list_text(event, "summary");
		const char *formula = list_text(event, "formula");
		mem_auto char *told =
			mem_printf("%s%s%s", *summary ? summary : "a portable event", *formula ? ": " : "", formula);
		if (*name && !js_named(rows, name)) {
			json_t *row = event_add(rows, name, list_text(event, "unit"), told);
			json_object_set(row, "known_as", json_object_get(event, "known_as"));
		}
	}
}

/* Adds the events that a source counts if it is asked for by name. */
static void source_add(json_t *rows, const json_t *source) {
	const char *name = list_text(source, "name");
	js_each (event, json_object_get(source, "events")) {
		const char *word = json_string_value(event);
		json_t *row = word ? js_named(rows, word) : NULL;
		mem_auto char *summary = mem_printf("counted by %s", name);
		if (word && !row)
			row = event_add(rows, word, "", summary);
		if (row && json_object_get(row, "sources"))
			json_array_append_new(json_object_get(row, "sources"), json_string(name));
	}
}

/* Adds perf's words for what each processor counts in its own way, which no portable event lists. */
static void perf_words_add(json_t *rows) {
	static const char *const words[][2] = {
		{"cache-references", "counted by perf, as in `perf stat`: mostly requests to the last level of cache"},
		{"cache-misses",
	     "counted by perf, as in `perf stat`: mostly requests that the last level of cache did not have (llc_misses)"},
		{"bus-cycles", "counted by perf, as in `perf stat`: clock cycles of the bus"},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!js_named(rows, words[i][0]))
			json_array_append_new(json_object_get(event_add(rows, words[i][0], "count", words[i][1]), "sources"),
			                      json_string("perf"));
}

/* Groups with their metrics, then single events: {"name","summary","kind": "group|event", "metrics"?, "events"?,
 * "unit"?, "sources"?, "known_as"?}. */
static json_t *list_metrics(struct app *app, struct err *err) {
	json_t *sources = list_counters(app, err), *rows = sources ? json_array() : NULL;
	if (!rows)
		return NULL;
	const char *bad = json_string_value(described(app, "groups_error", err));
	if (bad)
		ui_warn(app_ui(app), "`sweetspot doctor` has details", "groups are not available: %s", bad);
	groups_add(rows, described(app, "groups", err));
	portable_add(rows, described(app, "events", err));
	js_each (source, sources)
		source_add(rows, source);
	perf_words_add(rows);
	json_decref(sources);
	return rows;
}

static bool begins(const char *text, const char *prefix) {
	const char *colon = strchr(text, ':');
	size_t length = strlen(prefix);
	return strncasecmp(text, prefix, length) == 0 || (colon && strncasecmp(colon + 1, prefix, length) == 0);
}

static bool any_begins(const json_t *list, const char *prefix) {
	js_each (one, list)
		if (begins(json_is_string(one) ? json_string_value(one) : list_text(one, "name"), prefix))
			return true;
	return false;
}

/* A copy that says under which names PAPI and perf count it. */
static json_t *row_with_names(const json_t *row) {
	json_t *copy = json_copy((json_t *)row);
	mem_auto char *text = mem_strdup(list_text(row, "summary"));
	js_each (name, json_object_get(row, "known_as"))
		mem_append(&text, "%s%s", name_at ? ", " : "; ", json_string_value(name));
	json_object_set_new(copy, "summary", json_string(text));
	return copy;
}

/* Leaves the groups and events whose name, whose metric's name or whose name in PAPI or perf begins with `prefix`. New
 * reference. */
static json_t *list_metrics_matching(const json_t *rows, const char *prefix) {
	json_t *out = json_array();
	js_each (row, rows)
		if (begins(list_text(row, "name"), prefix) || any_begins(json_object_get(row, "known_as"), prefix) ||
		    any_begins(json_object_get(row, "aliases"), prefix) || any_begins(json_object_get(row, "metrics"), prefix))
			json_array_append_new(out, row_with_names(row));
	return out;
}

static void list_counters_print(struct ui *ui, const json_t *rows, FILE *out) {
	js_each (row, rows) {
		bool usable = js_bool_or(row, "usable", false);
		const char *fix = list_text(row, "fix");
		mem_auto char *head = mem_printf("%-14s %-4s ", list_text(row, "name"), usable ? "yes" : "no");
		text_clean(head, false);
		fprintf(out, "%s%s", ui_style(ui, usable ? UI_BOLD : UI_PLAIN), head);
		ui_wrap_on(out, 20, 20, "%s", list_text(row, "summary"));
		fputs(ui_style(ui, UI_PLAIN), out);
		if (*list_text(row, "reason"))
			ui_wrap(out, 20, 20, "%s", list_text(row, "reason"));
		ui_fix(out, 20, fix);
	}
}

static void metric_line(const json_t *metric, FILE *out) {
	const char *unit = list_text(metric, "unit"), *summary = list_text(metric, "summary");
	ui_wrap(out, 4, 8, "%s%s%s%s = %s%s%s", list_text(metric, "name"), *unit ? " [" : "", unit, *unit ? "]" : "",
	        list_text(metric, "formula"), *summary ? ": " : "", summary);
}

static void names_line(const char *head, const json_t *names, FILE *out) {
	mem_auto char *text = mem_strdup("");
	js_each (name, names)
		mem_append(&text, "%s %s", name_at ? "," : "",
		           json_is_string(name) ? json_string_value(name) : list_text(name, "name"));
	if (*text)
		ui_wrap(out, 4, 8, "%s%s", head, text);
}

static bool is_group(const json_t *row) {
	return strcmp(list_text(row, "kind"), "group") == 0;
}

static void group_print(struct ui *ui, const json_t *row, FILE *out) {
	fputs(ui_style(ui, UI_BOLD), out);
	ui_wrap(out, 0, 4, "%s: %s", list_text(row, "name"), list_text(row, "summary"));
	fputs(ui_style(ui, UI_PLAIN), out);
	names_line("also called", json_object_get(row, "aliases"), out);
	names_line("counts", json_object_get(row, "events"), out);
	js_each (metric, json_object_get(row, "metrics"))
		metric_line(metric, out);
}

static void list_metrics_print(struct ui *ui, const json_t *rows, FILE *out) {
	static const struct column columns[] = {
		TEXT("event", "name"), TEXT("unit", "unit"), TEXT("summary", "summary"), {0}};
	js_auto json_t *events = json_array();
	js_each (row, rows)
		if (is_group(row))
			group_print(ui, row, out);
		else
			json_array_append(events, row);
	if (json_array_size(events) && json_array_size(events) < json_array_size(rows))
		fputc('\n', out);
	columns_print(ui, columns, events, out);
}

/* `list metrics --chip NAME [PREFIX]`: the hardware metrics of a GPU, as CUPTI's host API lists them. */

/* Prints the description of a metric only if it is the only one, because it is long. */
static void rollups_print(const json_t *row) {
	mem_auto char *text = mem_strdup("");
	js_each (rollup, json_object_get(row, "rollups"))
		mem_append(&text, " %s", json_is_string(rollup) ? json_string_value(rollup) : "?");
	if (*text)
		ui_wrap(stdout, 0, 2, "rollups:%s", text);
}

static void metrics_print(struct app *app, const json_t *answer) {
	static const struct column columns[] = {
		TEXT("metric", "name"),     TEXT("type", "type"),
		TEXT("unit", "unit"),       TEXT("passes", "passes", .format = "%.0f", .factor = 1),
		TEXT("summary", "summary"), {0}};
	const json_t *metrics = json_object_get(answer, "metrics");
	size_t count = json_array_size(metrics);
	columns_print(app_ui(app), columns, metrics, stdout);
	if (count == 1)
		rollups_print(json_array_get(metrics, 0));
	printf("\n%zu metric%s of %s; %s\n", count, count == 1 ? "" : "s", list_text(answer, "chip"),
	       *list_text(answer, "list") ? "Sweetspot does not count them, `rocprofv3 --pmc NAME -- ./app` does"
	                                  : "`--counters cupti:NAME` counts one");
}

/* Those of the GPU here if chip is NULL. ERR_UNAVAILABLE without CUPTI, or without both chip and GPU. */
static json_t *metrics_of_chip(struct app *app, const char *chip, const char *prefix, struct err *err) {
	struct worker *worker = app_worker(app, err);
	js_auto json_t *which = json_pack("{s:s*,s:s}", "chip", chip, "prefix", prefix);
	return worker ? worker_metrics(worker, which, err) : NULL;
}

static int list_chip_metrics(struct app *app, const char *chip, const char *prefix, bool json, struct err *err) {
	js_auto json_t *answer = metrics_of_chip(app, chip, prefix, err);
	if (!answer)
		return -1;
	json_object_del(answer, "id");
	if (json)
		js_write(answer, stdout);
	else
		metrics_print(app, answer);
	return 0;
}

static const struct opt options[] = {
	OPT_GROUP("metrics"),
	{"chip", 0, "NAME", "metrics of this GPU's chip, for example gh100 or gfx942", 0},
	{"cpu", 0, "NAME", "plan of a processor that is not here: 6-8F, zen4, ..", 0},
	{"papi", 0, "VERSION", "with --cpu: with this release of PAPI", 0},
	OPT_GROUP("params"),
	{"spec", 0, "FILE", "parameters of a T1 specification", 0},
	{"sample", 0, "N", "also N valid configurations, chosen at random", 0},
	{0},
};

static const struct opt device_heading[] = {OPT_GROUP("kernels, params"), {0}};

/* The plug-ins of a registry, which all have a name and a summary. */
#define LIST(plugins, registry)                                                                                        \
	static json_t *list_##plugins(struct app *app, struct err *err) {                                                  \
		json_t *array = json_array();                                                                                  \
		(void)app;                                                                                                     \
		(void)err;                                                                                                     \
		for (size_t i = 0; registry[i]; i++)                                                                           \
			json_array_append_new(array,                                                                               \
			                      json_pack("{s:s,s:s}", "name", registry[i]->name, "summary", registry[i]->summary)); \
		return array;                                                                                                  \
	}
LIST(strategies, strategy_registry)
LIST(diagnoses, diagnosis_registry)
LIST(formats, export_registry)

static json_t *rows_of(struct app *app, const struct kernel_list *list) {
	return list ? kernel_list_json(list, app_device(app) ? app_device_kind(app) : NULL) : NULL;
}

static json_t *list_kernels(struct app *app, struct err *err) {
	return rows_of(app, app_kernels(app, err));
}

static json_t *list_launchers(struct app *app, struct err *err) {
	json_t *array = json_array();
	(void)app;
	(void)err;
	for (const struct launcher *const *l = launcher_registry; *l; l++) {
		struct launcher_probe probe = {0};
		(*l)->probe(&probe);
		json_array_append_new(array, json_pack("{s:s,s:s,s:b,s:s,s:s}", "name", (*l)->name, "summary", (*l)->summary,
		                                       "usable", probe.usable, "reason", probe.reason, "fix", probe.fix));
	}
	return array;
}

static char *usable_text(const json_t *launcher) {
	return js_bool_or(launcher, "usable", false)
	           ? mem_strdup("yes")
	           : mem_printf("no: %s; %s", list_text(launcher, "reason"), list_text(launcher, "fix"));
}

/* Libraries that programs load, where they are installed. */
static json_t *list_tools(struct app *app, struct err *err) {
	static const char *const tools[][2] = {
		{"omp", "times and tunes the parallel regions of OpenMP programs (LD_PRELOAD)"},
		{"kokkos", "times and tunes the kernels of Kokkos programs (KOKKOS_TOOLS_LIBS)"},
		{"mpi", "times the calls of MPI in which ranks wait (LD_PRELOAD)"},
		{"cuda", "counts the kernels of CUDA programs (CUDA_INJECTION64_PATH)"},
	};
	json_t *array = json_array();
	(void)app;
	(void)err;
	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
		mem_auto char *file = mem_printf("libsweetspot-%s.so", tools[i][0]), *path = app_library_path(file, NULL);
		if (path)
			json_array_append_new(
				array, json_pack("{s:s,s:s,s:s}", "name", tools[i][0], "summary", tools[i][1], "path", path));
	}
	return array;
}

/* A path stays whole, so that it can be copied. */
static void tools_print(struct ui *ui, const json_t *array, FILE *out) {
	(void)ui;
	js_each (item, array)
		fprintf(out, "%-7s %-68s %s\n", list_text(item, "name"), list_text(item, "summary"), list_text(item, "path"));
}

static char *devices_text(const json_t *devices) {
	return results_list(devices);
}

static const struct column plain_columns[] = {TEXT("name", "name"), TEXT("summary", "summary"), {0}};
static const struct column kernel_columns[] = {
	TEXT("name", "name"), COLUMN("devices", "devices", .text = devices_text), TEXT("summary", "summary"), {0}};
static const struct column launcher_columns[] = {
	TEXT("name", "name"), TEXT("summary", "summary"), COLUMN("usable", "", .text = usable_text), {0}};

static const struct {
	const char *name;
	json_t *(*list)(struct app *app, struct err *err);
	const struct column *columns; /* NULL: `print` does it */
	void (*print)(struct ui *ui, const json_t *rows, FILE *out);
} lists[] = {
	{"kernels", list_kernels, kernel_columns, NULL},        {"strategies", list_strategies, plain_columns, NULL},
	{"counters", list_counters, NULL, list_counters_print}, {"metrics", list_metrics, NULL, list_metrics_print},
	{"formats", list_formats, plain_columns, NULL},         {"diagnoses", list_diagnoses, plain_columns, NULL},
	{"launchers", list_launchers, launcher_columns, NULL},  {"tools", list_tools, NULL, tools_print},
};

static int unknown(const char *word, struct err *err) {
	const char *names[sizeof lists / sizeof *lists + 1] = {"params"};
	size_t count = sizeof lists / sizeof *lists;
	for (size_t i = 0; i < count; i++)
		names[i + 1] = lists[i].name;
	return opt_refuse(
		err, word, names, count + 1, "did you mean `sweetspot list %s`?",
		"there are kernels, strategies, counters, metrics, formats, diagnoses, launchers, tools, and params KERNEL",
		"unknown list \"%s\"", word);
}

/* Shows what is known of this name without a GPU: false if that is nothing. */
static bool metric_known(struct app *app, const struct opt_args *args, const char *name) {
	js_auto json_t *all = list_metrics(app, NULL), *some = list_metrics_matching(all, name);
	size_t count = json_array_size(some);
	if (count && opt_has(args, "json"))
		js_write(some, stdout);
	else if (count)
		list_metrics_print(app_ui(app), some, stdout);
	return count > 0;
}

/* Without CUPTI nobody knows. */
static bool chip_is_unknown(struct app *app, const char *chip, struct err *err) {
	js_auto json_t *some = metrics_of_chip(app, chip, "sm__cycles_active", err);
	return !some && err->code == ERR_USAGE;
}

/* The metrics of a GPU's chip. Without a GPU, say what was looked for before. */
static int chip_metrics(struct app *app, const struct opt_args *args, const char *name, struct err *err) {
	int status = list_chip_metrics(app, opt_get(args, "chip", NULL), name, opt_has(args, "json"), err);
	return status != 0 && *name && !opt_has(args, "chip")
	           ? err_prefix(err, "\"%.60s\" is not an event or metric of the CPU, and for those of a GPU", name)
	           : status;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	const char *word = opt_words(args) ? opt_word(args, 0) : "kernels";
	if (strcmp(word, "params") == 0)
		return list_detail(app, args, err);
	bool metrics = strcmp(word, "metrics") == 0;
	if (metrics && opt_has(args, "cpu"))
		return list_detail(app, args, err);
	/* CUPTI's names have two underscores; what our groups make of them is the same on every chip that there is. */
	bool amd = strncasecmp(opt_get(args, "chip", ""), "gfx", 3) == 0;
	if (metrics && opt_words(args) > 1 && !amd && !(opt_has(args, "chip") && strstr(opt_word(args, 1), "__"))) {
		if (opt_has(args, "chip") && chip_is_unknown(app, opt_get(args, "chip", ""), err))
			return -1;
		if (metric_known(app, args, opt_word(args, 1)))
			return 0;
	}
	if (metrics && (opt_has(args, "chip") || opt_words(args) > 1))
		return chip_metrics(app, args, opt_words(args) > 1 ? opt_word(args, 1) : "", err);
	const char *other = opt_first(args, (const char *const[]){"chip", "cpu", "papi", NULL});
	if (other)
		return err_set(err, ERR_USAGE, "sweetspot list metrics --cpu NAME [--papi VERSION]",
		               "--%s needs `list metrics`%s", other, strcmp(other, "papi") == 0 ? " and --cpu" : "");
	if ((other = opt_first_of(args, options)))
		return err_set(err, ERR_USAGE, "sweetspot list params --spec FILE", "--%s needs `list params`", other);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		if (strcmp(word, lists[i].name) != 0)
			continue;
		bool plugin = lists[i].list == list_kernels && opt_words(args) > 1; /* "kernels ./libmine.so" */
		js_auto json_t *array =
			plugin ? rows_of(app, app_plugin(app, opt_word(args, 1), err)) : lists[i].list(app, err);
		if (!array)
			return -1;
		if (opt_has(args, "json"))
			js_write(array, stdout);
		else if (lists[i].columns)
			columns_print(app_ui(app), lists[i].columns, array, stdout);
		else
			lists[i].print(app_ui(app), array, stdout);
		return 0;
	}
	return unknown(word, err);
}

const struct cmd cmd_list = {
	.name = "list",
	.summary = "list kernels, parameters, strategies, counters, formats and more",
	.usage = "list [kernels [PLUGIN.so]]\n"
			 "list params KERNEL\n"
			 "list params --spec FILE.json\n"
			 "list metrics [PREFIX]\n"
			 "list metrics --cpu NAME [GROUP]\n"
			 "list strategies|counters|formats|diagnoses|launchers|tools",
	.options = (const struct opt *const[]){options, plan_options, device_heading, cmd_device_options, NULL},
	.examples = "sweetspot list kernels\n"
				"sweetspot list params fw --size n=2048\n"
				"sweetspot list metrics --cpu 6-8F FLOPS_DP",
	.only_reads = true,
	.run = run,
};
