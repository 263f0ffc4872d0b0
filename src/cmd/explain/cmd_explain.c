/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/sys.h"
#include "src/cmd/explain/explain.h"
#include "src/cmd/explain/explain_probe_impl.h"
#include "src/cmd/regions/regions.h"
#include "tuner/program/program.h"

static const double PROBE_SECONDS = 30;

static const struct opt what_options[] = {
	OPT_GROUP("What to explain"),
	{"size", 's', "K=V,..", "problem size, for example n=2048 (the last tuned)", OPT_REPEAT},
	{"objective", 0, "NAME", "time, energy or edp, or several of them (time)", 0},
	{"regions", 0, NULL, "regions tuned by tune --regions", 0},
	{0},
};

static const struct opt options[] = {
	OPT_GROUP("Experiments"),
	{"probe", 'p', NULL, "measure what would refute each cause", 0},
	{"budget", 'b', "TIME", "time limit of --probe (30s)", 0},
	OPT_GROUP("Results"),
	{"from", 'f', "FILE", "table (CSV), JSON document or recorded space to read", OPT_REPEAT},
	{"problem", 0, "NAME,..", "columns of a table that describe the problem", OPT_REPEAT},
	{"machine", 0, "FILE|WORDS", "machine for --from: 'cores=8 threads=16 l2=1M'", 0},
	{0},
};

/* "n=64,m=2" */
static int size_read(const char *text, json_t *size, struct err *err) {
	char *copy = mem_strdup(text), *rest = NULL;
	int failed = 0;
	for (char *word = strtok_r(copy, ", ", &rest); word && !failed; word = strtok_r(NULL, ", ", &rest)) {
		char *equals = strchr(word, '=');
		if (!equals || equals == word) {
			failed = err_set(err, ERR_USAGE, "write --size n=2048", "--size %s does not give a value", text);
			continue;
		}
		*equals = '\0';
		json_object_set_new(size, word, value_json(value_parse(equals + 1)));
	}
	free(copy);
	return failed;
}

/* The program after the dashes is a size, too: its command as it was given to `tune`. */
static void command_read(const struct opt_args *args, json_t *size) {
	size_t count;
	char *const *words = opt_rest(args, &count);
	if (!opt_dashes(args) || count == 0)
		return;
	mem_auto char *line = program_join((const char *const *)words, true);
	json_object_set_new(size, "command", json_string(line));
}

/* The results of one command, and how long they may be probed. */
struct explaining {
	struct app *app;
	const struct opt_args *args;
	const json_t *size;
	json_t *results;
	double end; /* of --probe; 0: nothing is measured */
};

/* The studies that follow share the time that is left. */
static int result_probe(const struct explaining *explaining, const struct explain_view *view, size_t studies,
                        json_t *result, struct err *err) {
	explain_probe_recall(view, result);
	if (explaining->end <= 0)
		return 0;
	return explain_probe(view, (explaining->end - sys_now()) / (double)studies, result, err);
}

/* Adds the results of one objective. */
static int results_add(const struct explaining *explaining, const char *objective, struct err *err) {
	struct study_set *set = explain_load(explaining->app, explaining->args, objective, err);
	int failed = set ? 0 : -1;
	for (size_t i = 0; set && i < study_set_count(set) && !failed; i++) {
		struct explain_view view = {.app = explaining->app, .args = explaining->args};
		if (!study_set_at(set, i)->trials || !explain_view_make(set, study_set_at(set, i), explaining->size, &view))
			continue;
		json_t *result = explain_result(&view);
		json_array_append_new(explaining->results, result);
		failed = result_probe(explaining, &view, study_set_count(set) - i, result, err);
	}
	study_set_free(set);
	return failed;
}

/* --objective may list several, as in "time,energy"; each gets its own results. */
static int results_make(const struct explaining *explaining, struct err *err) {
	char *list = mem_strdup(opt_get(explaining->args, "objective", "time")), *rest = NULL;
	int failed = 0;
	for (char *word = strtok_r(list, ", ", &rest); word && !failed; word = strtok_r(NULL, ", ", &rest)) {
		enum trial_objective objective;
		failed = trial_objective_find(word, &objective)
		             ? results_add(explaining, word, err)
		             : err_set(err, ERR_USAGE, "choose time, energy or edp", "unknown objective \"%s\"", word);
	}
	free(list);
	return failed;
}

static int show(const struct explaining *explaining, struct err *err) {
	struct app *app = explaining->app;
	const struct opt_args *args = explaining->args;
	const json_t *results = explaining->results;
	if (json_array_size(results) == 0)
		return err_set(err, ERR_NOTHING,
		               opt_dashes(args)
		                   ? "`sweetspot store list` shows what was measured, as it was written"
		                   : "run `sweetspot explain` without --size to see the problems that were measured",
		               "no configuration of this problem worked, or none was measured");
	if (opt_has(args, "json")) {
		js_auto json_t *document = json_pack("{s:s,s:O}", "schema", "sweetspot-explain/1", "results", results);
		if (!opt_has(args, "from")) /* a file was measured elsewhere; each of its results has its machine */
			json_object_set(document, "machine", (json_t *)app_machine(app, err));
		js_write(document, stdout);
		return 0;
	}
	js_each (result, results) {
		if (result_at)
			putchar('\n');
		explain_print(app_ui(app), result, opt_has(args, "verbose"), stdout);
	}
	return 0;
}

/* Verdicts that were reached before an interruption are shown. */
static int probe_and_show(struct explaining *explaining, struct err *err) {
	double seconds = PROBE_SECONDS;
	const char *budget = opt_get(explaining->args, "budget", NULL);
	struct err second = {0};
	if (budget && opt_seconds(budget, "budget", &seconds, err))
		return -1;
	explaining->end = sys_now() + seconds;
	stop_at_once(false);
	int failed = results_make(explaining, err);
	stop_at_once(true);
	if (failed && err->code == ERR_INTERRUPTED && json_array_size(explaining->results))
		show(explaining, &second);
	return failed || show(explaining, err) ? -1 : 0;
}

static int check(const struct opt_args *args, struct err *err) {
	if (opt_has(args, "probe") && opt_has(args, "from"))
		return err_set(err, ERR_USAGE,
		               "run `sweetspot explain --probe` without --from to use the store of this machine",
		               "--probe measures on this machine, but --from may describe another one");
	if (!opt_has(args, "from") && (opt_has(args, "problem") || opt_has(args, "machine")))
		return err_set(err, ERR_USAGE, "sweetspot explain --from times.csv", "--%s requires --from",
		               opt_has(args, "problem") ? "problem" : "machine");
	if (opt_has(args, "budget") && !opt_has(args, "probe"))
		return err_set(err, ERR_USAGE, "sweetspot explain --probe --budget 120s", "--budget requires --probe");
	return 0;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "regions"))
		return regions_command_explain(app, args, err);
	js_auto json_t *size = json_object(), *results = json_array();
	struct explaining explaining = {.app = app, .args = args, .size = size, .results = results};
	if (check(args, err))
		return -1;
	for (size_t i = 0; i < opt_count(args, "size"); i++)
		if (size_read(opt_at(args, "size", i), size, err))
			return -1;
	command_read(args, size);
	if (opt_has(args, "probe"))
		return probe_and_show(&explaining, err);
	return results_make(&explaining, err) || show(&explaining, err) ? -1 : 0;
}

static const struct opt *const tables[] = {what_options,         cmd_device_options, options,
                                           explain_from_options, cmd_store_options,  NULL};

const struct cmd cmd_explain = {
	.name = "explain",
	.summary = "explain why the winner wins, and what to try next",
	.usage = "explain [OPTION...] [KERNEL...] [-- PROGRAM [ARG...]]\n"
			 "explain --regions [-- PROGRAM]",
	.options = tables,
	.notes = "Uses the results that tune, sweep and compare have stored. Without a kernel it\n"
			 "covers all kernels measured on this machine.",
	.examples = "sweetspot explain fw\n"
				"sweetspot explain fw --size n=1024 --probe --budget 2m",
	.only_reads = true,
	.run = run,
};
