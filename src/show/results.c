/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/show/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/base/value.h"

/* A word that is empty or has blanks is put in quotes, so that one sees where it ends. */
static char *value_shown(const json_t *member) {
	struct value value;
	if (!value_from_json(member, &value))
		return mem_strdup("?");
	int size = value_text(value, NULL, 0) + 1;
	char *text = mem_alloc((size_t)size + 2, 1);
	value_text(value, text, (size_t)size);
	if (value.type == VALUE_WORD && (!*text || strchr(text, ' '))) {
		char *quoted = mem_printf("'%s'", text);
		free(text);
		return quoted;
	}
	return text;
}

char *results_config(const json_t *config, const json_t *base) {
	char *text = mem_strdup("");
	const char *name;
	json_t *member;
	json_object_foreach((json_t *)config, name, member) {
		if (base && json_equal(member, json_object_get(base, name)))
			continue;
		char *shown = value_shown(member);
		char *longer = mem_printf("%s%s%s=%s", text, *text ? " " : "", name, shown);
		free(shown);
		free(text);
		text = longer;
	}
	text_clean(text, false);
	return text;
}

/* The parts of a progress line, in order. */
enum part { PART_NAME, PART_BAR, PART_BEST, PART_FAILED, PART_ETA, PART_BUILDS, PART_NOTE, PARTS };

/* Drops the least important parts until the line fits. */
static void parts_join(struct ui *ui, char parts[PARTS][128]) {
	static const enum part least[] = {PART_NOTE, PART_BAR, PART_BUILDS, PART_FAILED, PART_BEST, PART_ETA};
	int width = ui_progress_width(ui), total = 0;
	for (size_t i = 0; i < PARTS; i++)
		total += ui_columns(parts[i], strlen(parts[i]));
	for (size_t i = 0; width && total > width && i < sizeof least / sizeof *least; i++) {
		total -= ui_columns(parts[least[i]], strlen(parts[least[i]]));
		*parts[least[i]] = '\0';
	}
	ui_progress(ui, "%s%s%s%s%s%s%s", parts[PART_NAME], parts[PART_BAR], parts[PART_BEST], parts[PART_FAILED],
	            parts[PART_ETA], parts[PART_BUILDS], parts[PART_NOTE]);
}

/* NAN if unknown. */
static double seconds_left(const struct tune_progress *p) {
	if (p->budget > 0)
		return fmax(0, p->budget - p->elapsed);
	if (p->phase == TUNE_SEARCH && p->evaluations && p->limit > p->evaluations)
		return p->elapsed / (double)p->evaluations * (double)(p->limit - p->evaluations);
	return NAN;
}

static void progress_bar(struct ui *ui, const struct tune_progress *p, char *text, size_t size) {
	enum { CELLS = 12 };
	char bar[3 * CELLS + 1];
	double done = p->budget > 0 ? p->elapsed / p->budget : p->limit ? (double)p->evaluations / (double)p->limit : NAN;
	if (!ui_progress_width(ui) || !isfinite(done))
		return;
	ui_bar(done, CELLS, bar, sizeof bar);
	snprintf(text, size, "  [%s%*s]", bar, CELLS - ui_columns(bar, strlen(bar)), "");
}

void results_progress(struct ui *ui, const struct tune_progress *p) {
	char parts[PARTS][128] = {""}, best[32], gain[32] = "";
	if (p->is_metric)
		snprintf(best, sizeof best, "%.6g", p->best);
	else
		ui_seconds(p->best, best, sizeof best);
	if (isfinite(p->gain))
		snprintf(gain, sizeof gain, " (%.2fx)", p->gain);
	snprintf(parts[PART_NAME], sizeof *parts, "%s  %s %llu/%llu", p->kernel, tune_phase_word(p->phase),
	         (unsigned long long)p->evaluations, (unsigned long long)p->limit);
	snprintf(parts[PART_BEST], sizeof *parts, "  best %s%s", best, gain);
	if (isfinite(seconds_left(p)))
		snprintf(parts[PART_ETA], sizeof *parts, "  ETA %.0f s", seconds_left(p));
	if (p->failures)
		snprintf(parts[PART_FAILED], sizeof *parts, "  %llu failed", (unsigned long long)p->failures);
	if (p->building)
		snprintf(parts[PART_BUILDS], sizeof *parts, "  %zu build%s", p->building, p->building == 1 ? "" : "s");
	if (p->note)
		snprintf(parts[PART_NOTE], sizeof *parts, "  %s", p->note);
	progress_bar(ui, p, parts[PART_BAR], sizeof *parts);
	parts_join(ui, parts);
}

static void speedup_text(const json_t *result, char *text, size_t size) {
	const json_t *speedup = json_object_get(result, "speedup"), *ci = json_object_get(speedup, "ci");
	if (!json_is_object(speedup)) {
		snprintf(text, size, "-");
		return;
	}
	snprintf(text, size, "%.2fx [%.2f, %.2f]", js_real_or(speedup, "ratio", NAN),
	         json_number_value(json_array_get(ci, 0)), json_number_value(json_array_get(ci, 1)));
}

/* For a program only its input, because its command line is printed below the table. The caller frees it. */
static char *problem_text(const json_t *result) {
	const json_t *problem = json_object_get(result, "problem");
	if (!json_is_object(json_object_get(result, "program")))
		return results_config(problem, NULL);
	char *text = mem_strdup(js_string_or(problem, "input", ""));
	text_clean(text, false);
	return text;
}

enum { BAR = 12, BAR_COLUMNS = 110 };

double results_speedup(const json_t *result) {
	return js_real_or(json_object_get(result, "speedup"), "ratio", NAN);
}

double results_speedup_most(const json_t *results) {
	double most = 1;
	size_t i;
	json_t *result;
	json_array_foreach((json_t *)results, i, result) most = fmax(most, results_speedup(result));
	return most;
}

/* most: the largest speedup, to which the bar is scaled. */
static void row_add(struct table *table, const json_t *result, double most) {
	const json_t *baseline = json_object_get(result, "baseline"), *best = json_object_get(result, "best");
	const json_t *base_config = json_object_get(baseline, "config");
	char base_time[32], best_time[32], speedup[64];
	char *problem = problem_text(result);
	char *config = best ? results_config(json_object_get(best, "config"), NULL) : mem_strdup("-");
	results_value(js_real_or(baseline, "median", NAN), js_string_or(baseline, "unit", "s"), base_time,
	              sizeof base_time);
	results_value(best ? js_real_or(best, "median", NAN) : NAN, best ? js_string_or(best, "unit", "s") : "s", best_time,
	              sizeof best_time);
	speedup_text(result, speedup, sizeof speedup);
	if (best && json_equal(json_object_get(best, "config"), base_config)) {
		free(config);
		config = mem_strdup("(the baseline)");
	}
	char bar[3 * BAR + 1];
	ui_bar(isfinite(results_speedup(result)) ? results_speedup(result) / most : 0, BAR, bar, sizeof bar);
	const char *texts[] = {js_string_or(result, "kernel", "?"),  problem, base_time, best_time, config, speedup,
	                       js_string_or(result, "verdict", "?"), bar};
	table_row(table, texts);
	free(problem);
	free(config);
}

/* The kernel's name, safe for a terminal; the caller frees it. */
static char *kernel_of(const json_t *result) {
	char *name = mem_strdup(js_string_or(result, "kernel", "?"));
	text_clean(name, false);
	return name;
}

static void stops_print(const json_t *results) {
	size_t i;
	json_t *result;
	json_array_foreach((json_t *)results, i, result) {
		char *kernel = kernel_of(result);
		if (strcmp(js_string_or(result, "stopped", ""), "gain") == 0)
			printf("%s: the search stopped after %lld evaluations because more would gain too little\n", kernel,
			       (long long)js_int_or(result, "evaluations", 0));
		free(kernel);
	}
}

/* The first failure of this kind, whose message usually explains the others, too. */
static void failure_print(const json_t *result, const char *type) {
	size_t i;
	json_t *failed;
	json_array_foreach(json_object_get(result, "failed"), i, failed) {
		if (strcmp(js_string_or(failed, "status", ""), type) != 0)
			continue;
		char *config = results_config(json_object_get(failed, "config"), NULL);
		char *message = mem_strdup(js_string_or(failed, "message", ""));
		char *text = mem_printf("the first: %s%s%s", config, *config && *message ? ": " : "", message);
		ui_wrap(stdout, 2, 4, text);
		free(text);
		free(config);
		free(message);
	}
}

static void failures_print(const json_t *results) {
	size_t i;
	json_t *result;
	json_array_foreach((json_t *)results, i, result) {
		const char *type;
		json_t *count;
		char *kernel = kernel_of(result);
		json_object_foreach(json_object_get(result, "failures"), type, count) {
			if (json_integer_value(count) <= 0 || strcmp(type, "censored") == 0)
				continue;
			printf("%s: %lld trial%s failed (%s)\n", kernel, (long long)json_integer_value(count),
			       json_integer_value(count) == 1 ? "" : "s", type);
			failure_print(result, type);
		}
		free(kernel);
	}
}

static void incomparable_print(const json_t *results) {
	size_t i;
	json_t *result;
	json_array_foreach((json_t *)results, i, result) {
		long long count = (long long)js_int_or(result, "incomparable", 0);
		char *kernel = kernel_of(result);
		if (count > 0)
			printf("%s: %lld of these printed a number of 0 or below, which cannot be compared as a ratio\n", kernel,
			       count);
		free(kernel);
	}
}

/* Details of a kernel are printed only if it is the only one, because the table is what matters for many. */
static void details_print(struct ui *ui, const json_t *results) {
	size_t i;
	json_t *result;
	json_array_foreach((json_t *)results, i, result) {
		bool program = json_is_object(json_object_get(result, "program"));
		results_pareto_print(ui, result, stdout);
		if (!program && json_array_size(results) > 1)
			continue;
		putchar('\n');
		if (program)
			results_program_print(ui, result, stdout);
		else
			results_effects_print(result, stdout);
		results_device_print(ui, json_object_get(json_object_get(result, "best"), "gpu"), stdout);
		results_regions_print(ui, result, stdout);
		results_counters_print(ui, result, stdout);
	}
}

void results_print(struct ui *ui, const json_t *results, double noise_floor, const char *profile, const char *store) {
	static const char *const titles[] = {"kernel",         "problem", "baseline", "best", "best configuration",
	                                     "speedup [95 %]", "verdict", ""};
	bool wide = ui_width(stdout) >= BAR_COLUMNS;
	double most = results_speedup_most(results);
	struct table *table = table_new(sizeof titles / sizeof *titles - !wide, titles);
	size_t i;
	json_t *result;
	table_right(table, 2);
	table_right(table, 3);
	json_array_foreach((json_t *)results, i, result) row_add(table, result, most);
	table_print(table, ui, stdout);
	table_free(table);
	details_print(ui, results);
	failures_print(results);
	incomparable_print(results);
	if (ui_verbose(ui))
		results_seconds_print(results);
	stops_print(results);
	if (isfinite(noise_floor))
		printf("\nnoise floor of this session: %.2f %% (a configuration against itself)\n", 100 * noise_floor);
	if (profile)
		printf("profile: %s\n", profile);
	printf("store:   %s\n", store);
	if (profile && !json_is_object(json_object_get(json_array_get(results, 0), "program")))
		printf("next:    `sweetspot export --format env KERNEL` for a job script, `sweetspot run KERNEL P=V...` to "
		       "look closer\n");
}
