/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/list/list_impl.h"

#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

static const json_t *described(struct app *app, const char *what, struct err *err) {
	return json_object_get(app_counters(app, err), what);
}

json_t *list_counters(struct app *app, struct err *err) {
	if (!app_counters(app, err))
		return NULL;
	const json_t *sources = described(app, "counters", err);
	return json_is_array(sources) ? json_incref((json_t *)sources) : json_array();
}

static void groups_add(json_t *rows, const json_t *groups) {
	js_each (group, groups) {
		if (!*list_text(group, "name"))
			continue;
		json_t *row = json_copy(group);
		json_object_set_new(row, "summary",
		                    json_string(*list_text(group, "summary") ? list_text(group, "summary") : "a group"));
		json_object_set_new(row, "kind", json_string("group"));
		json_array_append_new(rows, row);
	}
}

static json_t *event_add(json_t *rows, const char *name, const char *unit, const char *summary) {
	json_t *row =
		json_pack("{s:s,s:s,s:s,s:s,s:[]}", "name", name, "summary", summary, "kind", "event", "unit", unit, "sources");
	json_array_append_new(rows, row);
	return row;
}

/* Adds events that have one name, whichever source counts them. */
static void portable_add(json_t *rows, const json_t *events) {
	js_each (event, events) {
		const char *name = list_text(event, "name"), *summary = list_text(event, "summary");
		const char *formula = list_text(event, "formula");
		mem_auto char *told =
			mem_printf("%s%s%s", *summary ? summary : "a portable event", *formula ? ": " : "", formula);
		if (*name && !js_named(rows, name)) {
			json_t *row = event_add(rows, name, list_text(event, "unit"), told);
			json_object_set(row, "known_as", json_object_get(event, "known_as"));
		}
	}
}

/* Adds the events that a source counts if it is asked for by name. */
static void source_add(json_t *rows, const json_t *source) {
	const char *name = list_text(source, "name");
	js_each (event, json_object_get(source, "events")) {
		const char *word = json_string_value(event);
		json_t *row = word ? js_named(rows, word) : NULL;
		mem_auto char *summary = mem_printf("counted by %s", name);
		if (word && !row)
			row = event_add(rows, word, "", summary);
		if (row && json_object_get(row, "sources"))
			json_array_append_new(json_object_get(row, "sources"), json_string(name));
	}
}

/* Adds perf's words for what each processor counts in its own way, which no portable event lists. */
static void perf_words_add(json_t *rows) {
	static const char *const words[][2] = {
		{"cache-references", "counted by perf, as in `perf stat`: mostly requests to the last level of cache"},
		{"cache-misses",
	     "counted by perf, as in `perf stat`: mostly requests that the last level of cache did not have (llc_misses)"},
		{"bus-cycles", "counted by perf, as in `perf stat`: clock cycles of the bus"},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!js_named(rows, words[i][0]))
			json_array_append_new(json_object_get(event_add(rows, words[i][0], "count", words[i][1]), "sources"),
			                      json_string("perf"));
}

json_t *list_metrics(struct app *app, struct err *err) {
	json_t *sources = list_counters(app, err), *rows = sources ? json_array() : NULL;
	if (!rows)
		return NULL;
	const char *bad = json_string_value(described(app, "groups_error", err));
	if (bad)
		ui_warn(app_ui(app), "`sweetspot doctor` has details", "groups are not available: %s", bad);
	groups_add(rows, described(app, "groups", err));
	portable_add(rows, described(app, "events", err));
	js_each (source, sources)
		source_add(rows, source);
	perf_words_add(rows);
	json_decref(sources);
	return rows;
}

static bool begins(const char *text, const char *prefix) {
	const char *colon = strchr(text, ':');
	size_t length = strlen(prefix);
	return strncasecmp(text, prefix, length) == 0 || (colon && strncasecmp(colon + 1, prefix, length) == 0);
}

static bool any_begins(const json_t *list, const char *prefix) {
	js_each (one, list)
		if (begins(json_is_string(one) ? json_string_value(one) : list_text(one, "name"), prefix))
			return true;
	return false;
}

/* A copy that says under which names PAPI and perf count it. */
static json_t *row_with_names(const json_t *row) {
	json_t *copy = json_copy((json_t *)row);
	mem_auto char *text = mem_strdup(list_text(row, "summary"));
	js_each (name, json_object_get(row, "known_as"))
		mem_append(&text, "%s%s", name_at ? ", " : "; ", json_string_value(name));
	json_object_set_new(copy, "summary", json_string(text));
	return copy;
}

json_t *list_metrics_matching(const json_t *rows, const char *prefix) {
	json_t *out = json_array();
	js_each (row, rows)
		if (begins(list_text(row, "name"), prefix) || any_begins(json_object_get(row, "known_as"), prefix) ||
		    any_begins(json_object_get(row, "metrics"), prefix))
			json_array_append_new(out, row_with_names(row));
	return out;
}

void list_counters_print(struct ui *ui, const json_t *rows, FILE *out) {
	js_each (row, rows) {
		bool usable = js_bool_or(row, "usable", false);
		const char *fix = list_text(row, "fix");
		mem_auto char *head = mem_printf("%-14s %-4s ", list_text(row, "name"), usable ? "yes" : "no");
		text_clean(head, false);
		fprintf(out, "%s%s", ui_style(ui, usable ? UI_BOLD : UI_PLAIN), head);
		ui_wrap_on(out, 20, 20, "%s", list_text(row, "summary"));
		fputs(ui_style(ui, UI_PLAIN), out);
		if (*list_text(row, "reason"))
			ui_wrap(out, 20, 20, "%s", list_text(row, "reason"));
		ui_fix(out, 20, fix);
	}
}

static void metric_line(const json_t *metric, FILE *out) {
	const char *unit = list_text(metric, "unit"), *summary = list_text(metric, "summary");
	ui_wrap(out, 4, 8, "%s%s%s%s = %s%s%s", list_text(metric, "name"), *unit ? " [" : "", unit, *unit ? "]" : "",
	        list_text(metric, "formula"), *summary ? ": " : "", summary);
}

static void events_line(const json_t *events, FILE *out) {
	mem_auto char *text = mem_strdup("");
	js_each (event, events)
		mem_append(&text, "%s %s", event_at ? "," : "",
		           json_is_string(event) ? json_string_value(event) : list_text(event, "name"));
	if (*text)
		ui_wrap(out, 4, 8, "counts%s", text);
}

static bool is_group(const json_t *row) {
	return strcmp(list_text(row, "kind"), "group") == 0;
}

static void group_print(struct ui *ui, const json_t *row, FILE *out) {

	fputs(ui_style(ui, UI_BOLD), out);
	ui_wrap(out, 0, 4, "%s: %s", list_text(row, "name"), list_text(row, "summary"));
	fputs(ui_style(ui, UI_PLAIN), out);
	events_line(json_object_get(row, "events"), out);
	js_each (metric, json_object_get(row, "metrics"))
		metric_line(metric, out);
}

void list_metrics_print(struct ui *ui, const json_t *rows, FILE *out) {
	static const char *const titles[] = {"event", "unit", "summary"};
	struct table *table = table_new(3, titles);
	js_each (row, rows)
		if (is_group(row))
			group_print(ui, row, out);
		else
			table_add(table, list_text(row, "name"), list_text(row, "unit"), list_text(row, "summary"));
	if (is_group(json_array_get(rows, 0)))
		fputc('\n', out);
	table_end(table, ui, out);
}
