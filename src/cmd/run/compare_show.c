/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/run/run_impl.h"
#include "src/show/counters.h"
#include "src/show/measured.h"
#include "src/show/results.h"
#include "tuner/same/same.h"

int slower_read(struct slower *slower, const struct opt_args *args, struct err *err) {
	*slower = (struct slower){.asked = opt_has(args, "fail-slower"),
	                          .strict = opt_has(args, "fail-undecided"),
	                          .junit = opt_get(args, "junit", NULL)};
	if (slower->asked)
		return opt_share(args, "fail-slower", &slower->limit, err);
	if (!slower->strict && !slower->junit)
		return 0;
	return err_set(err, ERR_USAGE, "give the tolerated slowdown: --fail-slower 3%", "--%s needs --fail-slower",
	               slower->strict ? "fail-undecided" : "junit");
}

void slower_judge(struct slower *slower, const struct duel_result *duel) {
	slower->failed = duel->failed[1] != TRIAL_CORRECT ? "b" : duel->failed[0] != TRIAL_CORRECT ? "a" : NULL;
	slower->ratio = 1 / duel->paired.ratio;
	slower->ci[0] = 1 / duel->paired.ci[1];
	slower->ci[1] = 1 / duel->paired.ci[0];
	slower->outcome =
		duel->paired.count ? regression_judge(slower->ci[0], slower->ci[1], slower->limit) : REGRESSION_UNDECIDED;
}

/* {"limit", "outcome", "ratio", "ci"}: the time of b over that of a. New reference. */
static json_t *slower_json(const struct slower *slower) {
	return json_pack("{s:f,s:s,s:o,s:[o,o]}", "limit", slower->limit, "outcome",
	                 slower->failed ? "failed" : regression_word(slower->outcome), "ratio", js_number(slower->ratio),
	                 "ci", js_number(slower->ci[0]), js_number(slower->ci[1]));
}

static void describe(const struct slower *slower, char *text, size_t size) {
	static const char *const said[] = {"that is within", "undecided against", "slower than allowed by"};
	if (slower->failed)
		snprintf(text, size, "%s failed", slower->failed);
	else
		snprintf(text, size, "b takes %.4f [%.4f, %.4f] of a's time: %s the limit of %.4g %%", slower->ratio,
		         slower->ci[0], slower->ci[1], said[slower->outcome], slower->limit * 100);
}

static bool fails(const struct slower *slower) {
	return slower->failed || slower->outcome == REGRESSION_SLOWER ||
	       (slower->strict && slower->outcome == REGRESSION_UNDECIDED);
}

int slower_junit(const struct slower *slower, const char *const names[2], double seconds, struct err *err) {
	char text[256];
	if (!slower->junit)
		return 0;
	struct junit *junit = junit_new("sweetspot compare");
	describe(slower, text, sizeof text);
	enum junit_result result = fails(slower)                             ? JUNIT_FAILED
	                           : slower->outcome == REGRESSION_UNDECIDED ? JUNIT_SKIPPED
	                                                                     : JUNIT_PASSED;
	junit_add(junit, names[0], names[1], seconds, result, text);
	int failed = junit_write(junit, slower->junit, err);
	junit_free(junit);
	return failed;
}

int slower_verdict(const struct slower *slower, struct ui *ui, struct err *err) {
	char text[256];
	if (!slower->asked)
		return 0;
	describe(slower, text, sizeof text);
	if (fails(slower))
		return err_set(err, ERR_FAILED,
		               slower->failed                            ? "run it alone to see why"
		               : slower->outcome == REGRESSION_UNDECIDED ? "more pairs may decide it: --max-pairs 401"
		                                                         : NULL,
		               "%s", text);
	if (slower->outcome == REGRESSION_UNDECIDED)
		ui_warn(ui, "more pairs may decide it (--max-pairs 401); --fail-undecided makes this an error", "%s", text);
	return 0;
}

static double shown(const struct comparison *comparison, double value) {
	return comparison->maximize ? 1 / value : value;
}

static json_t *samples_json(const struct comparison *comparison, const double *samples, size_t count) {
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, js_number(shown(comparison, samples[i])));
	return array;
}

static json_t *side_json(const struct comparison *comparison, const json_t *config, const struct duel_result *duel,
                         int side) {
	int low = comparison->maximize;
	json_t *json = json_pack(
		"{s:O,s:o,s:[o,o],s:s,s:s,s:o}", "config", config, "median", js_number(shown(comparison, duel->median[side])),
		"ci", js_number(shown(comparison, duel->ci[side][low])), js_number(shown(comparison, duel->ci[side][!low])),
		"unit", comparison->unit, "status", trial_status_word(duel->failed[side]), "samples",
		samples_json(comparison, side ? duel->b : duel->a, duel->paired.count));
	if (duel->failed[side] != TRIAL_CORRECT)
		json_object_set_new(json, "message", json_string(comparison->why[side]));
	if (comparison->counted[side])
		json_object_update(json, comparison->counted[side]);
	return json;
}

static bool is_open(const struct duel_result *duel) {
	return duel->verdict == PAIRED_TIE && !duel->decided;
}

/* Says what b does otherwise than a. Two programs may well print different things, so this is a note and no verdict. */
static json_t *differs_json(const struct comparison *comparison, const json_t *const config[2]) {
	const struct same_case one = {.base_config = config[0],
	                              .best_config = config[1],
	                              .metric = comparison->metric,
	                              .base = comparison->seen[0],
	                              .best = comparison->seen[1]};
	json_t *all = json_array();
	if (!same_is_known(&one) || json_equal(config[0], config[1]))
		return all;
	json_t *parts[] = {same_left(&one), same_files(&one), comparison->any_output ? json_array() : same_output(&one)};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		json_array_extend(all, parts[i]);
		json_decref(parts[i]);
	}
	return all;
}

static void differs_print(const struct comparison *comparison, const json_t *const config[2]) {
	js_auto json_t *all = differs_json(comparison, config);
	js_each (clause, all) {
		ui_wrap(stdout, 0, 6, "%s%s%s",
		        clause_at ? "      " : "note: ", "b does not do the same work as a: ", json_string_value(clause));
	}
}

static json_t *document(const struct comparison *comparison, const json_t *const config[2],
                        const struct duel_result *duel) {
	struct app *app = comparison->app;
	const char *device = app_device(app);
	json_t *json =
		json_pack("{s:s,s:s,s:s,s:O?,s:O,s:o,s:o,s:o,s:[o,o],s:i,s:o,s:s,s:i}", "schema", "sweetspot-compare/1",
	              "kernel", comparison->kernel, "device", device ? device : "cpu", "machine", app_machine(app, NULL),
	              "problem", comparison->problem, "a", side_json(comparison, config[0], duel, 0), "b",
	              side_json(comparison, config[1], duel, 1), "ratio", js_number(duel->paired.ratio), "ci",
	              js_number(duel->paired.ci[0]), js_number(duel->paired.ci[1]), "pairs", (int)duel->paired.count, "p",
	              js_number(duel->paired.p), VERDICT_MEMBER,
	              is_open(duel) ? verdict_word(VERDICT_UNDECIDED) : paired_said(duel->verdict, &duel->paired),
	              "failures", duel->failures);
	json_object_set_new(json, "differs", differs_json(comparison, config));
	json_object_set_new(json, "load", race_watch_json(&comparison->watch));
	if (comparison->slower.asked)
		json_object_set_new(json, "regression", slower_json(&comparison->slower));
	return json;
}

static const char *verdict_text(const struct duel_result *duel) {
	return duel->verdict == PAIRED_FASTER   ? "a is faster"
	       : duel->verdict == PAIRED_SLOWER ? "a is slower"
	       : paired_is_vague(&duel->paired) ? "undecided: too noisy"
	       : is_open(duel)                  ? "undecided, more time may decide"
	                                        : "a tie: no significant difference";
}

/* "a is 2.10x faster than b [2.05, 2.16]": of times the inverse, so that a larger number is the larger difference. */
static void verdict_print(const struct comparison *comparison, const struct duel_result *duel) {
	struct ui *ui = app_ui(comparison->app);
	bool faster = duel->verdict == PAIRED_FASTER;
	double ratio = duel->paired.ratio, low = duel->paired.ci[0], high = duel->paired.ci[1];
	if (duel->lost[0] || duel->lost[1])
		printf("%s%s fails%s\n\n", ui_style(ui, UI_BOLD), duel->lost[1] ? "b" : "a", ui_style(ui, UI_PLAIN));
	else if (!isfinite(ratio) || (!faster && duel->verdict != PAIRED_SLOWER))
		printf("%s%s%s\n\n", ui_style(ui, UI_BOLD), verdict_text(duel), ui_style(ui, UI_PLAIN));
	else
		printf("%s%s is %.2fx faster than %s%s [%.2f, %.2f]\n\n", ui_style(ui, UI_BOLD), faster ? "a" : "b",
		       faster ? 1 / ratio : ratio, faster ? "b" : "a", ui_style(ui, UI_PLAIN), faster ? 1 / high : low,
		       faster ? 1 / low : high);
}

static void busy_print(const struct comparison *comparison, const struct duel_result *duel) {
	js_auto json_t *load = race_watch_json(&comparison->watch);
	mem_auto char *busy =
		results_busy(load, duel->verdict != PAIRED_TIE || (duel->decided && !paired_is_vague(&duel->paired)));
	mem_auto char *line = busy ? mem_printf("%s; the same command verifies it later\n", busy) : mem_strdup("");
	ui_fold(stdout, line);
}

static void failures_print(const struct comparison *comparison, const struct duel_result *duel) {
	for (int side = 0; side < 2; side++) {
		mem_auto char *text =
			mem_printf("%s failed%s: %s", side ? "b" : "a", duel->lost[side] ? "" : " at times", comparison->why[side]);
		if (duel->failed[side] != TRIAL_CORRECT && *comparison->why[side])
			ui_wrap(stdout, 0, 2, "%s", text);
	}
}

static void people_print(const struct comparison *comparison, const json_t *const config[2],
                         const struct duel_result *duel) {
	struct ui *ui = app_ui(comparison->app);
	static const char *const titles[] = {"", "\1median", "configuration"}, *const names[] = {"a", "b"};
	struct table *table = table_new(3, titles);
	verdict_print(comparison, duel);
	for (int side = 0; side < 2; side++) {
		char median[32], *text = results_problem(config[side]);
		results_value(shown(comparison, duel->median[side]), comparison->unit, median, sizeof median);
		table_add(table, names[side], duel->lost[side] ? trial_status_word(duel->failed[side]) : median, text);
		free(text);
	}
	table_end(table, ui, stdout);
	failures_print(comparison, duel);
	if (!duel->paired.count || duel->lost[0] || duel->lost[1])
		return;
	const char *what = *comparison->unit ? "time" : comparison->maximize ? "inverse rate" : "value";
	printf("\na takes %.4f [%.4f, %.4f] of b's %s in %zu pairs\n", duel->paired.ratio, duel->paired.ci[0],
	       duel->paired.ci[1], what, duel->paired.count);
	differs_print(comparison, config);
	busy_print(comparison, duel);
}

/* One row a side. */
static void export_print(const struct comparison *comparison, const json_t *document) {
	static const char *const sides[] = {"a", "b"}, *const members[] = {"median", "unit", "status"};
	js_auto json_t *rows = json_array();
	for (int side = 0; side < 2; side++) {
		const json_t *one = json_object_get(document, sides[side]), *ci = json_object_get(one, "ci");
		json_t *row = json_pack("{s:s}", "side", sides[side]);
		json_object_update(row, json_object_get(one, "config"));
		for (size_t i = 0; i < sizeof members / sizeof *members; i++)
			json_object_set(row, members[i], json_object_get(one, members[i]));
		json_object_set(row, "low", json_array_get(ci, 0));
		json_object_set(row, "high", json_array_get(ci, 1));
		json_object_set_new(row, "runs", json_integer((json_int_t)json_array_size(json_object_get(one, "samples"))));
		if (side == 0) {
			json_object_set(row, "ratio", json_object_get(document, "ratio"));
			verdict_copy(row, document);
		}
		json_array_append_new(rows, row);
	}
	measured_write(comparison->export, rows, stdout);
}

static void counted_print(const struct comparison *comparison) {
	struct app *app = comparison->app;
	for (int side = 0; side < 2 && comparison->counted[side]; side++) {
		printf("\ncounters of %s:\n", side ? "b" : "a");
		counters_print(app_ui(app), comparison->counted[side], counters_sources(app), stdout);
	}
}

void compare_show(const struct comparison *comparison, const json_t *const config[2], const struct duel_result *duel,
                  bool json) {
	if (!json && !comparison->export) {
		people_print(comparison, config, duel);
		counted_print(comparison);
		return;
	}
	json_t *all = document(comparison, config, duel);
	if (comparison->export)
		export_print(comparison, all);
	else
		js_print(all);
}
