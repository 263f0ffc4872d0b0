/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/show/counters.h"
#include "src/show/results.h"

/* Prints the reasons for missing counters. Counters that are missing for the same reason share one paragraph. */
enum { NAMES_SHOWN = 60 };

static bool same_member(const json_t *a, const json_t *b, const char *key) {
	return strcmp(js_string_or(a, key, ""), js_string_or(b, key, "")) == 0;
}

static bool is_missing(const json_t *row) {
	return strcmp(js_string_or(row, "status", ""), "unavailable") == 0;
}

/* Tells whether two rows share a paragraph: both are missing from the same group, or they have the same reason. */
static bool alike(const json_t *a, const json_t *b) {
	bool group = is_missing(a) && *js_string_or(a, "group", "");
	return same_member(a, b, "status") && same_member(a, b, "group") && (group || same_member(a, b, "reason"));
}

/* The names of all rows that share the paragraph of `first`. The caller frees it. */
static char *names_of(const json_t *counters, const json_t *first) {
	char *text = mem_strdup("");
	js_each (row, counters) {
		if (!alike(row, first))
			continue;
		mem_append(&text, "%s%s", *text ? ", " : "", js_string_or(row, "name", "?"));
	}
	return text;
}

static bool printed_before(const json_t *counters, size_t at) {
	for (size_t i = 0; i < at; i++)
		if (alike(json_array_get(counters, i), json_array_get(counters, at)))
			return true;
	return false;
}

/* Tells whether `text` begins with a source: "papi:PAPI_L3_TCM, papi:x: why", or the name of a source and a colon. */
static bool begins_source(const char *text, const json_t *sources) {
	size_t length = strcspn(text, ": ");
	if (length && text[length] == ':' && text[length + 1] > ' ')
		return true;
	js_each (source, sources) {
		const char *name = js_string_or(source, "name", "");
		if (text[length] == ':' && strlen(name) == length && strncmp(text, name, length) == 0)
			return true;
	}
	return false;
}

/* The end of the part of a reason that begins at `text`; a reason has one part for each source. */
static const char *part_end(const char *text, const json_t *sources) {
	const char *end = text;
	while ((end = strstr(end, "; ")) && !begins_source(end + 2, sources))
		end += 2;
	return end ? end : text + strlen(text);
}

/* Shortens "papi:A, papi:B: why" to "papi: why"; the caller frees it. */
static char *cause_of(const char *part, size_t size, const json_t *sources) {
	const char *why = memmem(part, size, ": ", 2);
	if (!why || !begins_source(part, sources))
		return mem_printf("%.*s", (int)size, part);
	why += 2;
	return mem_printf("%.*s: %.*s", (int)strcspn(part, ":"), part, (int)(size - (size_t)(why - part)), why);
}

static void cause_add(json_t *causes, const char *cause) {
	js_each (known, causes)
		if (strcmp(json_string_value(known), cause) == 0)
			return;
	json_array_append_new(causes, json_string(cause));
}

/* The causes of a paragraph, each once; new reference. */
static json_t *causes_of(const json_t *counters, const json_t *first, const json_t *sources) {
	json_t *causes = json_array();
	js_each (row, counters) {
		const char *part = alike(row, first) ? js_string_or(row, "reason", "") : "";
		while (*part) {
			const char *end = part_end(part, sources);
			char *cause = cause_of(part, (size_t)(end - part), sources);
			cause_add(causes, cause);
			free(cause);
			part = *end ? end + 2 : end;
		}
	}
	return causes;
}

/* Prints a cause and the remedy of its source, unless the cause already contains the remedy. */
static void cause_print(const char *cause, const json_t *sources, FILE *out) {
	size_t length = strcspn(cause, ":");
	ui_wrap(out, 2, 4, "%s", cause);
	js_each (source, sources) {
		const char *name = js_string_or(source, "name", ""), *fix = js_string_or(source, "fix", "");
		if (*name && strlen(name) == length && strncmp(cause, name, length) == 0 && !strstr(cause, fix))
			ui_fix(out, 4, fix);
	}
}

static void counters_reason_missing_print(const json_t *counters, const json_t *row, const char *names,
                                          const json_t *sources, FILE *out) {
	const char *group = js_string_or(row, "group", "");
	json_t *causes = causes_of(counters, row, sources);
	bool one = json_array_size(causes) == 1 && !begins_source(json_string_value(json_array_get(causes, 0)), sources);
	bool software = strcmp(group, "SDE") == 0;
	char *head = *group ? mem_printf("%s: %s: %s", group,
	                                 software ? "not counted" : "not available on this CPU or machine", names)
	                    : mem_printf("not counted: %s", names);
	char *whole = one ? mem_printf("%s: %s", head, json_string_value(json_array_get(causes, 0))) : mem_strdup(head);
	ui_wrap(out, 0, 2, "%s", whole);
	js_each (cause, causes)
		if (!one)
			cause_print(json_string_value(cause), sources, out);
	free(head);
	free(whole);
	json_decref(causes);
}

static void paragraph(const json_t *counters, const json_t *row, const json_t *sources, FILE *out) {
	char *names = names_of(counters, row);
	if (is_missing(row)) {
		counters_reason_missing_print(counters, row, names, sources, out);
	} else {
		const char *status = js_string_or(row, "status", "?"), *reason = js_string_or(row, "reason", "");
		bool many = strlen(names) > NAMES_SHOWN; /* the table has them */
		bool said = strncmp(reason, status, strlen(status)) == 0;
		ui_wrap(out, 0, 2, "%s%s%s%s%s", said ? "" : status, said ? "" : ": ", many ? "" : names, many ? "" : ": ",
		        reason);
	}
	free(names);
}

void counters_reasons_print(const json_t *counters, const json_t *sources, FILE *out) {
	bool missing = false;
	js_each (row, counters) {
		if (!*js_string_or(row, "reason", "") || printed_before(counters, row_at))
			continue;
		paragraph(counters, row, sources, out);
		missing = missing || is_missing(row);
	}
	if (missing)
		fputs("run `sweetspot doctor` to see what can be counted here and how to enable the rest\n", out);
}

enum { CELL = 80 };

static void value_cell(const json_t *row, char *text) {
	counters_value(js_real_or(row, "value", NAN), js_string_or(row, "unit", ""), text, CELL);
}

static void imbalance_cell(const json_t *row, char *text) {
	double imbalance = js_real_or(row, "imbalance", NAN);
	snprintf(text, CELL, isfinite(imbalance) ? "%.2fx" : "-", imbalance);
}

/* The column is omitted if it would be empty, as with one thread. */
static bool any_imbalance(const json_t *counters) {
	js_each (row, counters)
		if (json_is_number(json_object_get(row, "imbalance")))
			return true;
	return false;
}

static void table_of_counters(struct ui *ui, const json_t *counters, FILE *out) {
	static const char *const titles[] = {"counter", "\1value", "status", "source", "imbalance"};
	struct table *table = table_new(any_imbalance(counters) ? 5 : 4, titles);
	js_each (row, counters) {
		char value[CELL], imbalance[CELL];
		value_cell(row, value);
		imbalance_cell(row, imbalance);
		const char *const cells[] = {js_string_or(row, "name", "?"), value, js_string_or(row, "status", "?"),
		                             js_string_or(row, "source", "-"), imbalance};
		table_row(table, cells);
	}
	table_end(table, ui, out);
}

static void table_of_metrics(struct ui *ui, const json_t *metrics, FILE *out) {
	static const char *const titles[] = {"group", "metric", "\1value", "formula"};
	struct table *table = table_new(4, titles);
	js_each (row, metrics) {
		char value[CELL];
		value_cell(row, value);
		table_add(table, js_string_or(row, "group", "-"), js_string_or(row, "name", "?"), value,
		          js_string_or(row, "formula", ""));
	}
	table_end(table, ui, out);
}

/* ", 1.2 % slower than the timed runs", by the member "overhead"; nothing if it is not known. */
static void counters_overhead_print(const json_t *counting, FILE *out) {
	double overhead = js_real_or(counting, "overhead", NAN), percent = 100 * overhead;
	if (overhead >= 1)
		fprintf(out, ", which took %.*f times as long as the timed runs", overhead < 9, 1 + overhead);
	else if (percent >= 0.1)
		fprintf(out, ", %.1f %% slower than the timed runs", percent);
	else if (isfinite(percent))
		fprintf(out, ", no slower than the timed runs");
}

/* "counted in 4 separate runs, 1.2 % slower than the timed runs; start and stop take 2.1 us per thread" */
static void counters_cost_print(const json_t *counting, FILE *out) {
	double runs = js_real_or(counting, "runs", 0), start_stop = js_real_or(counting, "start_stop_s", NAN);
	char each[32];
	if (!(runs > 0))
		return;
	if (runs == 1)
		fprintf(out, "counted in a separate run");
	else
		fprintf(out, "counted in %.0f separate runs", runs);
	counters_overhead_print(counting, out);
	ui_seconds(start_stop, each, sizeof each);
	if (start_stop > 0)
		fprintf(out, "; start and stop take %s per thread", each);
	fputc('\n', out);
}

static void counters_simulation_print(const json_t *simulation, FILE *out) {
	double slowdown = js_real_or(simulation, "slowdown", NAN);
	const char *tool = js_string_or(simulation, "tool", ""), *model = js_string_or(simulation, "model", "");
	char text[400], took[32];
	if (!json_is_object(simulation))
		return;
	ui_seconds(js_real_or(simulation, "seconds", NAN), took, sizeof took);
	int used = isfinite(slowdown)
	               ? snprintf(text, sizeof text, "simulated: %.3g times slower than a real run (%s)", slowdown, took)
	               : snprintf(text, sizeof text, "simulated");
	if (*tool || *model)
		snprintf(text + used, sizeof text - (size_t)used, ", by %.80s%s%.200s", *tool ? tool : "a model",
		         *model ? ": " : "", model);
	ui_wrap(out, 0, 2, "%s", text);
}

void counters_print(struct ui *ui, const json_t *document, const json_t *sources, FILE *out) {
	const json_t *counters = json_object_get(document, "counters"), *metrics = json_object_get(document, "metrics");
	if (json_array_size(counters) == 0)
		return;
	fputc('\n', out);
	table_of_counters(ui, counters, out);
	if (json_array_size(metrics)) {
		fputc('\n', out);
		table_of_metrics(ui, metrics, out);
	}
	fputc('\n', out);
	counters_cost_print(json_object_get(document, "counting"), out);
	counters_simulation_print(json_object_get(document, "simulation"), out);
	counters_reasons_print(counters, sources, out);
}

/* Compares the counters of the baseline with those of the best, and prints the cost of counting. */
enum { ROWS_MAX = 6 };
/* Smaller differences are not shown. */
static const double FACTOR_MIN = 1.05;
/* Rank of a value that is 0 on one side only, whose factor would be infinite. */
static const double FACTOR_OF_NOTHING = 20;

struct pair {
	const json_t *from, *to; /* rows of the same name */
	double score;            /* larger: differs more; metrics come before counters */
};

const json_t *counters_row(const json_t *rows, const json_t *wanted) {
	js_each (row, rows)
		if (strcmp(js_string_or(row, "name", ""), js_string_or(wanted, "name", "")) == 0 &&
		    strcmp(js_string_or(row, "group", ""), js_string_or(wanted, "group", "")) == 0)
			return row;
	return NULL;
}

static double value_of(const json_t *row) {
	return js_real_or(row, "value", NAN);
}

/* The factor between both, at least 1; NAN unless both are known. Counts are raised by 3, because a difference of one
 * or two events is chance. */
static double factor_of(double a, double b, bool count) {
	if (count && a >= 0 && b >= 0) {
		a += 3;
		b += 3;
	}
	if (a > 0 && b > 0)
		return a > b ? a / b : b / a;
	return a == b ? 1 : isfinite(a) && isfinite(b) ? FACTOR_OF_NOTHING : NAN;
}

static bool is_count(const json_t *row) {
	const char *unit = js_string_or(row, "unit", "");
	return strcmp(unit, "count") == 0 || !*unit;
}

static void pairs_add(struct pair **pairs, size_t *count, const json_t *from, const json_t *to, bool metrics) {
	js_each (row, to) {
		const json_t *other = counters_row(from, row);
		double factor = factor_of(value_of(other), value_of(row), !metrics && is_count(row));
		if (!(factor >= FACTOR_MIN))
			continue;
		*pairs = mem_grow(*pairs, *count + 1, sizeof **pairs);
		(*pairs)[(*count)++] = (struct pair){other, row, factor + (metrics ? 1e9 : 0)};
	}
}

static int by_score(const void *a, const void *b) {
	double x = ((const struct pair *)a)->score, y = ((const struct pair *)b)->score;
	return (x < y) - (x > y);
}

static void pair_row(struct table *table, const struct pair *pair) {
	const char *group = js_string_or(pair->to, "group", ""), *unit = js_string_or(pair->to, "unit", "");
	double a = value_of(pair->from), b = value_of(pair->to);
	char name[CELL], from[CELL], to[CELL], ratio[CELL] = "-";
	snprintf(name, sizeof name, "%.50s%s%.20s%s", js_string_or(pair->to, "name", "?"), *group ? " [" : "", group,
	         *group ? "]" : "");
	counters_value(a, unit, from, sizeof from);
	counters_value(b, unit, to, sizeof to);
	if (a > 0 && b > 0)
		snprintf(ratio, sizeof ratio, b / a < 0.1 ? "%.2gx" : "%.2fx", b / a);
	table_add(table, name, from, to, ratio);
}

static void table_print_pairs(struct ui *ui, const struct pair *pairs, size_t count, FILE *out) {
	static const char *const titles[] = {"counters", "\1baseline", "\1best", "\1ratio"};
	struct table *table = table_new(4, titles);
	for (size_t i = 0; i < count && i < ROWS_MAX; i++)
		pair_row(table, &pairs[i]);
	table_end(table, ui, out);
}

static void differences_print(struct ui *ui, const json_t *baseline, const json_t *best, bool asked, FILE *out) {
	struct pair *pairs = NULL;
	size_t count = 0;
	pairs_add(&pairs, &count, json_object_get(baseline, "metrics"), json_object_get(best, "metrics"), true);
	pairs_add(&pairs, &count, json_object_get(baseline, "counters"), json_object_get(best, "counters"), false);
	if (count) {
		qsort(pairs, count, sizeof *pairs, by_score);
		table_print_pairs(ui, pairs, count, out);
	} else if (asked && json_array_size(json_object_get(best, "counters"))) {
		fputs("counters: none differs by 5 % or more\n", out);
	}
	free(pairs);
}

/* Lists the missing counters; their reasons are printed by `sweetspot run`. */
static void missing_print(const json_t *counters, FILE *out) {
	char *text = mem_strdup("");
	js_each (row, counters) {
		if (isfinite(value_of(row)))
			continue;
		mem_append(&text, "%s%s", *text ? ", " : "not counted: ", js_string_or(row, "name", "?"));
	}
	if (*text)
		ui_wrap(out, 0, 2, "%s", text);
	free(text);
}

static void failures_print(const json_t *failures, FILE *out) {
	size_t count = json_array_size(failures);
	char text[400];
	if (count == 0)
		return;
	snprintf(text, sizeof text, "%zu configuration%s not counted: %.300s", count, count == 1 ? "" : "s",
	         js_string_or(json_array_get(failures, 0), "reason", "?"));
	ui_wrap(out, 0, 2, "%s", text);
}

static void cost_print(const json_t *counting, FILE *out) {
	double start_stop = js_real_or(counting, "start_stop_s", NAN);
	int64_t configurations = js_int_or(counting, "configurations", 0);
	char took[32], each[32];
	if (configurations == 0)
		return;
	ui_seconds(js_real_or(counting, "seconds", NAN), took, sizeof took);
	ui_seconds(start_stop, each, sizeof each);
	fprintf(out, "counters: %lld configuration%s in %s, in separate runs", (long long)configurations,
	        configurations == 1 ? "" : "s", took);
	counters_overhead_print(counting, out);
	if (start_stop > 0)
		fprintf(out, "; start and stop take %s per thread", each);
	fputc('\n', out);
}

/* Those who did not ask for counters are shown what differs, and not what it cost or what is missing. */
void results_counters_print(struct ui *ui, const json_t *result, FILE *out) {
	const json_t *counting = json_object_get(result, "counting"), *best = json_object_get(result, "best");
	const json_t *baseline = json_object_get(result, "baseline");
	bool asked = !js_bool_or(counting, "default", false);
	if (!json_is_object(counting) || (!asked && !json_is_object(best)))
		return;
	fputc('\n', out);
	if (!json_equal(json_object_get(best, "config"), json_object_get(baseline, "config")))
		differences_print(ui, baseline, best, asked, out);
	if (asked)
		missing_print(json_object_get(best, "counters"), out);
	if (!js_bool_or(counting, "hardware", true))
		fputs("hardware counters: not available here, see `sweetspot doctor`\n", out);
	if (!asked)
		return;
	counters_simulation_print(json_object_get(best, "simulation"), out);
	failures_print(json_object_get(counting, "failures"), out);
	cost_print(counting, out);
}
