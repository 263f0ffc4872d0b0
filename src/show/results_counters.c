/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the counters of the baseline with those of the best, and prints the cost of counting. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/show/counters.h"
#include "src/show/results.h"

enum { ROWS_MAX = 6, CELL = 80 };
/* Smaller differences are not shown. */
static const double FACTOR_MIN = 1.05;
/* Rank of a value that is 0 on one side only, whose factor would be infinite. */
static const double FACTOR_OF_NOTHING = 20;

struct pair {
	const json_t *from, *to; /* rows of the same name */
	double score;            /* larger: differs more; metrics come before counters */
};

static const json_t *row_find(const json_t *rows, const json_t *wanted) {
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)rows, i,
	                   row) if (strcmp(js_string_or(row, "name", ""), js_string_or(wanted, "name", "")) == 0 &&
	                            strcmp(js_string_or(row, "group", ""), js_string_or(wanted, "group", "")) ==
	                                0) return row;
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
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)to, i, row) {
		const json_t *other = row_find(from, row);
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
	static const char *const titles[] = {"counters", "baseline", "best", "ratio"};
	struct table *table = table_new(4, titles);
	for (size_t c = 1; c < 4; c++)
		table_right(table, c);
	for (size_t i = 0; i < count && i < ROWS_MAX; i++)
		pair_row(table, &pairs[i]);
	table_print(table, ui, out);
	table_free(table);
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
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)counters, i, row) {
		if (isfinite(value_of(row)))
			continue;
		char *longer = mem_printf("%s%s%s", text, *text ? ", " : "not counted: ", js_string_or(row, "name", "?"));
		free(text);
		text = longer;
	}
	if (*text)
		ui_wrap(out, 0, 2, text);
	free(text);
}

static void failures_print(const json_t *failures, FILE *out) {
	size_t count = json_array_size(failures);
	char text[400];
	if (count == 0)
		return;
	snprintf(text, sizeof text, "%zu configuration%s not counted: %.300s", count, count == 1 ? "" : "s",
	         js_string_or(json_array_get(failures, 0), "reason", "?"));
	ui_wrap(out, 0, 2, text);
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
