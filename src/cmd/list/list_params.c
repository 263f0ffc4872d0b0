/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `list params`: the sizes of a kernel's problem, its parameters, and the size of the space; and `list metrics --cpu`.
 */
#include "src/cmd/list/list_impl.h"

#include "src/plan/plan.h"
#include "src/show/results.h"

enum { SAMPLES_MAX = 100000, VALUES_SHOWN = 100 };

/* Shortens a long list to its first values, their number, and the last one. */
static char *values_text(const json_t *values) {
	size_t count = json_array_size(values), size;
	char *text = NULL, one[64] = "?";
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return mem_strdup("?");
	for (size_t i = 0; i < count; i++) {
		struct value value;
		if (count > VALUES_SHOWN && i == VALUES_SHOWN - 1) {
			fprintf(out, ",..(%zu)..", count);
			i = count - 1;
		}
		if (value_from_json(json_array_get(values, i), &value))
			value_text(value, one, sizeof one);
		fprintf(out, "%s%s", i ? "," : "", one);
	}
	fclose(out);
	return text;
}

/* Describes the values that a part of the problem may have. */
static const char *part_takes(struct arena *arena, const struct kernel_param *part) {
	if (part->values)
		return part->text ? arena_printf(arena, "%s, or any other", part->values) : part->values;
	if (part->min == 0 && part->max == 0)
		return "any";
	return arena_printf(arena, "%.15g to %.15g", part->min, part->max);
}

static json_t *sizes_json(struct arena *arena, const struct kernel_desc *kernel, const json_t *problem) {
	json_t *array = json_array();
	for (size_t i = 0; i < kernel->problem_count; i++) {
		const struct kernel_param *part = &kernel->problem[i];
		json_array_append_new(array, json_pack("{s:s,s:O,s:s,s:s}", "name", part->name, "value",
		                                       json_object_get(problem, part->name), "takes", part_takes(arena, part),
		                                       "summary", part->summary));
	}
	return array;
}

static char *value_shown(const json_t *json) {
	struct value value;
	return value_from_json(json, &value) ? value_string(value) : mem_strdup("?");
}

static void sizes_print(struct ui *ui, const json_t *sizes) {
	static const struct column columns[] = {TEXT("size", "name"),
	                                        COLUMN("value", "value", .text = value_shown),
	                                        TEXT("takes", "takes"),
	                                        TEXT("summary", "summary"),
	                                        {0}};
	if (!json_array_size(sizes))
		return;
	columns_print(ui, columns, sizes, stdout);
	putchar('\n');
}

static void params_print(struct ui *ui, const json_t *document) {
	static const struct column columns[] = {TEXT("parameter", "name"),
	                                        COLUMN("values", "values", .text = values_text),
	                                        TEXT("where", "when"),
	                                        TEXT("summary", "summary"),
	                                        {0}};
	columns_print(ui, columns, json_object_get(document, "params"), stdout);
	const json_t *space = json_object_get(document, "space");
	double estimate = js_real_or(space, "estimate", 0);
	if (estimate > 0)
		printf(
			"\nabout %.2g valid configurations: the constraints tie too many values together to count them,\nso that "
			"%.0f were drawn to search among\n",
			estimate, js_real_or(space, "valid", 0));
	else
		printf("\n%.0f valid configurations of %.0f combinations\n", js_real_or(space, "valid", 0),
		       js_real_or(space, "cartesian", 0));
}

/* Prints configurations that were drawn uniformly, as an impression of the space. */
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
	js_each (config, samples) {
		mem_auto char *text = results_config(config, NULL);
		puts(text);
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
	sizes_print(app_ui(app), json_object_get(document, "sizes"));
	params_print(app_ui(app), document);
	samples_print(json_object_get(document, "samples"));
	return 0;
}

static int params_spec(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_words(args) > 1)
		return err_set(err, ERR_USAGE, NULL, "--spec replaces the kernel \"%s\"; leave one of them out",
		               opt_word(args, 1));
	const char *other = opt_first_of(args, plan_options);
	if (other)
		return err_set(err, ERR_USAGE, "change the file instead", "--%s is not for specifications", other);
	struct spec *spec = spec_load(opt_get(args, "spec", ""), err);
	if (!spec)
		return -1;
	js_auto json_t *document = space_json(spec_space(spec));
	json_object_set_new(document, "kernel", json_string(spec_name(spec)));
	json_object_set_new(document, "language", json_string(spec_language_word(spec)));
	json_object_set(document, "baseline", (json_t *)spec_baseline(spec));
	int status = params_show(app, args, document, spec_space(spec), err);
	spec_free(spec);
	return status;
}

static int params_list(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "spec"))
		return params_spec(app, args, err);
	if (opt_words(args) < 2)
		return err_set(err, ERR_USAGE, "sweetspot list params KERNEL, or --spec FILE", "give the name of a kernel");
	const struct kernel_desc *kernel = app_kernel(app, opt_word(args, 1), err);
	struct plan *plan = kernel ? plan_new(app, kernel, args, NULL, err) : NULL;
	if (!plan)
		return -1;
	js_auto json_t *document = space_json(plan->space);
	json_object_set_new(document, "kernel", json_string(kernel->name));
	json_object_set(document, "problem", plan->problem);
	json_object_set(document, "baseline", plan->baseline);
	json_object_set_new(document, "sizes", sizes_json(plan->params.arena, kernel, plan->problem));
	int status = params_show(app, args, document, plan->space, err);
	plan_free(plan);
	return status;
}

/* `list metrics --cpu NAME [GROUP]`: the plan of a processor that is not here. */

static char *scope_text(const json_t *row) {
	const char *pmu = list_text(row, "pmu");
	return mem_printf("%s%s%s", list_text(row, "scope"), *pmu ? " " : "", pmu);
}

static void plan_group_print(struct ui *ui, const char *name, const json_t *group) {
	static const struct column columns[] = {TEXT("event", "name"),
	                                        TEXT("source", "source"),
	                                        TEXT("code", "code"),
	                                        TEXT("umask", "umask"),
	                                        COLUMN("scope", "", .text = scope_text),
	                                        TEXT("the manufacturer's name", "vendor"),
	                                        {0}};
	mem_auto char *missing = results_list(json_object_get(group, "missing"));
	printf("\n%s%s%s\n", ui_style(ui, UI_BOLD), name, ui_style(ui, UI_PLAIN));
	columns_print(ui, columns, json_object_get(group, "events"), stdout);
	js_each (formula, json_object_get(group, "formulas")) {
		const char *unit = list_text(formula, "unit");
		ui_wrap(stdout, 2, 6, "%s%s%s%s = %s", list_text(formula, "name"), *unit ? " [" : "", unit, *unit ? "]" : "",
		        list_text(formula, "text"));
	}
	if (*missing)
		ui_wrap(stdout, 2, 6, "not counted here: %s", missing);
}

static void plan_print(struct ui *ui, const json_t *answer) {
	const json_t *cpu = json_object_get(answer, "cpu");
	ui_wrap(stdout, 0, 4, "%s: %s", list_text(cpu, "name"),
	        *list_text(cpu, "summary") ? list_text(cpu, "summary") : "no list of its events");
	ui_wrap(stdout, 0, 4, "%s",
	        *list_text(cpu, "list") ? list_text(cpu, "list")
	                                : "perf's generic names and PAPI's presets are all that is tried");
	js_members (name, group, json_object_get(answer, "groups"))
		plan_group_print(ui, name, group);
}

static int list_plan(struct app *app, const struct opt_args *args, struct err *err) {
	struct worker *worker = app_worker(app, err);
	js_auto json_t *which =
		json_pack("{s:s,s:s*,s:s}", "cpu", opt_get(args, "cpu", ""), "papi", opt_get(args, "papi", NULL), "prefix",
	              opt_words(args) > 1 ? opt_word(args, 1) : "");
	js_auto json_t *answer = worker ? worker_metrics(worker, which, err) : NULL;
	if (!answer)
		return -1;
	if (json_object_size(json_object_get(answer, "groups")) == 0)
		return err_set(err, ERR_USAGE, "`sweetspot list metrics` has the groups", "\"%.60s\" is not a group of the CPU",
		               opt_word(args, 1));
	json_object_del(answer, "id");
	if (opt_has(args, "json"))
		js_write(answer, stdout);
	else
		plan_print(app_ui(app), answer);
	return 0;
}

int list_detail(struct app *app, const struct opt_args *args, struct err *err) {
	return (opt_has(args, "cpu") ? list_plan : params_list)(app, args, err);
}
