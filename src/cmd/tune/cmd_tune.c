/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "base/proc/path.h"
#include "src/app/app.h"
#include "src/cmd/inside/inside_cmd.h"
#include "src/cmd/regions/regions.h"
#include "src/cmd/tune/tune_impl.h"
#include "src/plan/plan.h"
#include "src/plan/program_plan.h"
#include "src/show/results.h"

/* `tune --plan` on this machine: says what would be run, and runs nothing. */

enum { EXAMPLES = 3, VALUES_SHOWN = 160 };

static json_t *case_json(const struct tune_item *item, const json_t *config) {
	json_t *one = json_pack("{s:O}", "config", config);
	mem_auto char *line = item->line ? item->line(item, config) : NULL;
	if (line)
		json_object_set_new(one, "line", json_string(line));
	return one;
}

/* The first and the last configuration, and one in the middle, but not the baseline. */
static json_t *examples_json(const struct tune_item *item) {
	const struct space *space = item->task.space;
	uint64_t valid = space_valid(space), before = UINT64_MAX;
	json_t *examples = json_array();
	for (uint64_t i = 0; valid > 0 && i < EXAMPLES; i++) {
		uint64_t index = (valid - 1) / (EXAMPLES - 1) * i;
		index = i == EXAMPLES - 1 ? valid - 1 : index;
		if (index == before || index == item->task.start)
			continue;
		js_auto json_t *config = space_config_json(space, index);
		json_array_append_new(examples, case_json(item, config));
		before = index;
	}
	return examples;
}

static json_t *budget_json(const struct tune_budget *budget, bool program) {
	if (budget->evaluations)
		return json_pack("{s:I}", "evaluations", (json_int_t)budget->evaluations);
	return json_pack("{s:f,s:b}", "seconds", budget->seconds, "may_grow", program && budget->may_grow);
}

static json_t *item_json(const struct tune_item *item, const struct tune_settings *settings) {
	const struct tune_task *task = &item->task;
	json_t *json = json_pack("{s:s,s:O}", "kernel", task->kernel, "problem", task->problem);
	js_auto json_t *space = space_json(task->space);
	json_object_update(json, space); /* "space", "params" and "constraints" */
	json_object_set_new(json, "baseline", case_json(item, task->baseline));
	json_object_set_new(json, "examples", examples_json(item));
	json_object_set_new(json, "strategy", json_string(settings->strategy->name));
	json_object_set_new(json, "budget", budget_json(&settings->budget, task->whole_programs));
	return json;
}

/* A command is never wrapped, because it may be copied. */
static void command_print(const char *command) {
	mem_auto char *clean = mem_strdup(command);
	text_clean(clean, false);
	puts(clean);
}

static void case_print(const char *label, const json_t *one) {
	const char *line = js_string_or(one, "line", NULL);
	mem_auto char *config = line ? NULL : results_config(json_object_get(one, "config"), NULL);
	printf("%-*s", RESULTS_INDENT, label);
	if (line)
		command_print(line);
	else
		ui_wrap_on(stdout, RESULTS_INDENT, RESULTS_INDENT, "%s", *config ? config : "as it is");
}

static void param_print(const json_t *param) {
	mem_auto char *text = mem_printf("%s =", js_string_or(param, "name", "?"));
	const json_t *values = json_object_get(param, "values");
	size_t i, count = json_array_size(values);
	for (i = 0; i < count && strlen(text) < VALUES_SHOWN; i++) {
		mem_auto char *value = program_value_text(json_array_get(values, i));
		const char *quote = value && strchr(value, ',') ? "\"" : "";
		mem_append(&text, "%s %s%s%s", i ? "," : "", quote, value && *value ? value : "''", quote);
	}
	if (i < count)
		mem_append(&text, ", .. (%zu values)", count);
	ui_wrap(stdout, 2, 6, "%s", text);
}

static void build_print(const json_t *problem) {
	const char *build = js_string_or(problem, "build", NULL);
	if (!build)
		return;
	printf("%-*s", RESULTS_INDENT, "build:");
	command_print(build);
}

static void budget_print(const json_t *budget) {
	double seconds = js_real_or(budget, "seconds", 0);
	mem_auto char *text =
		seconds > 0
			? mem_printf("%.6g s%s", seconds,
	                     js_bool_or(budget, "may_grow", false) ? ", more for a program that takes long" : "")
			: mem_printf("%lld evaluations, and the final comparison", (long long)js_int_or(budget, "evaluations", 0));
	printf("%-*s", RESULTS_INDENT, "budget:");
	ui_wrap_on(stdout, RESULTS_INDENT, RESULTS_INDENT, "%s", text);
}

static void item_print(const json_t *json) {
	const json_t *space = json_object_get(json, "space");
	long long valid = js_int_or(space, "valid", 0);
	json_t *one;
	size_t i;
	printf("%s: %lld configuration%s; nothing is run\n", js_string_or(json, "kernel", "?"), valid,
	       valid == 1 ? "" : "s");
	json_array_foreach(json_object_get(json, "params"), i, one) param_print(one);
	json_array_foreach(json_object_get(json, "constraints"), i, one) if (json_is_string(one))
		printf("  only where %s\n", json_string_value(one));
	build_print(json_object_get(json, "problem"));
	case_print("baseline:", json_object_get(json, "baseline"));
	json_array_foreach(json_object_get(json, "examples"), i, one) case_print(i ? "" : "for example:", one);
	budget_print(json_object_get(json, "budget"));
}

static void tune_dry_print(const struct tune_session *session) {
	js_auto json_t *plans = json_array();
	size_t i;
	for (i = 0; i < session->count; i++)
		for (const char *const *note = session->items[i]->notes; note && *note; note++)
			ui_inform(app_ui(session->app), "%s", *note);
	for (i = 0; i < session->count; i++)
		json_array_append_new(plans, item_json(session->items[i], &session->settings));
	if (opt_has(session->args, "json"))
		js_print(json_pack("{s:s,s:O}", "schema", "sweetspot-tune-plan/1", "plans", plans));
	else
		js_each (plan, plans)
			item_print(plan);
}

/* NULL: the CPU, or a specification that will be refused. */
static const char *device_of(const char *path) {
	struct spec *spec = spec_load(path, NULL);
	enum spec_language language = spec ? spec_language(spec) : SPEC_OTHER;
	spec_free(spec);
	return spec_device(language);
}

/* Chooses the device that a source or specification runs on if no option does. Nodes say which GPU they have when they
 * come, before there are items. */
static void tune_item_device_use(struct app *app, const struct opt_args *args) {
	const char *word = opt_words(args) ? opt_word(args, 0) : "", *spec = opt_get(args, "spec", NULL);
	const char *device = source_is_file(word) ? spec_device(source_language(word)) : spec ? device_of(spec) : NULL;
	if (device && !opt_has(args, "device"))
		app_device_use(app, device, NULL);
}

static int item_add(struct tune_session *session, struct tune_item *item) {
	if (!item)
		return -1;
	session->items = mem_grow(session->items, session->count + 1, sizeof *session->items);
	session->items[session->count++] = item;
	return 0;
}

/* Tuning these two makes sense only on request: the analytic kernel tests the tuner, and the other one measures
 * ceilings. */
static bool in_suite(const char *kernel) {
	return strcmp(kernel, "synthetic") != 0 && strcmp(kernel, "ceiling") != 0;
}

/* A word that names a program instead of a kernel: the two dashes were forgotten. */
static int dashes_suggest(const struct opt_args *args, struct err *err) {
	const char *first = opt_words(args) ? opt_word(args, 0) : "";
	mem_auto char *path = text_ends_with(first, ".so") ? NULL : program_path(first, NULL, NULL);
	if (!*first || !path)
		return -1;
	mem_auto char *line = program_join(opt_words_from(args, 0), true);
	err_set(err, ERR_USAGE, NULL, "%s is a program, not a kernel: write two dashes before it", first);
	return err_hint(err, "sweetspot tune --openmp -- %s", line);
}

/* Adds the named kernels, or the whole suite. */
static int kernels_add(struct tune_session *session, struct err *err) {
	size_t count;
	for (size_t i = 0; i < opt_words(session->args); i++)
		if (program_is_source(opt_word(session->args, i)))
			return program_source_refuse(opt_word(session->args, i), err);
	mem_auto const struct kernel_desc **kernels = app_kernels_named(session->app, session->args, &count, err);
	int failed = kernels ? 0 : dashes_suggest(session->args, err);
	for (size_t i = 0; !failed && i < count; i++)
		if (opt_words(session->args) || in_suite(kernels[i]->name))
			failed = item_add(session, tune_item_kernel_at(session->app, kernels[i], session->args, NULL, err));
	if (!failed && count == 0)
		return err_set(err, ERR_USAGE, "sweetspot tune FILE.cl --kernel NAME --arg 'float out[n] write' ...",
		               "no built-in kernel runs on %s", app_device(session->app));
	return failed;
}

static bool is_source(const struct opt_args *args) {
	for (size_t i = 0; i < opt_words(args); i++)
		if (source_is_file(opt_word(args, i)))
			return true;
	return false;
}

/* A CUDA, OpenCL or HIP source takes its own options and three of those for programs. */
static int source_add(struct tune_session *session, struct err *err) {
	const struct opt_args *args = session->args;
	for (const struct opt *option = program_options; option->name; option++) {
		bool shared = strcmp(option->name, "param") == 0 || strcmp(option->name, "constraint") == 0 ||
		              strcmp(option->name, "default") == 0;
		if (!shared && opt_has(args, option->name))
			return err_set(err, ERR_USAGE, "leave it out", "--%s is for programs, not for a source", option->name);
	}
	if (opt_words(args) > 1 || opt_dashes(args))
		return err_set(err, ERR_USAGE, "tune one after the other", "a source file must be tuned on its own");
	struct spec *spec = source_spec(opt_word(args, 0), args, err); /* for FILE.cu or FILE.cl and its options */
	struct tune_item *item = spec ? tune_item_gpu(session->app, spec, args, err) : NULL;
	if (!item)
		spec_free(spec);
	return item_add(session, item);
}

/* "T=1, 2, 4" without quotes is three words. */
static int blanks_refuse(const struct opt_args *args, struct err *err) {
	for (size_t i = 0; i < opt_count(args, "param"); i++) {
		const char *values = opt_at(args, "param", i);
		if (!strchr(values, '='))
			return err_set(err, ERR_USAGE, "write the values after an equals sign: --param T=1,2,4",
			               "--param %.60s is followed by a blank and \"%.60s\"", values, opt_word(args, 0));
		if (*values && values[strlen(values) - 1] == ',')
			return err_set(err, ERR_USAGE, "write the values without blanks, or all of them in quotes: 'T=1, 2, 4'",
			               "--param %.60s is followed by a blank and \"%.60s\"", values, opt_word(args, 0));
	}
	return 0;
}

/* "--budget 2 min" is three words. */
static bool is_unit(const char *word) {
	static const char *const units[] = {"s",    "sec",    "secs",    "second", "seconds", "m",     "min",
	                                    "mins", "minute", "minutes", "h",      "hour",    "hours", NULL};
	return opt_is_known(word, units);
}

static int words_refuse(const struct opt_args *args, const char *what, struct err *err) {
	if (opt_words(args) == 0)
		return 0;
	if (blanks_refuse(args, err))
		return -1;
	err_set(err, ERR_USAGE, "tune kernels and programs one after the other", "%s must be tuned alone, without \"%s\"",
	        what, opt_word(args, 0));
	return is_unit(opt_word(args, 0)) ? err_hint(err, "write a time without a blank, such as --budget 90s or 2m") : -1;
}

static int items_make(struct tune_session *session, struct err *err) {
	const char *device = app_device(session->app);
	const struct opt_args *args = session->args;
	const char *spec = opt_get(args, "spec", NULL), *option = opt_first_of(args, program_options);
	const char *source = opt_first_of(args, source_options);
	if (source && (spec || !is_source(args)))
		return err_set(err, ERR_USAGE, "sweetspot tune FILE.cu --kernel NAME --arg 'float out[n] write' ...",
		               "--%s needs a CUDA, OpenCL or HIP source: FILE.cu, FILE.cl or FILE.hip", source);
	if (spec && (opt_dashes(args) || option))
		return err_set(err, ERR_USAGE, "put the options of a program into the KernelSpecification",
		               "--spec cannot be combined with %s%s", option ? "--" : "a program", option ? option : "");
	if (spec && opt_has(args, "sizes"))
		return err_set(err, ERR_USAGE, "sweetspot tune fw --sizes n=256..8192", "--sizes needs a kernel");
	if (spec)
		return words_refuse(args, "a specification", err)
		           ? -1
		           : item_add(session,
		                      tune_item_spec(session->app, spec, args, session->settings.limits.build_timeout_s, err));
	if (opt_has(args, "sizes") && (is_source(args) || opt_dashes(args)))
		return err_set(err, ERR_USAGE, "sweetspot tune fw --sizes n=256..8192", "--sizes needs a kernel");
	if (is_source(args))
		return source_add(session, err);
	if (opt_dashes(args) && device)
		return err_set(err, ERR_USAGE, "leave --device out: the program chooses its GPU",
		               "--device is not for programs");
	if (opt_dashes(args))
		return words_refuse(args, "a program", err)
		           ? -1
		           : item_add(session,
		                      tune_item_program(session->app, args, session->settings.limits.build_timeout_s, err));
	if (option)
		return err_set(err, ERR_USAGE,
		               strcmp(option, "openmp") == 0
		                   ? "put -- before the program: sweetspot tune --openmp -- ./app"
		                   : "put -- before the program: sweetspot tune --param N=1..4 -- ./app '{N}'",
		               "--%s needs a program after --", option);
	return opt_has(args, "sizes") ? tune_sizes_read(session, err) : kernels_add(session, err);
}

static int plan(struct tune_session *session, struct err *err) {
	if (items_make(session, err))
		return -1;
	if (session->nodes)
		tune_nodes_plan(session->nodes, &session->settings.budget, opt_has(session->args, "json"));
	else
		tune_dry_print(session);
	return 0;
}

/* Values may be alone, or constraints leave a single setting. */
static int choice_check(const struct tune_session *session, struct err *err) {
	for (size_t i = 0; i < session->count; i++) {
		const struct space *space = session->items[i]->task.space;
		if (space_estimate(space) > 0)
			ui_warn(app_ui(session->app), NULL, "about %.2g configurations cannot be counted: a sample is searched",
			        space_estimate(space));
		if (space_valid(space) == 1 && space_params(space) > 0 && opt_has(session->args, "param"))
			return err_set(err, ERR_USAGE, "give more values, as X=1..8; `sweetspot run` measures one setting",
			               "there is nothing to tune, because only one setting is possible");
	}
	return 0;
}

/* A kernel whose source is compiled later has no counters of its own yet. */
static struct counters_subject subject_of(const struct tune_item *item) {
	if (item->task.whole_programs)
		return (struct counters_subject){.program = true};
	if (item->made_by_open)
		return (struct counters_subject){.device = item->task.device};
	return (struct counters_subject){.kernel = item->kernel ? item->kernel : item->task.kernel,
	                                 .library = item->task.library,
	                                 .device = item->task.device};
}

/* Turns the error into a note if the user did not ask for counters, except for an interruption. */
static int excuse(struct app *app, struct trial_counters *counters, const struct err *bad, struct err *err) {
	if (!counters->optional || bad->code == ERR_INTERRUPTED) {
		*err = *bad;
		return -1;
	}
	ui_note(app_ui(app), "nothing will be counted: %s", bad->what);
	*counters = (struct trial_counters){.optional = true};
	return 0;
}

/* CUPTI counts the kernels of a program where a kernel's time is the metric, and where nothing else counts what was
 * asked for. */
static json_t *item_ask(const struct tune_session *session, struct tune_item *item, bool *slow, struct err *err) {
	struct counters_subject subject = subject_of(item);
	const char *const *asked = item->counters.asked;
	bool kernel = strncmp(opt_get(session->args, "metric", ""), "kernel:", 7) == 0, usable = false;
	json_t *answer = NULL;
	for (int turn = 0; turn < (subject.program ? 2 : 1) && !usable; turn++) {
		bool watch = subject.program && kernel == (turn == 0);
		subject.device = watch ? "cuda" : subject.program ? NULL : subject.device;
		json_t *one = counters_ask(session->app, &subject, asked, slow, err);
		usable = one && worker_counters_usable(one, slow) > 0;
		if (answer && !usable) {
			json_decref(one);
			break;
		}
		json_decref(answer);
		answer = one;
		item->counters.watch = watch;
	}
	return answer;
}

/* Returns the number of events that can be counted, or -1. *answer is replaced by the worker's answer; the caller owns
 * it. */
static int item_check(const struct tune_session *session, struct tune_item *item, json_t **answer, struct err *err) {
	struct err bad = {0};
	bool slow = false;
	item->counters = session->settings.counters;
	json_t *one = item_ask(session, item, &slow, &bad);
	if (!one)
		return excuse(session->app, &item->counters, &bad, err);
	item->counters.slow = slow;
	json_decref(*answer);
	*answer = one;
	return (int)worker_counters_usable(one, &slow);
}

/* Sets the counters of each item. ERR_USAGE for an unknown name; ERR_UNAVAILABLE if none of the requested counters is
 * available for any item. Counters that nobody requested are dropped if they are not available. */
static int tune_counters_check(const struct tune_session *session, struct err *err) {
	const struct trial_counters *counters = &session->settings.counters;
	js_auto json_t *answer = NULL;
	int usable = 0;
	for (size_t i = 0; counters->asked && i < session->count; i++) {
		int one = item_check(session, session->items[i], &answer, err);
		usable = one < 0 ? -1 : usable + one;
		if (usable < 0)
			break;
	}
	for (size_t i = 0; usable > 0 && i < session->count; i++) {
		if (session->items[i]->counters.slow) {
			counters_slow_warn(session->app);
			break;
		}
	}
	if (usable == 0 && counters->asked && !counters->optional)
		usable = counters_unavailable(counters->asked, json_object_get(answer, "events"), err);
	return usable < 0 ? -1 : 0;
}

/* Starts the nodes first, because the items depend on the machine. */
static int tune(struct tune_session *session, struct err *err) {
	if (session->nodes)
		tune_item_device_use(session->app, session->args);
	if ((session->nodes && tune_nodes_start(session->nodes, err)) || items_make(session, err) ||
	    choice_check(session, err) || tune_counters_check(session, err))
		return -1;
	return tune_session_run(session, err);
}

/* Checks the units of the budget, because sizes share a budget of time only. */
static int budget_check(struct tune_session *session, struct err *err) {
	if (!session->nodes)
		tune_budget_alone(&session->settings.budget);
	if (session->settings.budget.node_seconds > 0 && opt_has(session->args, "sizes"))
		return err_set(err, ERR_USAGE, "for example --budget 10m", "--sizes on nodes needs a budget of time");
	return 0;
}

static const struct opt regions_options[] = {
	OPT_GROUP("Program (after --)"),
	{"regions", 0, NULL, "tune its parallel regions one by one", 0},
	{"no-regions", 0, NULL, "do not tune by region, even where --openmp would", 0},
	{"force", 0, NULL, "with --regions: also override num_threads clauses", 0},
	{0},
};

static const struct opt *const tables[] = {tune_what_options,  plan_options,
                                           cmd_device_options, program_options,
                                           regions_options,    tune_options,
                                           stop_when_options,  tune_build_options,
                                           source_options,     launcher_options,
                                           measured_options,   watch_options,
                                           cmd_store_options,  NULL};

/* NULL is allowed */
static void tune_sizes_free(struct tune_sizes *sizes) {
	if (!sizes)
		return;
	free(sizes->over);
	free(sizes->list);
	free(sizes->of_item);
	free(sizes);
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	bool by_region = opt_has(args, "openmp") && !opt_has(args, "plan") && !opt_has(args, "export") &&
	                 !opt_has(args, "no-regions") && regions_command_suits(app, args, tables);
	if (by_region || opt_has(args, "regions"))
		return regions_command_tune(app, args, tables, err);
	if (inside_command_suits(args, tables)) {
		struct err absent = {0};
		int failed_inside = inside_command_tune(app, args, &absent);
		if (!failed_inside || absent.code != ERR_ABSENT) {
			*err = absent;
			return failed_inside;
		}
	}
	inside_kokkos_tell_own(app, args);
	struct tune_session session = {.app = app, .args = args};
	int failed = -1;
	if (!tune_settings_read(args, &session.settings, err) && !tune_nodes_new(app, args, &session.nodes, err) &&
	    !budget_check(&session, err))
		failed = opt_has(args, "plan") ? plan(&session, err) : tune(&session, err);
	tune_nodes_free(session.nodes);
	for (size_t i = 0; i < session.count; i++)
		tune_item_free(session.items[i]);
	free(session.items);
	tune_sizes_free(session.sizes);
	tune_settings_clear(&session.settings);
	return failed;
}

const struct cmd cmd_tune = {
	.name = "tune",
	.summary = "find, prove and record the fastest configuration",
	.usage = "tune [OPTION...] -- PROGRAM [ARG...]\n"
			 "tune [OPTION...] [KERNEL|PLUGIN.so[:KERNEL]...]\n"
			 "tune [OPTION...] FILE.cu --kernel NAME\n"
			 "tune [OPTION...] --spec FILE.json",
	.options = tables,
	.notes = "A program is run as it is: tune its OpenMP settings, {NAME} in its arguments, or\n"
			 "environment variables; the baseline is how you run it today. Without a program\n"
			 "or a kernel, all built-in kernels are tuned.",
	.examples = "sweetspot tune --openmp -- ./app in.dat\n"
				"sweetspot tune --param B=16..128*2 -- ./app --block {B} in.dat\n"
				"sweetspot tune fw gol --size n=1024 --budget 90s",
	.run = run,
};
