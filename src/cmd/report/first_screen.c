/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of each section as a document. `report --json` prints it, and the first screen of the page is made of it:
 * one line a result, largest gain first. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

/* The first are what a reader came for. */
static double rank_of(const struct report_section *section) {
	static const int places[VERDICT_COUNT] = {[VERDICT_FASTER] = 0, [VERDICT_NOT_SAME] = 1, [VERDICT_UNDECIDED] = 2,
	                                          [VERDICT_TIE] = 3,    [VERDICT_SLOWER] = 4,   [VERDICT_NO_BASELINE] = 5};
	double gain = speedup_told(speedup_of(section->tune));
	return (section->tune ? places[verdict_of(section->tune)] : VERDICT_COUNT) + 1 / (2 + (gain > 0 ? gain : 0));
}

static void sections_order(struct report *report) {
	for (size_t i = 1; i < report->section_count; i++) {
		struct report_section section = report->sections[i];
		size_t at = i;
		for (; at && rank_of(&section) < rank_of(&report->sections[at - 1]); at--)
			report->sections[at] = report->sections[at - 1];
		report->sections[at] = section;
	}
}

/* The line that a user types, with the winner or, where the baseline stays, without a change. */
static const char *setting_of(struct report *report, const struct report_section *section) {
	const struct result result = result_read(section->tune);
	bool keep = result.keeps || result.verdict == VERDICT_TIE;
	const char *line = js_string_or(result.program, "line", NULL);
	if (line)
		return keep ? js_string_or(result.program, "baseline_line", line) : line;
	const char *again = report_again(report, section);
	const json_t *config = section->tune ? result.best.config : js_at(section->result, "winner.config");
	mem_auto char *words = results_config(config, NULL);
	return again ? again : *words ? arena_strdup(report->arena, words) : NULL;
}

static const char *state_of(const struct report_section *section) {
	const struct report_search *last = section->search_count ? &section->searches[section->search_count - 1]
	                                                         : &(struct report_search){.state = "done"};
	if (section->entry)
		return js_string_or(section->entry, "state", "?");
	return strcmp(last->state, "done") != 0 || section->tune ? last->state
	       : js_at(section->result, "winner.config")         ? "measured, not tuned"
	                                                         : "no configuration worked";
}

static json_t *known_text(const char *text) {
	return text ? js_text(text) : json_null();
}

static json_t *sentences_of(const struct report_section *section) {
	static const char *const lists[] = {"readings", "diagnoses"};
	json_t *sentences = json_array();
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		js_each (finding, json_object_get(section->result, lists[i]))
			json_array_append(sentences, json_object_get(finding, "sentence"));
	return sentences;
}

static json_t *tuned_json(const json_t *tune) {
	mem_auto char *brief = results_brief(tune), *sentence = results_verdict(tune), *checked = verdict_checked(tune);
	json_t *answer = json_object();
	verdict_copy(answer, tune);
	json_t *words = json_pack("{s:o,s:o,s:o,s:b}", "brief", js_text(brief), "sentence", js_text(sentence), "checked",
	                          known_text(checked), "busy", result_read(tune).load.busy);
	json_object_update_new(answer, words);
	return answer;
}

static json_t *answer_of(struct report *report, const struct report_section *section) {
	const json_t *tune = section->tune;
	const struct result result = result_read(tune);
	const json_t *best = tune ? result.best.json : json_object_get(section->result, "winner");
	json_t *answer = tune ? tuned_json(tune) : json_pack("{s:n}", VERDICT_MEMBER);
	double median = js_real_or(best, "median", NAN);
	json_t *more = json_pack("{s:o,s:O,s:o,s:o,s:o,s:o,s:O?,s:O?,s:o,s:o,s:o}", "kernel", js_text(section->kernel),
	                         "problem", section->problem, "objective", js_text(section->objective), "unit",
	                         js_text(tune ? result.best.unit : section->unit), "median",
	                         js_number(tune ? median : report_shown(section, median)), "baseline",
	                         js_number(js_real_or(result.baseline.json, "median", NAN)), "speedup",
	                         json_object_get(tune, "speedup"), "config", json_object_get(best, "config"), "setting",
	                         known_text(setting_of(report, section)), "state", js_text(state_of(section)), "sentences",
	                         sentences_of(section));
	json_object_update_new(answer, more);
	return answer;
}

struct tally {
	size_t tuned, busy, by[VERDICT_COUNT];
};

static void tally_add(struct tally *tally, const json_t *answers) {
	js_each (answer, answers) {
		enum verdict verdict = verdict_of(answer);
		if (!verdict_said(answer, NULL))
			continue;
		tally->tuned++;
		tally->by[verdict]++;
		tally->busy += verdict == VERDICT_UNDECIDED && js_bool_or(answer, "busy", false);
	}
}

/* "3 of 18 are faster, 12 undecided while the machine was busy, 3 tie" */
static json_t *summary_json(const json_t *answers, const json_t *regions) {
	struct tally tally = {0};
	tally_add(&tally, answers);
	tally_add(&tally, regions);
	const struct {
		size_t count;
		const char *words;
	} parts[] = {{tally.busy, "undecided while the machine was busy"},
	             {tally.by[VERDICT_UNDECIDED] - tally.busy, "undecided"},
	             {tally.by[VERDICT_TIE], "where nothing is faster than the baseline"},
	             {tally.by[VERDICT_NOT_SAME], "faster, but not the same work"},
	             {tally.by[VERDICT_SLOWER], "slower"},
	             {tally.by[VERDICT_NO_BASELINE], "whose baseline fails"}};
	size_t faster = tally.by[VERDICT_FASTER],
		   measured = json_array_size(answers) + json_array_size(regions) - tally.tuned;
	mem_auto char *text = tally.tuned
	                          ? mem_printf("%zu of %zu %s faster", faster, tally.tuned, faster == 1 ? "is" : "are")
	                          : mem_strdup("Nothing was tuned");
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].count)
			mem_append(&text, ", %zu %s", parts[i].count, parts[i].words);
	if (measured)
		mem_append(&text, "%s%zu measured without a verdict", tally.tuned ? "; " : ": ", measured);
	return json_pack("{s:i,s:i,s:i,s:i,s:s}", "tuned", (int)tally.tuned, "faster", (int)faster, "undecided",
	                 (int)tally.by[VERDICT_UNDECIDED], "busy", (int)tally.busy, "sentence", text);
}

json_t *report_document(struct report *report) {
	json_t *answers = json_array();
	sections_order(report);
	for (size_t i = 0; i < report->section_count; i++)
		json_array_append_new(answers, answer_of(report, &report->sections[i]));
	json_t *document = json_pack("{s:s,s:s}", "schema", "sweetspot-report/1", "version", PACKAGE_VERSION);
	json_object_set(document, "machine", report->machine ? (json_t *)report->machine : json_null());
	json_object_set_new(document, "summary", summary_json(answers, report->regions));
	json_object_set_new(document, "results", answers);
	json_object_set(document, "regions", report->regions);
	return document;
}

/* The verdict, or of what was only measured the best value. */
static char *brief_of(const json_t *answer) {
	const char *brief = js_string_or(answer, "brief", NULL), *state = js_string_or(answer, "state", "");
	double median = js_real_or(answer, "median", NAN);
	if (brief)
		return mem_printf("%s%s", brief, strcmp(state, "stale") == 0 ? ", the source has changed since" : "");
	return isfinite(median)
	           ? mem_printf("best measured: %s", results_value(median, js_string_or(answer, "unit", "")).text)
	           : mem_strdup(state);
}

static void row_put(struct report *report, struct html_table *table, const json_t *answer,
                    const struct report_ruler *ruler, const struct report_line *line) {
	const char *setting = js_string_or(answer, "setting", NULL);
	struct speedup gain = speedup_of(answer);
	mem_auto char *brief = brief_of(answer);
	html_table_row(table);
	html_table_cell(table, NAN);
	html_put(report->html, "<a href=\"#%s\">%s</a><small> %s</small>", line->anchor, line->name, line->about);
	html_table_cell_end(table);
	html_table_cell(table, isfinite(gain.ratio) ? speedup_told(gain) : INFINITY);
	html_put(report->html, "<span class=\"%s\">%s</span>", verdict_of(answer) == VERDICT_FASTER ? "high" : "low",
	         brief);
	html_table_cell_end(table);
	html_table_cell(table, isfinite(gain.low) ? gain.low : INFINITY);
	report_interval(report->html, ruler, gain);
	html_table_cell_end(table);
	html_table_cell(table, NAN);
	if (setting)
		html_put(report->html, "<code class=\"setting\">%s</code>", setting);
	html_table_cell_end(table);
}

static void regions_row(struct report *report, struct html_table *table, const json_t *document, size_t number,
                        const struct report_ruler *ruler) {
	const struct report_line line = {arena_printf(report->arena, "regions-%zu", number), report_program(document),
	                                 "by parallel region"};
	struct shown gain = report_ratio(speedup_of(document));
	js_auto json_t *answer = json_copy((json_t *)document);
	mem_auto char *brief = mem_printf("%s%s%s", verdict_word(verdict_of(document)), *gain.text ? ", " : "", gain.text);
	json_object_set_new(answer, "brief", json_string(brief));
	row_put(report, table, answer, ruler, &line);
}

void report_answers(struct report *report, const json_t *document) {
	static const char *const titles[] = {"result", "\2verdict", "95 % interval", "\2setting", NULL};
	const json_t *answers = json_object_get(document, "results");
	struct report_ruler ruler = REPORT_RULER;
	js_each (answer, answers)
		report_ruler_add(&ruler, speedup_of(answer));
	html_put(report->html, "<section id=\"results\"><h2>Results</h2>");
	struct html_table table = html_table_begin(
		report->html, NULL,
		report->from ? "The best of each problem."
					 : "Largest gain first. A bar is the interval of a speedup, on a logarithmic scale with a "
					   "line at 1; it comes from fresh pairs with the baseline, never from the search.",
		titles);
	js_each (answer, answers) {
		const struct report_section *section = &report->sections[answer_at];
		const struct report_line line = {section->anchor, section->kernel, report_about(report, section)};
		row_put(report, &table, answer, &ruler, &line);
	}
	js_each (regions, report->regions)
		regions_row(report, &table, regions, regions_at, &ruler);
	html_table_end(&table);
	if (!json_integer_value(js_at(document, "summary.tuned")) && report->section_count && !report->from)
		report_absent(report, "No tuning run has finished on this machine. This command tunes:",
		              report_advice(report, &report->sections[0], "tune", ""));
	html_put(report->html, "</section>");
}

const char *report_about(const struct report *report, const struct report_section *section) {
	if (strcmp(section->objective, "time") == 0)
		return section->problem_text;
	return arena_printf(report->arena, "%s%s%s", section->problem_text, *section->problem_text ? ", " : "",
	                    section->objective);
}

void report_fold(struct report *report, const struct report_line *line, const char *verdict) {
	bool open = report->from && report->section_count == 1; /* a page about one table */
	html_put(
		report->html,
		open ? "<details class=\"result\" open><summary><h2>%s<small> %s</small></h2> %s</summary><section id=\"%s\">"
			 : "<details class=\"result\"><summary><h2>%s<small> %s</small></h2> %s</summary><section id=\"%s\">",
		line->name, line->about, verdict, line->anchor);
}
