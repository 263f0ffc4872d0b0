/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "src/app/cmd.h"
#include "src/plan/plan.h"
#include "src/plan/program_plan.h"
#include "src/plan/source_spec.h"
#include "src/cmd/regions/regions.h"
#include "src/cmd/tune/stop_when.h"
#include "src/cmd/tune/watch.h"
#include "src/cmd/tune/builds.h"
#include "src/cmd/tune/counters.h"
#include "src/cmd/tune/dry.h"
#include "src/cmd/tune/nodes.h"
#include "src/cmd/tune/session.h"
#include "src/cmd/tune/sizes.h"
#include "base/proc/path.h"

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
	size_t length = strlen(first);
	struct err none = {0};
	char *path = length > 3 && strcmp(first + length - 3, ".so") == 0 ? NULL : program_path(first, NULL, &none);
	if (!*first || !path) {
		free(path);
		return -1;
	}
	const char **words = mem_alloc(opt_words(args) + 1, sizeof *words);
	for (size_t i = 0; i < opt_words(args); i++)
		words[i] = opt_word(args, i);
	char *line = program_join(words, true);
	err_set(err, ERR_USAGE, NULL, "%s is a program, not a kernel: write two dashes before it", first);
	err_hint(err, "sweetspot tune --openmp -- %s", line);
	free(line);
	free(words);
	free(path);
	return -1;
}

/* Adds the named kernels, or the whole suite. */
static int kernels_add(struct tune_session *session, struct err *err) {
	size_t count;
	for (size_t i = 0; i < opt_words(session->args); i++)
		if (program_is_source(opt_word(session->args, i)))
			return program_source_refuse(opt_word(session->args, i), err);
	const struct kernel_desc **kernels = app_kernels_named(session->app, session->args, &count, err);
	int failed = kernels ? 0 : dashes_suggest(session->args, err);
	for (size_t i = 0; !failed && i < count; i++)
		if (opt_words(session->args) || in_suite(kernels[i]->name))
			failed = item_add(session, tune_item_kernel(session->app, kernels[i], session->args, err));
	free(kernels);
	if (!failed && count == 0)
		return err_set(err, ERR_USAGE, "sweetspot tune FILE.cl --kernel NAME --arg 'float out[n] write' ...",
		               "no built-in kernel runs on %s", app_device(session->app));
	return failed;
}

/* Returns the first option of the table that was given, or NULL. */
static const char *option_of(const struct opt *table, const struct opt_args *args) {
	for (const struct opt *option = table; option->name; option++)
		if (opt_has(args, option->name))
			return option->name;
	return NULL;
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
	return item_add(session, tune_item_source(session->app, opt_word(args, 0), args, err));
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
	static const char *const units[] = {"s",    "sec",    "secs",    "second", "seconds", "m",    "min",
	                                    "mins", "minute", "minutes", "h",      "hour",    "hours"};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(word, units[i]) == 0)
			return true;
	return false;
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
	const char *spec = opt_get(args, "spec", NULL), *option = option_of(program_options, args);
	const char *source = option_of(source_options, args);
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
		                      tune_item_spec(session->app, spec, args, session->settings.build_timeout_s, err));
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
		           : item_add(session, tune_item_program(session->app, args, session->settings.build_timeout_s, err));
	if (option)
		return err_set(err, ERR_USAGE, "put -- before the program: sweetspot tune --param N=1..4 -- ./app '{N}'",
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

/* Starts the nodes first, because the items depend on the machine. */
static int tune(struct tune_session *session, struct err *err) {
	if (session->nodes)
		tune_item_device_use(session->app, session->args);
	if ((session->nodes && tune_nodes_start(session->nodes, err)) || items_make(session, err) ||
	    tune_counters_check(session, err))
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

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	bool by_region = opt_has(args, "openmp") && !opt_has(args, "plan") && !opt_has(args, "export") &&
	                 !opt_has(args, "no-regions") && regions_command_suits(app, args, tables);
	if (by_region || opt_has(args, "regions"))
		return regions_command_tune(app, args, tables, err);
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
