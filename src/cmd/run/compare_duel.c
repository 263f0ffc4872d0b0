/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/run/run_impl.h"
#include "src/show/results.h"
#include "tuner/same/same.h"
#include "base/sys.h"
#include "src/app/lock.h"
#include "tuner/race/numbers.h"

static int slower_read(struct slower *slower, const struct opt_args *args, struct err *err) {
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

static void slower_judge(struct slower *slower, const struct duel_result *duel) {
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

/* Writes the JUnit file, if one is asked for. */
static int slower_junit(const struct comparison *comparison, const struct duel_result *duel, struct err *err) {
	const struct slower *slower = &comparison->slower;
	char text[256];
	if (!slower->junit)
		return 0;
	struct junit *junit = junit_new("sweetspot compare");
	mem_auto char *a = results_config(comparison->config[0], NULL), *b = results_config(comparison->config[1], NULL);
	describe(slower, text, sizeof text);
	enum junit_result result = fails(slower)                             ? JUNIT_FAILED
	                           : slower->outcome == REGRESSION_UNDECIDED ? JUNIT_SKIPPED
	                                                                     : JUNIT_PASSED;
	junit_add(junit, a, b, *comparison->unit ? duel->median[1] : NAN, result, text);
	int failed = junit_write(junit, slower->junit, err);
	junit_free(junit);
	return failed;
}

/* ERR_FAILED if b is slower than allowed or does not work; warns where it is undecided. */
static int slower_verdict(const struct slower *slower, struct ui *ui, struct err *err) {
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

static json_t *side_json(const struct comparison *comparison, const struct duel_result *duel, int side) {
	int low = comparison->maximize;
	json_t *json =
		json_pack("{s:O,s:o,s:[o,o],s:s,s:s,s:o}", "config", comparison->config[side], "median",
	              js_number(shown(comparison, duel->median[side])), "ci",
	              js_number(shown(comparison, duel->ci[side][low])), js_number(shown(comparison, duel->ci[side][!low])),
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
static json_t *differs_json(const struct comparison *comparison) {
	const struct same_case one = {.base_config = comparison->config[0],
	                              .best_config = comparison->config[1],
	                              .metric = comparison->metric,
	                              .base = comparison->seen[0],
	                              .best = comparison->seen[1]};
	json_t *all = json_array();
	if (!same_is_known(&one) || json_equal(comparison->config[0], comparison->config[1]))
		return all;
	json_t *parts[] = {same_left(&one), same_files(&one), comparison->any_output ? json_array() : same_output(&one)};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		json_array_extend(all, parts[i]);
		json_decref(parts[i]);
	}
	return all;
}

static void differs_print(const struct comparison *comparison) {
	js_auto json_t *all = differs_json(comparison);
	js_each (clause, all) {
		ui_wrap(stdout, 0, 6, "%s%s%s",
		        clause_at ? "      " : "note: ", "b does not do the same work as a: ", json_string_value(clause));
	}
}

static json_t *document(const struct comparison *comparison, const struct duel_result *duel) {
	struct app *app = comparison->app;
	const char *device = app_device(app);
	return json_pack(
		"{s:s,s:s,s:s,s:O?,s:O,s:o,s:o,s:o,s:[o,o],s:i,s:o,s:s,s:i,s:o,s:o,s:o*}", "schema", "sweetspot-compare/1",
		"kernel", comparison->request.kernel, "device", device ? device : "cpu", "machine", app_machine(app, NULL),
		"problem", comparison->request.problem, "a", side_json(comparison, duel, 0), "b",
		side_json(comparison, duel, 1), "ratio", js_number(duel->paired.ratio), "ci", js_number(duel->paired.ci[0]),
		js_number(duel->paired.ci[1]), "pairs", (int)duel->paired.count, "p", js_number(duel->paired.p), VERDICT_MEMBER,
		is_open(duel) ? verdict_word(VERDICT_UNDECIDED) : paired_said(duel->verdict, &duel->paired), "failures",
		duel->failures, "differs", differs_json(comparison), "load", race_watch_json(&comparison->watch), "regression",
		comparison->slower.asked ? slower_json(&comparison->slower) : NULL);
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

static void people_print(const struct comparison *comparison, const struct duel_result *duel) {
	struct ui *ui = app_ui(comparison->app);
	static const char *const titles[] = {"", "\1median", "configuration"}, *const names[] = {"a", "b"};
	struct table *table = table_new(3, titles);
	verdict_print(comparison, duel);
	for (int side = 0; side < 2; side++) {
		mem_auto char *text = results_problem(comparison->config[side]);
		table_add(table, names[side],
		          duel->lost[side] ? trial_status_word(duel->failed[side])
		                           : results_value(shown(comparison, duel->median[side]), comparison->unit).text,
		          text);
	}
	table_end(table, ui, stdout);
	failures_print(comparison, duel);
	if (!duel->paired.count || duel->lost[0] || duel->lost[1])
		return;
	const char *what = *comparison->unit ? "time" : comparison->maximize ? "inverse rate" : "value";
	printf("\na takes %.4f [%.4f, %.4f] of b's %s in %zu pairs\n", duel->paired.ratio, duel->paired.ci[0],
	       duel->paired.ci[1], what, duel->paired.count);
	differs_print(comparison);
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

/* Prints the outcome to stdout: in the format of --export if there is one, else as JSON if json, else for people. */
static void compare_show(const struct comparison *comparison, const struct duel_result *duel, bool json) {
	if (!json && !comparison->export) {
		people_print(comparison, duel);
		counted_print(comparison);
		return;
	}
	json_t *all = document(comparison, duel);
	if (comparison->export)
		export_print(comparison, all);
	else
		js_print(all);
}

static int on_trial(void *ctx, const char *phase, int block, const json_t *config, const struct trial_result *result,
                    struct err *err) {
	struct comparison *comparison = ctx;
	struct app *app = comparison->app;
	for (int side = 0; side < 2 && result->status != TRIAL_CORRECT; side++)
		if (json_equal(config, comparison->config[side]))
			snprintf(comparison->why[side], sizeof comparison->why[side], "%s", result->message);
	for (int side = 0; side < 2 && result->status == TRIAL_CORRECT; side++)
		if (json_equal(config, comparison->config[side]))
			same_add(comparison->seen[side], json_object_get(result->reply, "evidence"));
	ui_progress(app_ui(app), "compare  pair %d of at most %d", block + 1, comparison->most);
	if (comparison->manual &&
	    manual_store_trial(&comparison->kept, phase, block, comparison->request.problem, config, result, err))
		return -1;
	return *app_interrupt(app) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

/* Counts each side once, after the duel, so that counting cannot disturb it. */
static int count(struct comparison *comparison, struct err *err) {
	struct manual *manual = comparison->manual;
	int failed = 0;
	for (int side = 0; side < 2 && comparison->counters.count && !failed; side++) {
		const json_t *config = comparison->config[side];
		struct trial_result result = {0};
		ui_progress(app_ui(manual->app), "compare  counting %s", side ? "b" : "a");
		failed = manual_count(manual, &comparison->counters, manual->problem, config, &result, err) ||
		         manual_store_trial(&comparison->kept, "counters", 0, manual->problem, config, &result, err);
		comparison->counted[side] = json_object();
		if (!failed)
			trial_counters_add(comparison->counted[side], &result);
		trial_result_clear(&result);
	}
	return failed ? -1 : 0;
}

/* Somebody waits for the answer, so only what can be repeated in this time is. */
static void watch_begin(struct comparison *comparison) {
	static const double REPEAT_SECONDS = 10;
	comparison->watch =
		(struct race_watch){.busy = busy_new(), .seconds = REPEAT_SECONDS, .interrupt = app_interrupt(comparison->app)};
}

/* With a limit in time, the pairs are looked at early, as `tune` does, and may be fewer. */
static void budget_begin(double seconds, const struct opt_args *args, struct duel_options *duel) {
	/* A run is cut after half of what the budget may be exceeded by; to end it takes time as well. */
	static const double SHARE_OVER = 0.025, SECONDS_OVER = 1;
	double now = sys_now();
	duel->clock.end = now + seconds;
	duel->clock.cut = now + seconds + fmax(SHARE_OVER * seconds, SECONDS_OVER);
	duel->pairs_first = opt_has(args, "pairs") ? 0 : RACE_PAIRS_LEAST;
	duel->seconds_max = 0;
}

/* One pair alone has no interval. */
static int pairs_check(const struct opt_args *args, const struct duel_result *duel, struct err *err) {
	if (!opt_has(args, "budget") || duel->lost[0] || duel->lost[1] || duel->paired.count > 1)
		return 0;
	if (duel->cut[0] != duel->cut[1])
		return err_set(err, ERR_NOTHING, "run it alone; if it is not stuck, it needs a longer budget",
		               "%s did not end within --budget %s", duel->cut[1] ? "b" : "a", opt_get(args, "budget", ""));
	return err_set(err, ERR_NOTHING, "give more time", "--budget %s is too short for two pairs",
	               opt_get(args, "budget", ""));
}

/* A comparison that could not be made is not a success, whichever side fails. The reason is on stdout already, for
 * people. */
static int lost_check(const struct comparison *comparison, const struct duel_result *duel, bool told, struct err *err) {
	int side = duel->lost[1];
	const char *why = told ? "" : comparison->why[side];
	if (comparison->slower.asked || (!duel->lost[0] && !duel->lost[1]))
		return 0;
	return err_set(err, ERR_FAILED, "run it alone to see why", "they cannot be compared, because %s fails%s%.300s",
	               side ? "b" : "a", *why ? ": " : "", why);
}

static int duel_read(struct comparison *comparison, const struct opt_args *args, struct duel_options *duel,
                     double *seconds, struct err *err) {
	long long least, most;
	*duel = duel_defaults;
	if (opt_limit(args, "budget", seconds, err) || opt_int(args, "pairs", 21, 100000, duel->pairs_min, &least, err) ||
	    opt_int(args, "max-pairs", 21, 100000, least > duel->pairs_max ? least : duel->pairs_max, &most, err) ||
	    measured_format_read(args, &comparison->export, err) || slower_read(&comparison->slower, args, err))
		return -1;
	duel->pairs_min = (int)least;
	duel->pairs_max = (int)(most > least ? most : least);
	duel->seed = comparison->request.seed;
	duel->phase = "duel";
	duel->limit = comparison->slower.asked ? 1 / (1 + comparison->slower.limit) : 0;
	duel->watch = &comparison->watch;
	comparison->most = duel->pairs_max;
	comparison->request.min_sample_s = 4e-3;
	comparison->any_output = opt_has(args, "expect-output") || opt_has(args, "verify");
	return 0;
}

static int measure(struct comparison *comparison, const struct opt_args *args, struct duel_result *duel,
                   struct err *err) {
	struct app *app = comparison->app;
	struct duel_options duel_options;
	const struct race_observer observer = {.ctx = comparison, .trial = on_trial};
	double seconds = 0;
	if (duel_read(comparison, args, &duel_options, &seconds, err))
		return -1;
	int lock = lock_take(app_ui(app), app_interrupt(app), err);
	watch_begin(comparison);
	if (seconds > 0)
		budget_begin(seconds, args, &duel_options);
	int failed = lock < 0 ||
	             duel_run(&comparison->runner, &comparison->request, comparison->config[0], comparison->config[1],
	                      &duel_options, &observer, duel, err) ||
	             pairs_check(args, duel, err);
	if (failed && err->code == ERR_NOTHING && *comparison->why[0])
		err_set(err, ERR_NOTHING, "run each of them alone", "both fail: a: %.100s; b: %.100s", comparison->why[0],
		        comparison->why[1]);
	failed = failed || count(comparison, err);
	lock_release(lock);
	ui_progress_end(app_ui(app));
	return failed ? -1 : 0;
}

int compare_duel(struct comparison *comparison, const struct opt_args *args, struct err *err) {
	struct duel_result duel = {0};
	bool json = opt_has(args, "json");
	for (int side = 0; side < 2; side++)
		comparison->seen[side] = json_array();
	int failed = measure(comparison, args, &duel, err);
	if (!failed) {
		slower_judge(&comparison->slower, &duel);
		compare_show(comparison, &duel, json);
	}
	failed = failed || slower_junit(comparison, &duel, err) ||
	         lost_check(comparison, &duel, !comparison->export && !json, err) ||
	         slower_verdict(&comparison->slower, app_ui(comparison->app), err);
	duel_result_clear(&duel);
	return failed ? -1 : 0;
}
