/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters and metrics of winner and baseline, and why some are missing. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "src/show/counters.h"
#include "src/cmd/report/report_impl.h"

enum { NAME_MAX_SHOWN = 160 };

/* The reason why a value is missing, else how it was obtained unless it was simply counted. */
static const char *note_of(const json_t *row) {
	const char *reason = js_string_or(row, "reason", NULL), *status = js_string_or(row, "status", "");
	if (reason && *reason)
		return reason;
	return strcmp(status, "counted") == 0 ? "" : status;
}

static void value_put(struct html_table *table, const json_t *row, const char *unit) {
	char text[96];
	double value = js_real_or(row, "value", NAN);
	counters_value(value, unit, text, sizeof text);
	html_table_number(table, value, "%s", text);
}

static void row_put(struct html_table *table, const json_t *row, const json_t *other) {
	const char *group = js_string_or(row, "group", ""), *unit = js_string_or(row, "unit", "");
	double to = js_real_or(row, "value", NAN), from = js_real_or(other, "value", NAN);
	double ratio = from > 0 ? to / from : NAN;
	html_table_row(table);
	html_table_text(table, "%.*s", NAME_MAX_SHOWN, js_string_or(row, "name", "?"));
	html_table_text(table, "%s", group);
	html_table_text(table, "%s", *unit ? unit : "-");
	value_put(table, other, unit);
	value_put(table, row, unit);
	html_table_number(table, ratio, "%.3gx", ratio);
	html_table_text(table, "%s", *note_of(row) ? note_of(row) : other ? note_of(other) : "");
}

static size_t rows_put(struct html_table *table, const json_t *winner, const json_t *baseline, const char *key) {
	size_t count = 0;
	js_each (row, json_object_get(winner, key)) {
		row_put(table, row, counters_row(json_object_get(baseline, key), row));
		count++;
	}
	return count;
}

static bool has_counts(const json_t *side) {
	return json_array_size(json_object_get(side, "counters")) || json_array_size(json_object_get(side, "metrics"));
}

/* The counters of "best" or "baseline": those of tune, or of its row of the study if tune did not count. Borrowed. */
static const json_t *counted_of(const struct report_section *section, const char *member) {
	const json_t *side = json_object_get(section->tune, member);
	if (has_counts(side) || !section->result)
		return side;
	const json_t *shown = json_object_get(section->result, strcmp(member, "best") == 0 ? "winner" : member);
	size_t row = explain_row_of(&section->view, json_object_get(shown, "config"));
	return row == SIZE_MAX ? side : study_row(section->view.study, row)->counted;
}

/* The counters that vary with the time. */
static void drivers_put(struct report *report, const json_t *drivers) {
	static const char *const titles[] = {"counter", "\1share explained", "\1from", "\1to", "significant", NULL};
	struct html_table table;
	if (json_array_size(json_object_get(drivers, "counters")) == 0)
		return;
	html_table_begin_folded(&table, report->html, "counters that vary with the time",
	                        "Share of the time difference that each counter explains", titles);
	js_each (one, json_object_get(drivers, "counters")) {
		const json_t *ci = json_object_get(one, "share_ci");
		double share = js_real_or(one, "share", NAN);
		double low = report_end(ci, 0), high = report_end(ci, 1);
		html_table_row(&table);
		html_table_text(&table, "%s", js_string_or(one, "counter", "?"));
		html_table_number(&table, share, "%.3g %%", 100 * share);
		html_table_number(&table, low, "%.3g %%", 100 * low);
		html_table_number(&table, high, "%.3g %%", 100 * high);
		html_table_text(&table, "%s", js_bool_or(one, "significant", false) ? "yes" : "no");
	}
	html_table_end(&table);
}

void report_counters(struct report *report, const struct report_section *section) {
	static const char *const titles[] = {"counter",  "group",   "unit",   "\1baseline",
	                                     "\1winner", "\1ratio", "\2note", NULL};
	const json_t *winner = counted_of(section, "best"), *baseline = counted_of(section, "baseline");
	const json_t *counting = json_object_get(section->tune, "counting");
	struct html_table table;
	report_heading(report, "Counters");
	if (!has_counts(winner)) {
		report_absent(
			report,
			report_is_program(section)
				? "No counters were recorded for the winner. This command records them if its budget is long enough:"
				: "No counters were recorded for the winner. This command records those that this machine supports "
				  "(`sweetspot doctor` lists them):",
			report_advice(report, section, "tune", "--counters SOFTWARE"));
		return;
	}
	if (counting && !js_bool_or(counting, "hardware", true))
		report_absent(
			report,
			"Hardware counters are not available here. This command gives the reason, and explains how to enable them:",
			"sweetspot doctor");
	html_table_begin(&table, report->html, "Baseline and winner, counted in separate runs", titles);
	rows_put(&table, winner, baseline, "metrics");
	rows_put(&table, winner, baseline, "counters");
	html_table_end(&table);
	drivers_put(report, json_object_get(section->result, "drivers"));
}
