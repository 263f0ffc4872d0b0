/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "src/show/counters.h"
#include "src/show/results.h"

/* Prints the reasons for missing counters. Counters that are missing for the same reason share one paragraph. */
enum { NAMES_SHOWN = 60 };

static bool is_missing(const struct counted *row) {
	return strcmp(row->status, "unavailable") == 0;
}

/* Tells whether two rows share a paragraph: both are missing from the same group, or they have the same reason. */
static bool alike(const struct counted *a, const struct counted *b) {
	return strcmp(a->status, b->status) == 0 && strcmp(a->group, b->group) == 0 &&
	       ((is_missing(a) && *a->group) || strcmp(a->reason, b->reason) == 0);
}

/* The names of all rows that share the paragraph of `first`. The caller frees it. */
static char *names_of(const struct counts *counters, const struct counted *first) {
	char *text = mem_strdup("");
	for (size_t i = 0; i < counters->count; i++)
		if (alike(&counters->rows[i], first))
			mem_append(&text, "%s%s", *text ? ", " : "", counters->rows[i].name);
	return text;
}

static bool printed_before(const struct counts *counters, size_t at) {
	for (size_t i = 0; i < at; i++)
		if (alike(&counters->rows[i], &counters->rows[at]))
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
	if (!js_has(causes, cause))
		json_array_append_new(causes, json_string(cause));
}

/* The causes of a paragraph, each once; new reference. */
static json_t *causes_of(const struct counts *counters, const struct counted *first, const json_t *sources) {
	json_t *causes = json_array();
	for (size_t i = 0; i < counters->count; i++) {
		const char *part = alike(&counters->rows[i], first) ? counters->rows[i].reason : "";
		while (*part) {
			const char *end = part_end(part, sources);
			mem_auto char *cause = cause_of(part, (size_t)(end - part), sources);
			cause_add(causes, cause);
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
		if (*name && strlen(name) == length && strncmp(cause, name, length) == 0 && !strstr(cause, fix) &&
		    !strstr(cause, "; sudo "))
			ui_fix(out, 4, fix);
	}
}

static void missing_paragraph(const struct counts *counters, const struct counted *row, const char *names,
                              const json_t *sources, FILE *out) {
	const char *group = row->group;
	js_auto json_t *causes = causes_of(counters, row, sources);
	bool one = json_array_size(causes) == 1 && !begins_source(json_string_value(json_array_get(causes, 0)), sources);
	bool software = strcmp(group, "SDE") == 0;
	mem_auto char *head = *group ? mem_printf("%s: %s: %s", group,
	                                          software ? "not counted" : "not available on this CPU or machine", names)
	                             : mem_printf("not counted: %s", names);
	mem_auto char *whole =
		one ? mem_printf("%s: %s", head, json_string_value(json_array_get(causes, 0))) : mem_strdup(head);
	ui_wrap(out, 0, 2, "%s", whole);
	js_each (cause, causes)
		if (!one)
			cause_print(json_string_value(cause), sources, out);
}

static void paragraph(const struct counts *counters, const struct counted *row, const json_t *sources, FILE *out) {
	mem_auto char *names = names_of(counters, row);
	if (is_missing(row)) {
		missing_paragraph(counters, row, names, sources, out);
	} else {
		const char *status = *row->status ? row->status : "?";
		bool many = strlen(names) > NAMES_SHOWN; /* the table has them */
		bool said = strncmp(row->reason, status, strlen(status)) == 0;
		ui_wrap(out, 0, 2, "%s%s%s%s%s", said ? "" : status, said ? "" : ": ", many ? "" : names, many ? "" : ": ",
		        row->reason);
	}
}

void counters_reasons_print(const struct counts *counters, const json_t *sources, FILE *out) {
	bool missing = false;
	for (size_t i = 0; i < counters->count; i++) {
		const struct counted *row = &counters->rows[i];
		if (!*row->reason || printed_before(counters, i))
			continue;
		paragraph(counters, row, sources, out);
		missing = missing || is_missing(row);
	}
	if (missing)
		fputs("run `sweetspot doctor` to see what can be counted here and how to enable the rest\n", out);
}

enum { CELL = 80 };

/* The column is omitted if it would be empty, as with one thread. */
static bool any_imbalance(const struct counts *counters) {
	for (size_t i = 0; i < counters->count; i++)
		if (!isnan(counters->rows[i].imbalance))
			return true;
	return false;
}

static void table_of_counters(struct ui *ui, const struct counts *counters, FILE *out) {
	static const char *const titles[] = {"counter", "\1value", "status", "source", "imbalance"};
	struct table *table = table_new(any_imbalance(counters) ? 5 : 4, titles);
	for (size_t i = 0; i < counters->count; i++) {
		const struct counted *row = &counters->rows[i];
		char imbalance[CELL];
		struct shown value = counters_value(row->value, row->unit);
		snprintf(imbalance, sizeof imbalance, isfinite(row->imbalance) ? "%.2fx" : "-", row->imbalance);
		const char *const cells[] = {row->name, value.text, *row->status ? row->status : "?", row->source, imbalance};
		table_row(table, cells);
	}
	table_end(table, ui, out);
}

/* "parent.part" stands below its parent. */
static void metric_name(const struct counted *row, char text[CELL]) {
	const char *part = strchr(row->name, '.');
	snprintf(text, CELL, "%s%.60s", part ? "  " : "", part ? part + 1 : row->name);
}

static void table_of_metrics(struct ui *ui, const struct counts *metrics, FILE *out) {
	struct table *table = table_titled("group", "metric", "\1value", "formula", NULL);
	for (size_t i = 0; i < metrics->count; i++) {
		const struct counted *row = &metrics->rows[i];
		char name[CELL];
		metric_name(row, name);
		table_add(table, *row->group ? row->group : "-", name, counters_value(row->value, row->unit).text,
		          row->formula);
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
	if (!(runs > 0))
		return;
	if (runs == 1)
		fprintf(out, "counted in a separate run");
	else
		fprintf(out, "counted in %.0f separate runs", runs);
	counters_overhead_print(counting, out);
	if (start_stop > 0)
		fprintf(out, "; start and stop take %s per thread", ui_seconds(start_stop).text);
	fputc('\n', out);
}

static void counters_simulation_print(const json_t *simulation, FILE *out) {
	double slowdown = js_real_or(simulation, "slowdown", NAN);
	const char *tool = js_string_or(simulation, "tool", ""), *model = js_string_or(simulation, "model", "");
	char text[400];
	if (!json_is_object(simulation))
		return;
	int used = isfinite(slowdown) ? snprintf(text, sizeof text, "simulated: %.3g times slower than a real run (%s)",
	                                         slowdown, ui_seconds(js_real_or(simulation, "seconds", NAN)).text)
	                              : snprintf(text, sizeof text, "simulated");
	if (*tool || *model)
		snprintf(text + used, sizeof text - (size_t)used, ", by %.80s%s%.200s", *tool ? tool : "a model",
		         *model ? ": " : "", model);
	ui_wrap(out, 0, 2, "%s", text);
}

void counters_print(struct ui *ui, const json_t *document, const json_t *sources, FILE *out) {
	struct counts counters = counts_read(document, "counters"), metrics = counts_read(document, "metrics");
	if (counters.count) {
		fputc('\n', out);
		table_of_counters(ui, &counters, out);
		if (metrics.count) {
			fputc('\n', out);
			table_of_metrics(ui, &metrics, out);
		}
		fputc('\n', out);
		counters_cost_print(json_object_get(document, "counting"), out);
		counters_simulation_print(json_object_get(document, "simulation"), out);
		counters_reasons_print(&counters, sources, out);
	}
	free(counters.rows);
	free(metrics.rows);
}

/* Compares the counters of the baseline with those of the best, and prints the cost of counting. */
enum { ROWS_MAX = 6 };
/* Smaller differences are not shown. */
static const double FACTOR_MIN = 1.05;
/* Rank of a value that is 0 on one side only, whose factor would be infinite. */
static const double FACTOR_OF_NOTHING = 20;

struct pair {
	const struct counted *to;
	double from, score; /* from: of the same name; score: larger if it differs more, and metrics come before counters */
};

const json_t *counters_row(const json_t *rows, const json_t *wanted) {
	js_each (row, rows)
		if (strcmp(js_string_or(row, "name", ""), js_string_or(wanted, "name", "")) == 0 &&
		    strcmp(js_string_or(row, "group", ""), js_string_or(wanted, "group", "")) == 0)
			return row;
	return NULL;
}

/* group: NULL is any */
static double value_before(const struct counts *from, const char *name, const char *group) {
	for (size_t i = 0; i < from->count; i++)
		if (strcmp(from->rows[i].name, name) == 0 && (!group || strcmp(from->rows[i].group, group) == 0))
			return from->rows[i].value;
	return NAN;
}

/* The factor between both, at least 1; NAN unless both are known. Counts of two runs differ by chance, by up to two
 * deviations of a Poisson distribution. */
static double factor_of(double a, double b, bool count) {
	if (count && fabs(a - b) <= 2 * sqrt(a + b))
		return 1;
	if (count && a >= 0 && b >= 0) {
		a += 3;
		b += 3;
	}
	if (a > 0 && b > 0)
		return a > b ? a / b : b / a;
	return a == b ? 1 : isfinite(a) && isfinite(b) ? FACTOR_OF_NOTHING : NAN;
}

/* Is a metric a count by the second, "page_faults / seconds", of which only the time differs, or is it there already?
 */
static bool tells_nothing(const struct counted *metric, const struct counts *from, const struct counts *to,
                          const struct pair *pairs, size_t count) {
	const char *by = strstr(metric->formula, " / seconds");
	mem_auto char *name = mem_printf("%.*s", by ? (int)(by - metric->formula) : 0, metric->formula);
	bool rate = by && strcmp(by, " / seconds") == 0 && strcmp(metric->unit, "1/s") == 0;
	double factor = rate ? factor_of(value_before(from, name, NULL), value_before(to, name, NULL), true) : NAN;
	for (size_t i = 0; i < count; i++)
		if (*metric->formula && strcmp(pairs[i].to->formula, metric->formula) == 0)
			return true;
	return factor < FACTOR_MIN;
}

static void pairs_add(struct pair **pairs, size_t *count, const struct counts from[2], const struct counts to[2],
                      bool metrics) {
	const struct counts *rows = &to[!metrics];
	for (size_t i = 0; i < rows->count; i++) {
		const struct counted *row = &rows->rows[i];
		bool counts = !metrics && (strcmp(row->unit, "count") == 0 || !*row->unit);
		double before = value_before(&from[!metrics], row->name, row->group);
		double factor = factor_of(before, row->value, counts);
		if (!(factor >= FACTOR_MIN) || (metrics && tells_nothing(row, &from[1], &to[1], *pairs, *count)))
			continue;
		*pairs = mem_grow(*pairs, *count + 1, sizeof **pairs);
		(*pairs)[(*count)++] = (struct pair){row, before, factor + (metrics ? 1e9 : 0)};
	}
}

static int by_score(const void *a, const void *b) {
	double x = ((const struct pair *)a)->score, y = ((const struct pair *)b)->score;
	return (x < y) - (x > y);
}

static void pair_row(struct table *table, const struct pair *pair) {
	const char *group = pair->to->group, *unit = pair->to->unit;
	double a = pair->from, b = pair->to->value;
	char name[CELL], ratio[CELL] = "-";
	snprintf(name, sizeof name, "%.50s%s%.20s%s", pair->to->name, *group ? " [" : "", group, *group ? "]" : "");
	if (a > 0 && b > 0)
		snprintf(ratio, sizeof ratio, b / a < 0.1 ? "%.2gx" : "%.2fx", b / a);
	table_add(table, name, counters_value(a, unit).text, counters_value(b, unit).text, ratio);
}

static void table_print_pairs(struct ui *ui, const struct pair *pairs, size_t count, FILE *out) {
	struct table *table = table_titled("counters", "\1baseline", "\1best", "\1ratio", NULL);
	for (size_t i = 0; i < count && i < ROWS_MAX; i++)
		pair_row(table, &pairs[i]);
	table_end(table, ui, out);
}

static void differences_print(struct ui *ui, const json_t *baseline, const json_t *best, bool asked, FILE *out) {
	static const char *const lists[] = {"metrics", "counters"};
	struct counts from[2], to[2];
	mem_auto struct pair *pairs = NULL;
	size_t count = 0;
	for (int i = 0; i < 2; i++) {
		from[i] = counts_read(baseline, lists[i]);
		to[i] = counts_read(best, lists[i]);
	}
	pairs_add(&pairs, &count, from, to, true);
	pairs_add(&pairs, &count, from, to, false);
	if (count) {
		qsort(pairs, count, sizeof *pairs, by_score);
		table_print_pairs(ui, pairs, count, out);
	} else if (asked && to[1].count) {
		fputs("counters: none differs by 5 % or more\n", out);
	}
	for (int i = 0; i < 2; i++) {
		free(from[i].rows);
		free(to[i].rows);
	}
}

/* Lists the missing counters; their reasons are printed by `sweetspot run`. */
static void missing_print(const json_t *best, FILE *out) {
	struct counts counters = counts_read(best, "counters");
	mem_auto char *text = mem_strdup("");
	for (size_t i = 0; i < counters.count; i++)
		if (!isfinite(counters.rows[i].value))
			mem_append(&text, "%s%s", *text ? ", " : "not counted: ", counters.rows[i].name);
	if (*text)
		ui_wrap(out, 0, 2, "%s", text);
	free(counters.rows);
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
	if (configurations == 0)
		return;
	fprintf(out, "counters: %lld configuration%s in %s, in separate runs", (long long)configurations,
	        configurations == 1 ? "" : "s", ui_seconds(js_real_or(counting, "seconds", NAN)).text);
	counters_overhead_print(counting, out);
	if (start_stop > 0)
		fprintf(out, "; start and stop take %s per thread", ui_seconds(start_stop).text);
	fputc('\n', out);
}

/* Those who did not ask for counters are shown what differs, and not what it cost or what is missing. */
void results_counters_print(struct ui *ui, const struct result *result, FILE *out) {
	const json_t *counting = js_at(result->json, "counting"), *best = result->best.json;
	bool asked = !js_bool_or(counting, "default", false);
	if (!json_is_object(counting) || (!asked && !best))
		return;
	fputc('\n', out);
	if (!result->keeps)
		differences_print(ui, result->baseline.json, best, asked, out);
	if (asked)
		missing_print(best, out);
	if (!js_bool_or(counting, "hardware", true))
		fputs("hardware counters: not available here, see `sweetspot doctor`\n", out);
	if (!asked)
		return;
	counters_simulation_print(json_object_get(best, "simulation"), out);
	failures_print(json_object_get(counting, "failures"), out);
	cost_print(counting, out);
}
