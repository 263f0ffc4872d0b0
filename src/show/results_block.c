/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints results as blocks: the verdict first, then the setting, then what was tried. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/result/result.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/show/results.h"

enum { COLUMNS = 3 };

static void row_add(struct table *table, const char *const *words, const json_t *row) {
	char values[2][32], *config = results_config(json_object_get(row, "config"), NULL);
	for (int i = 0; i < 2; i++)
		results_value(js_real_or(row, words[i], NAN), trial_unit(words[i]), values[i], sizeof values[i]);
	table_add(table, values[0], values[1], config);
	free(config);
}

/* With two objectives: the configurations on the Pareto front, one per line. */
static void results_pareto_print(struct ui *ui, const json_t *result, FILE *out) {
	const json_t *rows = json_object_get(result, "pareto"), *objectives = json_object_get(result, "objectives");
	const char *titles[COLUMNS] = {NULL, NULL, "Pareto-optimal configuration"};
	size_t i;
	for (i = 0; i < 2; i++)
		titles[i] = json_string_value(json_array_get(objectives, i));
	if (json_array_size(rows) == 0 || !titles[0] || !titles[1])
		return;
	char *kernel = mem_strdup(js_string_or(result, "kernel", "?"));
	text_clean(kernel, false);
	fprintf(out, "\n%s: %s against %s\n", kernel, titles[0], titles[1]);
	free(kernel);
	struct table *table = table_new(COLUMNS, titles);
	table_right(table, 0);
	table_right(table, 1);
	js_each (row, rows)
		row_add(table, titles, row);
	table_end(table, ui, out);
}

/* The name and the problem. A program's problem is its input only, because its command line is printed as well. The
 * caller frees it. */
static char *title_of(const json_t *result) {
	const json_t *problem = json_object_get(result, "problem");
	char *values =
		result_is_program(result) ? mem_strdup(js_string_or(problem, "input", "")) : results_config(problem, NULL);
	char *title = mem_printf("%s%s%s", js_string_or(result, "kernel", "?"), *values ? " " : "", values);
	text_clean(title, false);
	free(values);
	return title;
}

static void setup_text(const json_t *setup, char *text, size_t size) {
	results_value(js_real_or(setup, "median", NAN), js_string_or(setup, "unit", "s"), text, size);
}

static char *faster_text(const json_t *result) {
	const json_t *baseline = json_object_get(result, "baseline"), *best = json_object_get(result, "best");
	bool time = strcmp(js_string_or(best, "unit", "s"), "s") == 0;
	char from[64], to[64];
	setup_text(baseline, from, sizeof from);
	setup_text(best, to, sizeof to);
	struct speedup speedup = speedup_of(result);
	if (speedup_is_least(speedup))
		return mem_printf("at least %.2fx %s%s: more than %s -> %s", speedup.low, time ? "faster" : "better",
		                  verdict_of(result) == VERDICT_NOT_SAME ? ", but not the same work" : "", from, to);
	char *gain = speedup_gain_text(speedup, time ? "faster" : "better");
	char *text =
		mem_printf("%s%s: %s -> %s%s", gain, verdict_of(result) == VERDICT_NOT_SAME ? ", but not the same work" : "",
	               from, to, result_medians_differ(result) ? " (medians)" : "");
	free(gain);
	return text;
}

/* Adds the remedy of an undecided comparison; frees the text. */
static char *decide_added(const json_t *result, char *text) {
	const json_t *decide = json_object_get(result, "decide");
	long long pairs = (long long)js_int_or(decide, "pairs", 0);
	char seconds[32];
	if (!json_is_object(decide))
		return text;
	ui_seconds(js_real_or(decide, "seconds", NAN), seconds, sizeof seconds);
	char *longer = pairs > 0 ? mem_printf("%s; about %lld more pair%s (%s) would decide", text, pairs,
	                                      pairs == 1 ? "" : "s", seconds)
	                         : mem_printf("%s; more pairs would hardly decide, a quieter machine would", text);
	free(text);
	return longer;
}

/* "7 of 120 tried" */
static char *tried_text(const json_t *result) {
	return mem_printf("%lld of %lld tried", (long long)js_int_or(result, "evaluations", 0),
	                  (long long)js_int_or(json_object_get(result, "space"), "valid", 0));
}

static char *undecided_text(const json_t *result) {
	const json_t *doubt = json_array_get(json_object_get(result, "unconfirmed"), 0);
	char best[64];
	if (doubt) {
		char *text = mem_printf(
			"undecided: node %s reports a gain of %.3g s a run, but its answers come %.3g s earlier",
			js_string_or(doubt, "name", "?"), js_real_or(doubt, "said_s", NAN), js_real_or(doubt, "seen_s", NAN));
		text_clean(text, false);
		return text;
	}
	setup_text(json_object_get(result, "best"), best, sizeof best);
	if (result_no_bounds(result))
		return decide_added(result, mem_strdup("undecided: the few pairs are too noisy to bound the speedup"));
	if (result_keeps_baseline(result) && !result_untried(result) && !result_unmet(result)) {
		char *tried = tried_text(result), *text;
		text =
			js_bool_or(result, "few", false) || !result_is_compared(result)
				? mem_printf("undecided: %s, none of them faster than the baseline (%s)", tried, best)
				: mem_printf("undecided: %s, and the best of them is %.2f to %.2f times as fast as the baseline (%s)",
		                     tried, speedup_of(result).low, speedup_of(result).high, best);
		free(tried);
		return decide_added(result, text);
	}
	if (result_is_compared(result))
		return decide_added(result, mem_printf("undecided: too noisy, the speedup is between %.2f and %.2f",
		                                       speedup_of(result).low, speedup_of(result).high));
	if (!json_is_object(json_object_get(result, "best")))
		return mem_strdup("undecided: nothing has been measured");
	if (result_unmet(result))
		return mem_printf("undecided: beside other programs the others took too long to compare with the baseline (%s)",
		                  best);
	if (result_untried(result))
		return mem_printf("undecided: only the baseline (%s) was tried", best);
	return mem_printf("undecided: the best so far (%s) has not been compared with the baseline", best);
}

static const char *alone_words(const json_t *result) {
	if (result_closest(result) > 0 || result_cut_short(result) > 0)
		return "nothing that was tried comes near the baseline";
	return result_tried_all(result) ? "only the baseline works" : "nothing that was tried works except the baseline";
}

/* The interval says how much faster another configuration may still be; less than 1 % is not worth a change. */
static char *tie_text(const json_t *result) {
	double percent = fmax(1, ceil(100 * (speedup_of(result).high - 1) - 0.01));
	char best[64];
	setup_text(json_object_get(result, "best"), best, sizeof best);
	if (result_alone(result))
		return mem_printf("tie: %s (%s)", alone_words(result), best);
	if (result_single(result))
		return mem_printf("tie: there is only one configuration, the baseline (%s)", best);
	return mem_printf("tie: nothing is more than %.0f %% faster than the baseline (%s)", percent, best);
}

char *results_verdict(const json_t *result) {
	char best[64];
	if (verdict_is_faster(result))
		return faster_text(result);
	if (verdict_of(result) == VERDICT_TIE)
		return tie_text(result);
	if (verdict_of(result) != VERDICT_NO_BASELINE)
		return undecided_text(result);
	setup_text(json_object_get(result, "best"), best, sizeof best);
	return json_object_get(result, "best") ? mem_printf("the baseline fails; the best takes %s", best)
	       : result_is_rejected(result)    ? mem_strdup("its output is rejected as it is run today")
	                                       : mem_strdup("fails as it is run today");
}

static void head_print(struct ui *ui, const json_t *result, FILE *out) {
	char *title = title_of(result), *verdict = results_verdict(result);
	bool good = verdict_of(result) == VERDICT_FASTER;
	fprintf(out, "%s%s%s: %s%s%s\n", ui_style(ui, UI_BOLD), title, ui_style(ui, UI_PLAIN),
	        ui_style(ui, good ? UI_GOOD : UI_PLAIN), verdict, ui_style(ui, UI_PLAIN));
	free(title);
	free(verdict);
}

/* A kernel that verifies itself as all do needs no line of its own. */
static void checked_print(const json_t *result, FILE *out) {
	char *checked = verdict_checked(result);
	if (checked && (result_is_program(result) || strncmp(checked, "nothing", 7) == 0))
		fprintf(out, "%-*s%s\n", RESULTS_INDENT, "checked:", checked);
	free(checked);
}

static void config_print(const json_t *result, FILE *out) {
	const json_t *best = json_object_get(result, "best");
	if (result_is_program(result) || !best)
		return;
	char *config = results_config(json_object_get(best, "config"), NULL);
	fprintf(out, "%-*s%s%s\n", RESULTS_INDENT, "best:", config, result_keeps_baseline(result) ? " (the baseline)" : "");
	free(config);
}

/* A time that is easy to type, not less than the seconds. */
static void budget_text(double seconds, char *text, size_t size) {
	static const struct {
		double up_to, step;
		const char *unit;
	} forms[] = {{120, 1, "s"}, {7200, 60, "m"}, {INFINITY, 3600, "h"}};
	size_t i = 0;
	while (seconds > forms[i].up_to)
		i++;
	snprintf(text, size, "%.0f%s", ceil(seconds / forms[i].step), forms[i].unit);
}

/* Without pairs, too, noise may be why nothing was found; where nothing worked it is not. */
static bool depends_on_load(const json_t *result) {
	return result_is_compared(result) || !result_is_decided(result);
}

static void busy_print(const json_t *result, FILE *out) {
	char *words = depends_on_load(result) ? results_load(result) : NULL;
	if (words)
		fprintf(out, "%s\n", words);
	free(words);
}

static void tried_print(const json_t *result, FILE *out) {
	enum { MOST = 1000000 /* nobody waits for more */ };
	long long tried = (long long)js_int_or(result, "evaluations", 0);
	long long valid = (long long)js_int_or(json_object_get(result, "space"), "valid", 0);
	double all = js_real_or(result, "elapsed_s", NAN) * (double)valid / (double)tried;
	double unfit = js_real_or(json_object_get(result, "building"), "unfit_s", 0);
	char budget[32];
	if (tried <= 0 || valid <= 0)
		return;
	fprintf(out, "tried %lld of %lld configuration%s", tried, valid, valid == 1 ? "" : "s");
	if (unfit > 0)
		fprintf(out, "; no time for another build of %.2g s", unfit);
	if (tried < valid && valid <= MOST && all < 86400 && strcmp(js_string_or(result, "stopped", ""), "budget") == 0) {
		budget_text(all, budget, sizeof budget);
		fprintf(out, "; `--budget %s` covers all", budget);
	}
	if (strcmp(js_string_or(result, "stopped", ""), "gain") == 0)
		fputs("; more of them would gain too little", out);
	fputc('\n', out);
}

/* How a program fails as it is run today has been printed already. */
static bool is_told(const json_t *result, const json_t *failed) {
	const json_t *today = json_object_get(json_object_get(result, "baseline"), "config");
	return result_is_program(result) && verdict_of(result) == VERDICT_NO_BASELINE &&
	       json_equal(json_object_get(failed, "config"), today);
}

/* The first failure of this kind in the search, whose message usually explains the others, too, and all that came after
 * it. */
static void failure_print(const json_t *result, const char *type, FILE *out) {
	js_each (failed, json_object_get(result, "failed")) {
		if (strcmp(js_string_or(failed, "status", ""), type) != 0 || is_told(result, failed))
			continue;
		char *config = results_config(json_object_get(failed, "config"), NULL);
		char *message = mem_strdup(js_string_or(failed, "message", ""));
		text_clean(message, false);
		const char *phase = js_string_or(failed, "phase", "");
		fprintf(out, "  %s%s: %s%s%s\n", *phase ? "in the " : "the first", phase, config,
		        *config && *message ? ": " : "", message);
		free(config);
		free(message);
	}
}

/* True if the configuration that looked best is not recommended. */
static bool fell_late(const json_t *result) {
	js_each (failed, json_object_get(result, "failed"))
		if (json_object_get(failed, "phase"))
			return true;
	return false;
}

static void failures_print(const json_t *result, FILE *out) {
	long long incomparable = (long long)js_int_or(result, "incomparable", 0);
	js_members (type, count, json_object_get(result, "failures")) {
		long long failed = (long long)json_integer_value(count);
		if (failed <= 0 || strcmp(type, "censored") == 0)
			continue;
		fprintf(out, "%lld trial%s failed (%s)\n", failed, failed == 1 ? "" : "s", type);
		failure_print(result, type, out);
	}
	if (fell_late(result) && !result_is_decided(result))
		fputs("what looked best failed, and there was no time to prove the next best: go on with --resume and a longer "
		      "--budget\n",
		      out);
	if (incomparable > 0)
		fprintf(out, "%lld of these printed a number of 0 or below, which cannot be compared as a ratio\n",
		        incomparable);
}

/* Details of a kernel are printed only if it is the only one, because the verdicts are what matters for many. */
static void details_print(struct ui *ui, const json_t *result, bool alone, FILE *out) {
	results_pareto_print(ui, result, out);
	if (!result_is_program(result) && !alone)
		return;
	if (!result_is_program(result))
		results_effects_print(result, out);
	results_device_print(ui, json_object_get(json_object_get(result, "best"), "gpu"), out);
	results_regions_print(ui, result, out);
	results_counters_print(ui, result, out);
}

static void block_print(struct ui *ui, const json_t *result, bool alone, FILE *out) {
	head_print(ui, result, out);
	config_print(result, out);
	if (result_is_program(result))
		results_program_print(ui, result, out);
	else
		results_worth_print(result, out);
	checked_print(result, out);
	busy_print(result, out);
	tried_print(result, out);
	failures_print(result, out);
	details_print(ui, result, alone, out);
}

static bool any_busy(const json_t *results) {
	js_each (result, results)
		if (js_bool_or(json_object_get(result, "load"), "busy", false) && result_is_compared(result))
			return true;
	return false;
}

/* A word that a shell takes as it is. */
static bool is_plain(const char *word) {
	return *word && *word != '-' &&
	       !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./_+-")];
}

char *results_verify_command(const json_t *results, const char *profile) {
	const json_t *first = json_array_get(results, 0);
	bool named =
		json_array_size(results) == 1 && result_is_program(first) && is_plain(js_string_or(first, "kernel", ""));
	bool plain = is_plain(profile) || strchr(profile, '\'');
	return mem_printf("sweetspot profile verify %s%s%s%s%s%s%s", named ? "--kernel " : "",
	                  named ? js_string_or(first, "kernel", "") : "", named ? " " : "",
	                  result_is_program(first) ? "--programs " : "", plain ? "" : "'", profile, plain ? "" : "'");
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
		block_print(ui, result, json_array_size(results) == 1, out);
	}
	if (ui_verbose(ui))
		results_seconds_print(results, out);
	fputc('\n', out);
	floor_print(noise_floor, out);
	if (profile)
		fprintf(out, "profile: %s\n", profile);
	fprintf(out, "store:   %s\n", store);
	char *verify = profile && any_busy(results) ? results_verify_command(results, profile) : NULL;
	if (verify)
		fprintf(out, "verify it: %s\n", verify);
	free(verify);
	if (profile && !result_is_program(json_array_get(results, 0)))
		fputs("next:    `sweetspot export --format env KERNEL` for a job script,\n"
		      "         `sweetspot run KERNEL P=V...` to look closer\n",
		      out);
}

void results_print(struct ui *ui, const json_t *results, double noise_floor, const char *profile, const char *store) {
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	if (!memory)
		return;
	blocks_write(ui, results, noise_floor, profile, store, memory);
	fclose(memory);
	ui_fold(stdout, text);
	free(text);
}
