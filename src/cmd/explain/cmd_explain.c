/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "base/stop.h"
#include "src/cmd/explain/explain.h"
#include "src/cmd/explain/explain_probe_impl.h"
#include "src/cmd/regions/regions.h"
#include "src/show/results.h"
#include "tuner/program/program.h"

/* Compares the diagnoses before and after a probe, and prints the difference. */
static bool is_same(const json_t *a, const json_t *b) {
	return strcmp(js_string_or(a, "name", ""), js_string_or(b, "name", "")) == 0 &&
	       json_equal(json_object_get(a, "about"), json_object_get(b, "about"));
}

static const json_t *find(const json_t *result, const json_t *finding) {
	js_each (one, json_object_get(result, "diagnoses"))
		if (is_same(one, finding))
			return one;
	return NULL;
}

/* The same kernel, device and objective; the problem may differ because a probe can change which one was tuned last. */
static const json_t *result_matching(const json_t *results, const json_t *wanted) {
	static const char *const keys[] = {"kernel", "device", "objective"};
	js_each (one, results) {
		bool same = true;
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
			same = same && json_equal(json_object_get(one, keys[k]), json_object_get(wanted, keys[k]));
		if (same)
			return one;
	}
	return NULL;
}

static json_t *confidence_of(const json_t *finding) {
	return finding ? json_string(js_string_or(finding, "confidence", "low")) : json_null();
}

static void change_add(json_t *changed, const json_t *result, const json_t *before, const json_t *after) {
	const json_t *one = after ? after : before;
	js_auto json_t *was = confidence_of(before), *is = confidence_of(after);
	if (!json_equal(was, is))
		json_array_append_new(changed, json_pack("{s:O,s:s,s:O?,s:O,s:O}", "kernel", json_object_get(result, "kernel"),
		                                         "diagnosis", js_string_or(one, "name", "?"), "about",
		                                         json_object_get(one, "about"), "before", was, "after", is));
}

/* Adds "changed": the diagnoses that are new, that are gone, or whose confidence changed. */
static void explain_probe_changes(json_t *probe, const json_t *before, const json_t *after) {
	json_t *changed = json_array();
	js_each (result, after) {
		const json_t *old = result_matching(before, result);
		js_each (finding, json_object_get(result, "diagnoses"))
			change_add(changed, result, find(old, finding), finding);
		js_each (finding, json_object_get(old, "diagnoses"))
			if (!find(result, finding))
				change_add(changed, result, finding, NULL);
	}
	json_object_set_new(probe, "changed", changed);
}

static void change_print(const json_t *change, FILE *out) {
	const char *before = js_string_or(change, "before", NULL), *after = js_string_or(change, "after", NULL);
	mem_auto char *about = results_config(json_object_get(change, "about"), NULL);
	mem_auto char *what = mem_printf("%s: %s%s%s", js_string_or(change, "kernel", "?"),
	                                 js_string_or(change, "diagnosis", "?"), *about ? " for " : "", about);
	if (!before)
		ui_wrap(out, 2, 4, "%s: new (%s confidence)", what, after);
	else if (!after)
		ui_wrap(out, 2, 4, "%s: no longer found (was: %s confidence)", what, before);
	else
		ui_wrap(out, 2, 4, "%s: %s confidence (was: %s)", what, after, before);
}

static void explain_probe_print(struct ui *ui, const json_t *probe, FILE *out) {
	const json_t *changed = json_object_get(probe, "changed"), *left = json_object_get(probe, "left");
	size_t ran = json_array_size(json_object_get(probe, "ran"));
	fprintf(out, "%sprobe: %zu experiment%s in %.0f s%s\n", ui_style(ui, UI_BOLD), ran, ran == 1 ? "" : "s",
	        js_real_or(probe, "elapsed_s", 0), ui_style(ui, UI_PLAIN));
	js_each (one, json_object_get(probe, "ran")) {
		const char *message = js_string_or(one, "message", "");
		ui_wrap(out, 2, 4, "%s (%s%s%s)", js_string_or(one, "command", "?"), js_string_or(one, "state", "?"),
		        *message ? ": " : "", message);
	}
	if (json_array_size(left))
		fprintf(out, "  %zu more did not fit into %.0f s: raise --budget to run them\n", json_array_size(left),
		        js_real_or(probe, "budget_s", 0));
	if (json_array_size(changed) == 0)
		fputs("  no diagnosis changed\n", out);
	js_each (one, changed)
		change_print(one, out);
	fputc('\n', out);
}

static const struct opt what_options[] = {
	OPT_GROUP("What to explain"),
	{"size", 's', "K=V,..", "problem size, for example n=2048 (the last tuned)", OPT_REPEAT},
	{"objective", 0, "NAME", "time, energy or edp, or several of them (time)", 0},
	{"regions", 0, NULL, "regions tuned by tune --regions", 0},
	{0},
};

static const struct opt options[] = {
	OPT_GROUP("Experiments"),
	{"probe", 'p', NULL, "run the suggested experiments, then explain again", 0},
	{"budget", 'b', "TIME", "time limit of --probe (60s)", 0},
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

/* Adds the results of one objective. */
static int results_add(struct app *app, const struct opt_args *args, const char *objective, const json_t *size,
                       json_t *results, struct err *err) {
	struct study_set *set = explain_load(app, args, objective, err);
	for (size_t i = 0; set && i < study_set_count(set); i++) {
		struct explain_view view = {.app = app, .args = args};
		if (study_set_at(set, i)->trials && explain_view_make(set, study_set_at(set, i), size, &view))
			json_array_append_new(results, explain_result(&view));
	}
	study_set_free(set);
	return set ? 0 : -1;
}

/* --objective may list several, as in "time,energy"; each gets its own results. */
static int results_make(struct app *app, const struct opt_args *args, const json_t *size, json_t *results,
                        struct err *err) {
	char *list = mem_strdup(opt_get(args, "objective", "time")), *rest = NULL;
	int failed = 0;
	for (char *word = strtok_r(list, ", ", &rest); word && !failed; word = strtok_r(NULL, ", ", &rest)) {
		enum trial_objective objective;
		failed = trial_objective_find(word, &objective)
		             ? results_add(app, args, word, size, results, err)
		             : err_set(err, ERR_USAGE, "choose time, energy or edp", "unknown objective \"%s\"", word);
	}
	free(list);
	return failed;
}

static int show(struct app *app, const struct opt_args *args, const json_t *results, const json_t *probe,
                struct err *err) {
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
		if (probe)
			json_object_set(document, "probe", (json_t *)probe);
		js_write(document, stdout);
		return 0;
	}
	if (probe)
		explain_probe_print(app_ui(app), probe, stdout);
	js_each (result, results) {
		if (result_at)
			putchar('\n');
		explain_print(app_ui(app), result, opt_has(args, "verbose"), stdout);
	}
	return 0;
}

/* Replaces *results by those computed after the experiments. */
static int probe_run(struct app *app, const struct opt_args *args, const json_t *size, json_t **results, json_t **probe,
                     struct err *err) {
	if (!opt_has(args, "probe"))
		return 0;
	stop_at_once(false);
	*probe = explain_probe(app, args, *results, err);
	stop_at_once(true);
	json_t *after = json_array();
	int failed = *probe ? results_make(app, args, size, after, err) : -1;
	if (failed) {
		json_decref(after);
		return -1;
	}
	explain_probe_changes(*probe, *results, after);
	json_decref(*results);
	*results = after;
	return 0;
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
	js_auto json_t *size = json_object(), *results = json_array(), *probe = NULL;
	int failed = check(args, err);
	for (size_t i = 0; i < opt_count(args, "size") && !failed; i++)
		failed = size_read(opt_at(args, "size", i), size, err);
	command_read(args, size);
	failed = failed || results_make(app, args, size, results, err) ||
	                 probe_run(app, args, size, &results, &probe, err) || show(app, args, results, probe, err)
	             ? -1
	             : 0;
	return failed;
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
