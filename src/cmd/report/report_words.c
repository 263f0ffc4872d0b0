/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <time.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"
#include "tuner/program/program.h"

void report_heading(struct report *report, const char *text) {
	html_put(report->html, "<h3>%s</h3>", text);
}

void report_fold(struct report *report, const struct report_line *line, const char *verdict) {
	bool open = report->from && report->section_count == 1; /* a page about one table */
	html_put(
		report->html,
		open ? "<details class=\"result\" open><summary><h2>%s<small> %s</small></h2> %s</summary><section id=\"%s\">"
			 : "<details class=\"result\"><summary><h2>%s<small> %s</small></h2> %s</summary><section id=\"%s\">",
		line->name, line->about, verdict, line->anchor);
}

const char *report_program(const json_t *document) {
	const char *path = js_string_or(document, "program", "?"), *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

void report_command(struct report *report, const char *command) {
	html_put(report->html, "<pre class=\"command\"><code>%s</code></pre>", command);
}

void report_chart(struct report *report, const struct report_section *section, const char *what,
                  const struct chart *chart) {
	charts_add(report->charts, arena_printf(report->arena, "%s-%s", section->kernel, what), chart);
}

void report_figure(struct report *report, const struct report_section *section, const char *what,
                   const struct chart *chart) {
	html_put(report->html, "<div class=\"figures\">");
	report_chart(report, section, what, chart);
	html_put(report->html, "</div>");
}

void report_absent(struct report *report, const char *sentence, const char *command) {
	/* A page about a file has no commands, so its sentences do not lead to one with a colon. */
	const char *offer = report->from ? strstr(sentence, " This command") : NULL;
	html_put(report->html, "<p class=\"absent\">%.*s</p>", (int)(offer ? offer - sentence : (long)strlen(sentence)),
	         sentence);
	if (command && *command && !report->from)
		report_command(report, command);
}

double report_shown(const struct report_section *section, double value) {
	return section->maximize ? 1 / value / (section->amount > 0 ? section->amount : 1) : value;
}

void report_value(const struct report_section *section, double shown, char *text, size_t size) {
	*text = '\0';
	if (isfinite(shown))
		results_value(shown, section->unit, text, size);
}

double report_end(const json_t *ci, size_t end) {
	const json_t *one = json_array_get(ci, end);
	return json_is_number(one) ? json_number_value(one) : NAN;
}

void report_cells(struct html_table *table, const struct report_section *section, double shown, double low,
                  double high) {
	char text[3][48];
	double from = fmin(low, high), to = fmax(low, high); /* 1/x swaps the ends */
	report_value(section, shown, text[0], sizeof *text);
	report_value(section, from, text[1], sizeof *text);
	report_value(section, to, text[2], sizeof *text);
	html_table_number(table, shown, "%s", text[0]);
	html_table_number(table, isfinite(low + high) ? from : NAN, "%s to %s", text[1], text[2]);
}

void report_ratio(struct speedup speedup, char *text, size_t size) {
	*text = '\0';
	if (isfinite(speedup.ratio) && speedup_is_vague(speedup))
		snprintf(text, size, "too noisy");
	else if (isfinite(speedup.ratio))
		speedup_digits_text(speedup, text, size);
}

char *report_time(double seconds, char *text, size_t size) {
	struct tm tm;
	time_t time = seconds >= 0 && seconds < 253402300800.0 /* year 10000 */ ? (time_t)seconds : -1;
	*text = '\0';
	if (time >= 0 && gmtime_r(&time, &tm))
		strftime(text, size, "%Y-%m-%d %H:%M UTC", &tm);
	return text;
}

struct report_scale report_scale(const struct report_section *section, double most) {
	static const struct report_scale times[] = {{1e9, "ns"}, {1e6, "us"}, {1e3, "ms"}, {1, "s"}};
	size_t i = 0;
	if (strcmp(section->unit, "s") != 0)
		return (struct report_scale){1, section->unit};
	while (i < 3 && !(most * times[i].factor < 1000))
		i++;
	return times[i];
}

const char *report_axis(struct report *report, const struct report_section *section, struct report_scale scale) {
	return *scale.unit ? arena_printf(report->arena, "%s (%s)", section->label, scale.unit) : section->label;
}

const char *report_title(struct report *report, const struct report_section *section, const char *without,
                         const char *about) {
	js_auto json_t *problem = json_copy(section->problem);
	json_object_del(problem, "command"); /* of a program, whose settings differ in each chart */
	if (without)
		json_object_del(problem, without);
	mem_auto char *words = results_config(problem, NULL);
	return arena_printf(report->arena, "%s%s%s: %s", section->kernel, *words ? " " : "", words, about);
}

/* Settings as quoted words of a command line. *all: false if some have no word. */
static const char *quoted_words(struct report *report, const json_t *settings, const char *between, bool *all) {
	const char *text = "";
	*all = true;
	js_members (name, json, settings) {
		char word[96];
		struct value value;
		if (!value_from_json(json, &value) || value_text(value, word, sizeof word) >= (int)sizeof word) {
			*all = false;
			continue;
		}
		mem_auto char *plain = mem_printf("%s=%s", name, word), *quoted = program_quote(plain);
		text = arena_printf(report->arena, "%s%s%s", text, *text ? between : "", quoted);
	}
	return text;
}

static const char *newest_command(const struct report_section *section) {
	return section->search_count ? section->searches[section->search_count - 1].command : "";
}

bool report_is_program(const struct report_section *section) {
	return json_is_object(json_object_get(section->tune, "program")) || strstr(newest_command(section), " -- ");
}

/* A specification or a source of the user, which `run` does not take. */
static bool is_source(const struct report_section *section) {
	const char *command = newest_command(section);
	return strstr(command, " --spec ") || strstr(command, " --kernel ");
}

const char *report_resume(struct report *report, const struct report_section *section) {
	static const char tune[] = "sweetspot tune";
	const char *command = newest_command(section);
	if (strncmp(command, tune, sizeof tune - 1) != 0 || strstr(command, " --resume"))
		return command;
	return arena_printf(report->arena, "%s --resume%s", tune, command + sizeof tune - 1);
}

const char *report_command_line(struct report *report, const struct report_section *section, const char *verb,
                                const char *more) {
	bool stores = strcmp(verb, "run") != 0;
	const char *store = stores ? opt_get(report->args, "store", NULL) : NULL, *device = app_device(report->app);
	mem_auto char *kernel = program_quote(section->kernel), *file = store ? program_quote(store) : NULL;
	const char *text =
		arena_printf(report->arena, "sweetspot %s %s%s%s%s%s%s%s", verb, kernel, *more ? " " : "", more,
	                 device ? " --device " : "", device ? device : "", file ? " --store " : "", file ? file : "");
	return text;
}

const char *report_advice(struct report *report, const struct report_section *section, const char *verb,
                          const char *more) {
	bool tune = strcmp(verb, "tune") == 0; /* only tune needs --size; other commands take the problem as words */
	if (report_is_program(section))
		return js_string_or(section->tune, "command", newest_command(section));
	bool all;
	const char *words = quoted_words(report, section->problem, tune ? "," : " ", &all);
	words = arena_printf(report->arena, "%s%s%s%s", tune && *words ? "--size " : "", words, *words && *more ? " " : "",
	                     more);
	return report_command_line(report, section, verb, words);
}

const char *report_again(struct report *report, const struct report_section *section) {
	const json_t *config = json_object_get(json_object_get(section->tune, "best"), "config");
	bool all;
	const char *words = quoted_words(report, config, " ", &all);
	return all && json_object_size(config) && !is_source(section) ? report_advice(report, section, "run", words) : NULL;
}

struct report_section *report_section_find(const struct report *report, const char *kernel, const char *objective,
                                           const json_t *problem) {
	for (size_t i = 0; i < report->section_count; i++)
		if (strcmp(report->sections[i].kernel, kernel) == 0 && strcmp(report->sections[i].objective, objective) == 0 &&
		    json_equal(report->sections[i].problem, problem))
			return &report->sections[i];
	return NULL;
}
