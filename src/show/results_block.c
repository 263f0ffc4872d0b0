/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints results as blocks: the verdict first, then the setting, then what was tried. */
#include <math.h>

#include "base/json/js.h"
#include "src/show/results.h"

static void builds_print(const json_t *result, FILE *out) {
	const json_t *building = json_object_get(result, "building");
	if (!building)
		return;
	fprintf(
		out,
		"  builds: %lld, reused %lld, stopped %lld, given up %lld; up to %lld at the same time, %s; %.3g s in all\n",
		(long long)js_int_or(result, "builds", 0), (long long)js_int_or(building, "reused", 0),
		(long long)js_int_or(building, "stopped", 0), (long long)js_int_or(building, "given_up", 0),
		(long long)js_int_or(building, "jobs", 1), js_string_or(building, "when", "?"),
		js_real_or(building, "seconds", 0));
}

static void one_print(const json_t *result, FILE *out) {
	const json_t *seconds = json_object_get(result, "seconds");
	mem_auto char *kernel = mem_strdup(js_string_or(result, "kernel", "?"));
	double all = js_real_or(result, "elapsed_s", 0);
	text_clean(kernel, false);
	fprintf(out, "\nwhere the time went: %s, %.3g s\n", kernel, all);
	js_members (what, value, seconds) {
		double share = all > 0 ? 100 * json_number_value(value) / all : 0;
		if (json_number_value(value) > 0)
			fprintf(out, "  %-9s %8.2f s %5.1f %%\n", what, json_number_value(value), share);
	}
	builds_print(result, out);
}

/* where each second went */
static void results_seconds_print(const json_t *results, FILE *out) {
	js_each (result, results)
		if (json_is_object(json_object_get(result, "seconds")))
			one_print(result, out);
}

enum { COLUMNS = 3 };

static void row_add(struct table *table, const char *const *words, const json_t *row) {
	mem_auto char *config = results_config(json_object_get(row, "config"), NULL);
	table_add(table, results_value(js_real_or(row, words[0], NAN), trial_unit(words[0])).text,
	          results_value(js_real_or(row, words[1], NAN), trial_unit(words[1])).text, config);
}

/* With two objectives: the configurations on the Pareto front, one per line. */
static void results_pareto_print(struct ui *ui, const struct result *result, FILE *out) {
	const json_t *rows = js_at(result->json, "pareto"), *objectives = js_at(result->json, "objectives");
	const char *titles[COLUMNS] = {NULL, NULL, "Pareto-optimal configuration"};
	size_t i;
	for (i = 0; i < 2; i++)
		titles[i] = json_string_value(json_array_get(objectives, i));
	if (json_array_size(rows) == 0 || !titles[0] || !titles[1])
		return;
	mem_auto char *kernel = mem_strdup(result->kernel);
	text_clean(kernel, false);
	fprintf(out, "\n%s: %s against %s\n", kernel, titles[0], titles[1]);
	struct table *table = table_new(COLUMNS, titles);
	table_right(table, 0);
	table_right(table, 1);
	js_each (row, rows)
		row_add(table, titles, row);
	table_end(table, ui, out);
}

/* The name and the problem. A program's problem is its input only, because its command line is printed as well. The
 * caller frees it. */
static char *title_of(const struct result *result) {
	mem_auto char *values = result->program ? mem_strdup(js_string_or(result->problem, "input", ""))
	                                        : results_config(result->problem, NULL);
	char *title = mem_printf("%s%s%s", result->kernel, *values ? " " : "", values);
	text_clean(title, false);
	return title;
}

static struct shown setup_text(const struct setup *setup) {
	return results_value(setup->median, setup->unit);
}

static char *faster_text(const struct result *result) {
	bool time = strcmp(result->best.unit, "s") == 0;
	struct shown from = setup_text(&result->baseline), to = setup_text(&result->best);
	struct speedup speedup = result->speedup;
	bool least = speedup_is_least(speedup);
	mem_auto char *gain = speedup_gain_text(speedup, time ? "faster" : "better");
	return mem_printf("%s%s: %s%s -> %s%s", gain, result->verdict == VERDICT_NOT_SAME ? ", but not the same work" : "",
	                  least ? "more than " : "", from.text, to.text,
	                  !least && result_medians_differ(result) ? " (medians)" : "");
}

/* Adds the remedy of an undecided comparison; frees the text. */
static char *decide_added(const struct result *result, char *text) {
	const json_t *decide = js_at(result->json, "decide");
	long long pairs = (long long)js_int_or(decide, "pairs", 0);
	if (!json_is_object(decide))
		return text;
	struct shown seconds = ui_seconds(js_real_or(decide, "seconds", NAN));
	bool few = strcmp(js_string_or(decide, "by", ""), "pairs") == 0;
	char *longer = pairs > 0 ? mem_printf(few ? "%s; about %lld more pair%s (%s) may decide"
	                                          : "%s; more than %lld more pair%s (%s) or a quieter machine may decide",
	                                      text, pairs, pairs == 1 ? "" : "s", seconds.text)
	                         : mem_printf("%s; a quieter machine may decide", text);
	free(text);
	return longer;
}

/* "7 of 120 tried" */
static char *tried_text(const struct result *result) {
	return mem_printf("%lld of %lld tried", (long long)result->evaluations, (long long)result->valid);
}

/* All changes together are faster, but one that may do harm is not shown to pay. NULL: that is not why. */
static char *risk_text(const struct result *result) {
	js_each (price, js_at(result->json, "worth")) {
		const char *danger = js_string_or(price, "danger", NULL);
		if (!danger || js_bool_or(price, "proven", true) || !result->compared || !(result->speedup.low > 1.01))
			continue;
		mem_auto char *setting = result_setting_text(price);
		char *text = mem_printf("undecided: not shown to need %s (%s); more time would tell", setting, danger);
		text_clean(text, false);
		return text;
	}
	return NULL;
}

static char *undecided_text(const struct result *result) {
	const json_t *doubt = js_at(result->json, "unconfirmed.0");
	char times[64];
	if (doubt) {
		char *text = mem_printf(
			"undecided: node %s reports a gain of %.3g s a run, but its answers come %.3g s earlier",
			js_string_or(doubt, "name", "?"), js_real_or(doubt, "said_s", NAN), js_real_or(doubt, "seen_s", NAN));
		text_clean(text, false);
		return text;
	}
	char *risk = risk_text(result);
	if (risk)
		return risk;
	struct shown best = setup_text(&result->best);
	snprintf(times, sizeof times, result->compared ? "at least %.2f times as fast" : "the best so far",
	         floor(100 * result->speedup.low) / 100);
	if (js_bool_or(result->json, "unverified", false) && !result->keeps)
		return mem_printf(result->program ? "undecided: %s (%s), if it does the same work: too few runs of the "
		                                    "baseline ended to tell; --verify CMD or more time would"
		                                  : "undecided: %s (%s), if it is right: the baseline did not end, so that no "
		                                    "output could be compared with its own; a ReferenceFile or more time would "
		                                    "tell",
		                  times, best.text);
	if (result_no_bounds(result))
		return decide_added(result, mem_strdup("undecided: the few pairs are too noisy to bound the speedup"));
	if (result->keeps && !result_untried(result) && !result_unmet(result)) {
		mem_auto char *tried = tried_text(result);
		return decide_added(
			result,
			js_bool_or(result->json, "few", false) || !result->compared
				? mem_printf("undecided: %s, none of them faster than the baseline (%s)", tried, best.text)
				: mem_printf("undecided: %s, and the best of them is %.2f to %.2f times as fast as the baseline (%s)",
		                     tried, result->speedup.low, result->speedup.high, best.text));
	}
	if (result->compared)
		return decide_added(result, mem_printf("undecided: too noisy, the speedup is between %.2f and %.2f",
		                                       result->speedup.low, result->speedup.high));
	if (!result->best.json)
		return mem_strdup("undecided: nothing has been measured");
	if (result_unmet(result))
		return mem_printf("undecided: beside other programs the others took too long to compare with the baseline (%s)",
		                  best.text);
	if (result_untried(result))
		return mem_printf("undecided: only the baseline (%s) was tried", best.text);
	if (js_int_or(result->json, "cut_pairs", 0) > 0)
		return mem_printf(
			"undecided: the best so far (%s) is not shown to be faster than the baseline, whose runs were cut "
			"short; more time may decide",
			best.text);
	return mem_printf("undecided: the best so far (%s) has not been compared with the baseline; more time would decide",
	                  best.text);
}

static const char *alone_words(const struct result *result) {
	if (result->closest > 0 || result->censored > 0)
		return "nothing that was tried comes near the baseline";
	return result_tried_all(result) ? "only the baseline works" : "nothing that was tried works except the baseline";
}

/* The interval says how much faster the best of the others may still be; less than 1 % is not worth a change. */
static char *tie_text(const struct result *result) {
	double percent = fmax(1, ceil(100 * (result->speedup.high - 1) - 0.01));
	struct shown best = setup_text(&result->best);
	if (result_alone(result))
		return mem_printf("tie: %s (%s)", alone_words(result), best.text);
	if (result_single(result))
		return mem_printf("tie: there is only one configuration, the baseline (%s)", best.text);
	mem_auto char *of = json_object_get(result->json, "other_work") ? mem_strdup(" and does the same work")
	                    : result->evaluations > 1
	                        ? mem_printf(" of the %lld that were tried", (long long)result->evaluations)
	                        : mem_strdup("");
	return mem_printf("tie: what looked best%s is at most %.0f %% faster than the baseline (%s)", of, percent,
	                  best.text);
}

static char *verdict_text(const struct result *result) {
	if (result->faster)
		return faster_text(result);
	if (result->verdict == VERDICT_TIE)
		return tie_text(result);
	if (result->verdict != VERDICT_NO_BASELINE)
		return undecided_text(result);
	return result->best.json ? mem_printf("the baseline fails; the best takes %s", setup_text(&result->best).text)
	       : result_is_rejected(result) ? mem_strdup("its output is rejected as it is run today")
	                                    : mem_strdup("fails as it is run today");
}

char *results_verdict(const json_t *json) {
	const struct result result = result_read(json);
	return verdict_text(&result);
}

char *results_brief(const json_t *json) {
	const struct result result = result_read(json);
	const char *better = strcmp(result.baseline.unit, "s") == 0 ? "faster" : "better";
	if (result.faster) {
		mem_auto char *gain = speedup_gain_text(result.speedup, better);
		return mem_printf("%s%s", gain, result.verdict == VERDICT_NOT_SAME ? ", but not the same work" : "");
	}
	if (result.verdict == VERDICT_TIE)
		return mem_printf("tie: nothing %s", better);
	if (result.verdict == VERDICT_NO_BASELINE)
		return mem_strdup("the baseline fails");
	return mem_strdup(result.load.busy ? "undecided (busy machine)" : "undecided");
}

void results_runs_print(struct ui *ui, const json_t *json, const char *pairs) {
	static const double WIDE = 1000; /* such an interval says nothing */
	const struct result result = result_read(json);
	const char *bold = ui_style(ui, UI_BOLD), *plain = ui_style(ui, UI_PLAIN), *said = verdict_said(json, "?");
	double ratio = result.speedup.ratio, low = result.speedup.low, high = result.speedup.high;
	struct shown from = setup_text(&result.baseline), to = setup_text(&result.best);
	if (result.verdict == VERDICT_FASTER)
		printf("%s%.2fx faster%s [%.2f, %.2f]: %s -> %s\n", bold, ratio, plain, low, high, from.text, to.text);
	else if (!(low > 0) || !isfinite(high) || high / low > WIDE)
		printf("%s%s%s: %.2fx%s, %s -> %s\n", bold, said, plain, ratio, pairs, from.text, to.text);
	else
		printf("%s%s%s: %.2fx [%.2f, %.2f], %s -> %s\n", bold, said, plain, ratio, low, high, from.text, to.text);
}

static void head_print(struct ui *ui, const struct result *result, FILE *out) {
	mem_auto char *title = title_of(result), *verdict = verdict_text(result);
	bool good = result->verdict == VERDICT_FASTER;
	fprintf(out, "%s%s%s: %s%s%s\n", ui_style(ui, UI_BOLD), title, ui_style(ui, UI_PLAIN),
	        ui_style(ui, good ? UI_GOOD : UI_PLAIN), verdict, ui_style(ui, UI_PLAIN));
}

/* A kernel that verifies itself as all do needs no line of its own. */
static void checked_print(const struct result *result, FILE *out) {
	mem_auto char *checked = verdict_checked(result->json);
	if (checked && (result->program || strncmp(checked, "nothing", 7) == 0))
		fprintf(out, "%-*s%s\n", RESULTS_INDENT, "checked:", checked);
}

static void config_print(const struct result *result, FILE *out) {
	if (result->program || !result->best.json)
		return;
	mem_auto char *config = results_config(result->best.config, NULL);
	fprintf(out, "%-*s%s%s\n", RESULTS_INDENT, "best:", config, result->keeps ? " (the baseline)" : "");
}

/* A time that is easy to type, not less than the seconds. */
static struct shown budget_text(double seconds) {
	static const struct {
		double up_to, step;
		const char *unit;
	} forms[] = {{120, 1, "s"}, {7200, 60, "m"}, {INFINITY, 3600, "h"}};
	struct shown shown;
	size_t i = 0;
	while (seconds > forms[i].up_to)
		i++;
	snprintf(shown.text, sizeof shown.text, "%.0f%s", ceil(seconds / forms[i].step), forms[i].unit);
	return shown;
}

/* Without pairs, too, noise may be why nothing was found; where nothing worked it is not. */
static bool depends_on_load(const struct result *result) {
	return result->compared || !result->decided;
}

static void busy_print(const struct result *result, FILE *out) {
	mem_auto char *words = depends_on_load(result) ? results_load(result->json) : NULL;
	if (words)
		fprintf(out, "%s\n", words);
}

static void tried_print(const struct result *result, FILE *out) {
	enum { MOST = 1000000 /* nobody waits for more */ };
	long long tried = result->evaluations, valid = result->valid;
	double all = result->elapsed_s * (double)valid / (double)tried;
	double unfit = js_real_or(js_at(result->json, "building"), "unfit_s", 0);
	const char *stopped = result->stopped ? result->stopped : "";
	if (tried <= 0 || valid <= 0)
		return;
	fprintf(out, "tried %lld of %lld configuration%s", tried, valid, valid == 1 ? "" : "s");
	if (unfit > 0)
		fprintf(out, "; no time for another build of %.2g s", unfit);
	if (tried < valid && valid <= MOST && all < 86400 && strcmp(stopped, "budget") == 0)
		fprintf(out, "; `--budget %s` covers all", budget_text(all).text);
	if (strcmp(stopped, "gain") == 0)
		fputs("; more of them would probably gain too little", out);
	fputc('\n', out);
}

/* How a program fails as it is run today has been printed already. */
static bool is_told(const struct result *result, const json_t *failed) {
	return result->program && result->verdict == VERDICT_NO_BASELINE &&
	       json_equal(json_object_get(failed, "config"), result->baseline.config);
}

/* The first failure of this kind in the search, whose message usually explains the others, too, and all that came after
 * it. */
static void failure_print(const struct result *result, const char *type, FILE *out) {
	js_each (failed, js_at(result->json, "failed")) {
		if (strcmp(js_string_or(failed, "status", ""), type) != 0 || is_told(result, failed))
			continue;
		mem_auto char *config = results_config(json_object_get(failed, "config"), NULL);
		mem_auto char *message = mem_strdup(js_string_or(failed, "message", ""));
		text_clean(message, false);
		const char *phase = js_string_or(failed, "phase", "");
		fprintf(out, "  %s%s: %s%s%s\n", *phase ? "in the " : "the first", phase, config,
		        *config && *message ? ": " : "", message);
	}
}

/* Did another configuration than the baseline fail after the search? */
static bool fell_late(const struct result *result) {
	js_each (failed, js_at(result->json, "failed"))
		if (json_object_get(failed, "phase") && !json_equal(json_object_get(failed, "config"), result->baseline.config))
			return true;
	return false;
}

/* So many wrong results are rarely the configurations' fault. */
static void wrong_print(const struct result *result, long long wrong, FILE *out) {
	if (2 * wrong <= (long long)result->evaluations || result->verdict == VERDICT_NO_BASELINE)
		return;
	fputs("more than half of what was tried computes something else than the baseline: ", out);
	if (result->program)
		fputs("if the output may differ, tell what is right with --verify or --expect-output\n", out);
	else
		fputs("if an output has other elements in each configuration, such as partial sums, compare what they come to "
		      "with "
		      "\"Verify\" (sum, sorted, norm, or a command), or name the parameters that change it in "
		      "\"OutputDependsOn\" "
		      "(doc/specifications.md)\n",
		      out);
}

static void failures_print(const struct result *result, FILE *out) {
	long long incomparable = result->incomparable;
	js_members (type, count, js_at(result->json, "failures")) {
		long long failed = (long long)json_integer_value(count);
		if (failed <= 0 || strcmp(type, "censored") == 0)
			continue;
		fprintf(out, "%lld trial%s failed (%s)\n", failed, failed == 1 ? "" : "s", type);
		failure_print(result, type, out);
		if (strcmp(type, "correctness") == 0)
			wrong_print(result, failed, out);
	}
	if (fell_late(result) && !result->decided)
		fputs("a setting failed in the final comparison, and there was no time to prove another one: go on with "
		      "--resume and a longer "
		      "--budget\n",
		      out);
	if (incomparable > 0)
		fprintf(out, "%lld of these printed a number of 0 or below, which cannot be compared as a ratio\n",
		        incomparable);
}

/* Details of a kernel are printed only if it is the only one, because the verdicts are what matters for many. */
static void details_print(struct ui *ui, const struct result *result, bool alone, FILE *out) {
	results_pareto_print(ui, result, out);
	if (!result->program && !alone)
		return;
	if (!result->program)
		results_effects_print(result, out);
	results_device_print(ui, js_at(result->best.json, "gpu"), out);
	results_regions_print(ui, result, out);
	results_counters_print(ui, result, out);
}

/* Everything between the verdict and the tables. */
static void body_print(struct ui *ui, const struct result *result, FILE *out) {
	config_print(result, out);
	if (result->program)
		results_program_print(ui, result, out);
	else
		results_worth_print(result->json, out);
	checked_print(result, out);
	busy_print(result, out);
	tried_print(result, out);
	failures_print(result, out);
}

static void block_print(struct ui *ui, const struct result *result, bool alone, FILE *out) {
	head_print(ui, result, out);
	body_print(ui, result, out);
	details_print(ui, result, alone, out);
}

char *results_text(const json_t *json) {
	const struct result result = result_read(json);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return mem_strdup("");
	struct ui *ui = ui_new(out, stderr, true, false); /* no terminal, so that nothing is coloured or cut */
	body_print(ui, &result, out);
	ui_free(ui);
	fclose(out);
	return text;
}

static bool any_busy(const json_t *results) {
	js_each (result, results)
		if (load_read(json_object_get(result, "load")).busy && json_is_object(json_object_get(result, "speedup")))
			return true;
	return false;
}

/* A word that a shell takes as it is. */
static bool is_plain(const char *word) {
	return *word && *word != '-' &&
	       !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./_+-")];
}

char *results_verify_command(const json_t *results, const char *profile) {
	const struct result first = result_read(json_array_get(results, 0));
	bool named = json_array_size(results) == 1 && first.program && is_plain(first.kernel);
	bool plain = is_plain(profile) || strchr(profile, '\'');
	return mem_printf("sweetspot profile verify %s%s%s%s%s%s%s", named ? "--kernel " : "", named ? first.kernel : "",
	                  named ? " " : "", first.program ? "--programs " : "", plain ? "" : "'", profile,
	                  plain ? "" : "'");
}

/* The difference of a configuration from itself. Where runs differ that much, its size says no more. */
static void floor_print(double noise_floor, FILE *out) {
	double percent = 100 * noise_floor;
	if (!isfinite(noise_floor))
		return;
	if (percent > RESULTS_FLOOR_MOST)
		fprintf(out, "noise floor of this session: more than %d %%; the machine is too noisy to decide about less\n",
		        RESULTS_FLOOR_MOST);
	else
		fprintf(out, "noise floor of this session: %.*f %% (a configuration against itself)\n",
		        percent < 1    ? 2
		        : percent < 10 ? 1
		                       : 0,
		        percent);
}

static void blocks_write(struct ui *ui, const json_t *results, double noise_floor, const char *profile,
                         const char *store, FILE *out) {
	js_each (result, results) {
		if (result_at)
			fputc('\n', out);
		const struct result one = result_read(result);
		block_print(ui, &one, json_array_size(results) == 1, out);
	}
	if (ui_verbose(ui))
		results_seconds_print(results, out);
	fputc('\n', out);
	floor_print(noise_floor, out);
	if (profile)
		fprintf(out, "profile: %s\n", profile);
	fprintf(out, "store:   %s\n", store);
	mem_auto char *verify = profile && any_busy(results) ? results_verify_command(results, profile) : NULL;
	if (verify)
		fprintf(out, "verify it: %s\n", verify);
	if (profile && !js_at(results, "0.program"))
		fputs("next:    `sweetspot export --format env KERNEL` for a job script,\n"
		      "         `sweetspot run KERNEL P=V...` to look closer\n",
		      out);
}

void results_print(struct ui *ui, const json_t *results, double noise_floor, const char *profile, const char *store) {
	mem_auto char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	if (!memory)
		return;
	blocks_write(ui, results, noise_floor, profile, store, memory);
	fclose(memory);
	ui_fold(stdout, text);
}
