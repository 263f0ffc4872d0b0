/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the section of one kernel, problem and objective. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"
#include "tuner/program/program.h"

void report_heading(struct report *report, const char *text) {
	html_put(report->html, "<h3>%s</h3>", text);
}

const char *report_program(const json_t *document) {
	const char *path = js_string_or(document, "program", "?"), *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* A command to copy */
static void report_command(struct report *report, const char *command) {
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
	/* A page about a file shows no commands, so the part of the sentence that introduces one is left out. */
	const char *offer = report->from ? strstr(sentence, " This command") : NULL;
	html_put(report->html, "<p class=\"absent\">%.*s</p>", (int)(offer ? offer - sentence : (long)strlen(sentence)),
	         sentence);
	if (command && *command && !report->from)
		report_command(report, command);
}

double report_shown(const struct report_section *section, double value) {
	return section->maximize ? 1 / value / (section->amount > 0 ? section->amount : 1) : value;
}

struct shown report_value(const struct report_section *section, double shown) {
	return isfinite(shown) ? results_value(shown, section->unit) : (struct shown){""};
}

double report_end(const json_t *ci, size_t end) {
	const json_t *one = json_array_get(ci, end);
	return json_is_number(one) ? json_number_value(one) : NAN;
}

void report_cells(struct html_table *table, const struct report_section *section, double shown, double low,
                  double high) {
	double from = fmin(low, high), to = fmax(low, high); /* 1/x swaps the ends */
	html_table_number(table, shown, "%s", report_value(section, shown).text);
	html_table_number(table, isfinite(low + high) ? from : NAN, "%s to %s", report_value(section, from).text,
	                  report_value(section, to).text);
}

struct shown report_ratio(struct speedup speedup) {
	if (!isfinite(speedup.ratio))
		return (struct shown){""};
	return speedup_is_vague(speedup) ? (struct shown){"too noisy"} : speedup_digits_text(speedup);
}

char *report_time(double seconds, char *text, size_t size) {
	text_time(seconds, "%Y-%m-%d %H:%M UTC", text, size);
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

static const char *report_resume(struct report *report, const char *command) {
	static const char tune[] = "sweetspot tune";
	if (strncmp(command, tune, sizeof tune - 1) != 0 || strstr(command, " --resume"))
		return command;
	return arena_printf(report->arena, "%s --resume%s", tune, command + sizeof tune - 1);
}

struct report_section *report_section_find(const struct report *report, const char *kernel, const char *objective,
                                           const json_t *problem) {
	for (size_t i = 0; i < report->section_count; i++)
		if (strcmp(report->sections[i].kernel, kernel) == 0 && strcmp(report->sections[i].objective, objective) == 0 &&
		    json_equal(report->sections[i].problem, problem))
			return &report->sections[i];
	return NULL;
}

/* The origin of the numbers, and the commands that reproduce them. */
enum { COMMANDS_MAX = 12, HASH_SHOWN = 19 };

static void search_row(struct html_table *table, const struct report_search *search) {
	char time[32];
	html_table_row(table);
	html_table_number(table, (double)search->id, "%lld", (long long)search->id);
	html_table_number(table, search->started, "%s", report_time(search->started, time, sizeof time));
	html_table_text(table, "%s", search->state);
	html_table_text(table, "%s", *search->strategy ? search->strategy : "-");
	html_table_number(table, (double)search->seed, "%llu", (unsigned long long)search->seed);
	html_table_number(table, (double)search->evaluations, "%zu", search->evaluations);
	html_table_number(table, (double)search->trials, "%zu", search->trials);
	html_table_number(table, search->valid ? (double)search->valid : NAN, "%llu", (unsigned long long)search->valid);
	html_table_text(table, "%s", search->version);
	html_table_text(table, "%.*s", HASH_SHOWN, search->source);
}

static void searches_table(struct report *report, const struct report_section *section) {
	static const char *const titles[] = {"\1search", "\1started", "state",   "strategy", "\1seed", "\1evaluations",
	                                     "\1trials", "\1space",   "version", "source",   NULL};
	struct html_table table =
		html_table_begin(report->html, NULL, "All searches of this problem, oldest first", titles);
	for (size_t i = 0; i < section->search_count; i++)
		search_row(&table, &section->searches[i]);
	html_table_end(&table);
}

static bool is_repeated(const struct report_section *section, size_t at) {
	for (size_t i = at + 1; i < section->search_count; i++)
		if (strcmp(section->searches[i].command, section->searches[at].command) == 0)
			return true;
	return false;
}

static void commands_put(struct report *report, const struct report_section *section) {
	size_t shown = 0;
	html_put(report->html, "<p>These commands made the measurements:</p>");
	for (size_t i = section->search_count; i-- > 0 && shown < COMMANDS_MAX;) {
		if (is_repeated(section, i))
			continue;
		report_command(report, section->searches[i].command);
		shown++;
	}
}

static void provenance_put(struct report *report, const struct report_section *section) {
	report_heading(report, "Provenance");
	searches_table(report, section);
	commands_put(report, section);
}

static void command_put(struct report *report, const char *words, const char *command) {
	if (!command)
		return;
	html_put(report->html, "<p class=\"note\">%s</p>", words);
	report_command(report, command);
}

/* The first experiment that explain suggests, with the factor that its diagnosis says is at stake. */
static void next_put(struct report *report, const struct report_section *section) {
	js_each (finding, json_object_get(section->result, "diagnoses")) {
		const char *next = js_string_or(finding, "next", NULL);
		double strength = js_real_or(finding, "strength", 1);
		if (!next)
			continue;
		command_put(report,
		            strength > 1.005 ? arena_printf(report->arena, "Next to try (up to %.2gx):", strength)
		                             : "Next to try:",
		            next);
		return;
	}
}

/* The answer as `tune` printed it, and the commands to use it. */
static void tuned_describe(struct report *report, const struct report_section *section) {
	const struct result result = result_read(section->tune);
	mem_auto char *verdict = results_verdict(section->tune), *text = results_text(section->tune);
	const char *line = js_string_or(result.program, "shell", js_string_or(result.program, "line", NULL));
	const char *again = result.program ? NULL : report_again(report, section);
	html_put(report->html, "<p class=\"lead\">%s</p>", verdict);
	html_put(report->html, "<pre class=\"answer\">%s</pre>", text);
	bool used = result.keeps || result.verdict == VERDICT_FASTER || result.verdict == VERDICT_TIE;
	command_put(report,
	            used            ? "This command runs the recommended settings:"
	            : result.faster ? "This command runs what is faster, but does not do the same work:"
	                            : "This command runs the best so far, which is not proven to be faster:",
	            line ? line : again);
	if (again && used)
		command_put(report, "This command writes them for a job script:",
		            report_command_line(report, section, "export", "--format env"));
	if (result.load.busy)
		command_put(report,
		            "The machine was busy. This command measures the result again later:", "sweetspot profile verify");
	next_put(report, section);
}

/* The fastest measured configuration with its value, and a sentence that follows it. */
static void fastest_describe(struct report *report, const struct report_section *section, const char *rest) {
	const json_t *winner = json_object_get(section->result, "winner");
	mem_auto char *config = results_config(json_object_get(winner, "config"), NULL);
	html_put(report->html, "<p class=\"lead\">Fastest measured configuration: <code>%s</code>, %s.%s</p>", config,
	         report_value(section, report_shown(section, js_real_or(winner, "median", NAN))).text, rest);
}

static void untuned_describe(struct report *report, const struct report_section *section) {
	if (section->is_beyond)
		return;
	if (!json_is_object(json_object_get(section->result, "winner"))) {
		report_absent(report,
		              section->result
		                  ? "No configuration of this problem finished."
		                  : "No configuration worked, or all were measured with different source code of this kernel.",
		              report_advice(report, section, "tune", ""));
		return;
	}
	fastest_describe(report, section, " This command compares it with the baseline:");
	report_command(report, report_advice(report, section, "tune", ""));
}

/* The problem as --size of explain. */
static const char *size_words(struct report *report, const struct report_section *section) {
	mem_auto char *words = results_config(section->problem, NULL), *quoted = program_quote(words);
	return arena_printf(report->arena, "--size %s", quoted);
}

static void state_describe(struct report *report, const struct report_section *section) {
	const struct report_search *last = &section->searches[section->search_count - 1];
	if (section->entry && strcmp(js_string_or(section->entry, "state", ""), "stale") == 0)
		report_absent(report, "This result is stale because the source of the kernel has changed since. Tune it again:",
		              report_advice(report, section, "tune", ""));
	if (strcmp(last->state, "done") != 0)
		report_absent(
			report,
			arena_printf(report->arena,
		                 "The newest search is not finished (%s) after %zu trial%s. This command continues it:",
		                 last->state, last->trials, last->trials == 1 ? "" : "s"),
			report_resume(report, last->command));
}

static void store_describe(struct report *report, const struct report_section *section) {
	if (section->tune)
		tuned_describe(report, section);
	else
		untuned_describe(report, section);
	state_describe(report, section);
	if (section->is_beyond)
		report_absent(
			report,
			arena_printf(report->arena,
		                 "Only the first %d problems of a kernel are explained on this page, and this one is not "
		                 "among them. This command explains it:",
		                 EXPLAIN_PROBLEMS_MAX),
			report_command_line(report, section, "explain", size_words(report, section)));
}

/* The page of --from is about files instead of the store, so it has no searches, profiles or commands to repeat. */

static void from_describe(struct report *report, const struct report_section *section) {
	const json_t *table = json_object_get(section->result, "table");
	bool one_each = !*section->problem_text && json_array_size(json_object_get(section->result, "problems")) > 1;
	if (!one_each && json_object_size(js_at(section->result, "winner.config")))
		fastest_describe(report, section, "");
	mem_auto char *problem = results_list(json_object_get(table, "problem")),
				  *parameters = results_list(json_object_get(table, "parameters"));
	if (json_is_object(table))
		html_put(report->html,
		         "<p class=\"note\">Read from a table of %lld rows with %lld values; problem: %s; parameters: %s; "
		         "value: %s.</p>",
		         (long long)js_int_or(table, "rows", 0), (long long)js_int_or(table, "values", 0),
		         *problem ? problem : "none", *parameters ? parameters : "none", js_string_or(table, "value", "?"));
}

/* The table of the best configurations. */
enum { SHOWN_MAX = 50 };

static void best_row(struct html_table *table, const struct report_section *section, size_t index) {
	const struct study_row *row = study_row(section->view.study, index);
	double shown = report_shown(section, row->value), spread = exp(1.96 * row->deviation);
	mem_auto char *config = results_config(row->config, NULL);
	html_table_row(table);
	html_table_text(table, "%s", config);
	report_cells(table, section, shown, shown / spread, shown * spread);
	html_table_number(table, (double)row->trials, "%zu", row->trials);
	html_table_text(table, "%s", js_bool_or(row->detail, "unsafe", false) ? "unsafe to use" : "");
}

/* A page of a store has a table of its trials. */
static void best_put(struct report *report, const struct report_section *section) {
	const struct study *study = section->view.study;
	if (!report->from)
		return;
	const char *titles[] = {"\2configuration", arena_printf(report->arena, "\1%s", section->label),
	                        "\1interval",      "\1trials",
	                        "\2note",          NULL};
	size_t rows = study_rows(study), count = 0, *order = mem_alloc(rows + 1, sizeof *order);
	for (size_t i = 0; i < rows; i++)
		if (explain_timed(&section->view, i))
			order[count++] = i;
	qsort_r(order, count, sizeof *order, study_by_value, (void *)study);
	struct html_table table =
		html_table_begin(report->html, "the best configurations measured",
	                     arena_printf(report->arena, "The best %zu of %zu configurations",
	                                  count < SHOWN_MAX ? count : (size_t)SHOWN_MAX, count + study_left_out(study)),
	                     titles);
	for (size_t i = 0; i < count && i < SHOWN_MAX; i++)
		best_row(&table, section, order[i]);
	html_table_end(&table);
	free(order);
}

/* Diagnoses with their evidence, and the experiments that would confirm them. */
static void lines_put(struct report *report, const json_t *finding, const char *key, const char *before) {
	if (json_array_size(json_object_get(finding, key)) == 0)
		return;
	html_put(report->html, "<ul>");
	js_each (line, json_object_get(finding, key))
		html_put(report->html, "<li>%s%s</li>", before, js_string_or(line, "text", ""));
	html_put(report->html, "</ul>");
}

/* Maps the word to a known class, because the word itself may come from a foreign file. */
static const char *class_of(const char *confidence) {
	return strcmp(confidence, "high") == 0     ? "sure high"
	       : strcmp(confidence, "medium") == 0 ? "sure medium"
	                                           : "sure low";
}

static void finding_put(struct report *report, const json_t *finding) {
	const char *confidence = js_string_or(finding, "confidence", "low"), *next = js_string_or(finding, "next", NULL);
	double gain = js_real_or(finding, "strength", 1);
	html_put(report->html, "<article class=\"why\"><p><span class=\"%s\">%s confidence</span> %s", class_of(confidence),
	         confidence, js_string_or(finding, "sentence", "?"));
	if (gain > 1.005)
		html_put(report->html, " (up to %.2gx)", gain);
	html_put(report->html, "</p>");
	lines_put(report, finding, "evidence", "");
	lines_put(report, finding, "missing", "unknown: ");
	if (next) {
		html_put(report->html, "<p class=\"note\">This experiment would decide:</p>");
		report_command(report, next);
	}
	html_put(report->html, "</article>");
}

static void readings_put(struct report *report, const json_t *readings) {
	if (json_array_size(readings) == 0)
		return;
	report_heading(report, "What the times show");
	js_each (each, readings)
		finding_put(report, each);
}

static void why_put(struct report *report, const struct report_section *section) {
	const json_t *findings = json_object_get(section->result, "diagnoses"),
				 *experiments = json_object_get(section->result, "experiments");
	readings_put(report, json_object_get(section->result, "readings"));
	report_heading(report, "Why");
	if (json_array_size(findings) == 0)
		report_absent(
			report,
			report->from ? "The measurements do not show what holds it back."
						 : "The measurements do not show what holds it back. `sweetspot explain --probe` measures what "
						   "would refute each cause:",
			report_command_line(report, section, "explain", "--probe"));
	js_each (each, findings)
		finding_put(report, each);
	if (json_array_size(experiments))
		html_put(report->html,
		         "<p class=\"note\">The gains of some settings are predicted by a model. These experiments would "
		         "measure them:</p>");
	js_each (each, experiments)
		report_command(report, js_string_or(each, "next", ""));
}

void report_section(struct report *report, const struct report_section *section) {
	static const struct report_part best = {REPORT_EXPLAINED, best_put}, why = {REPORT_EXPLAINED, why_put},
									provenance = {REPORT_STORED, provenance_put};
	static const struct report_part *const parts[] = {
		&report_curves,   &report_parts,    &best, &report_effects, &report_scaling,
		&report_counters, &report_progress, &why,  &provenance};
	mem_auto char *brief = section->tune ? results_brief(section->tune) : NULL;
	const struct report_line line = {section->anchor, section->kernel, report_about(report, section)};
	report_fold(report, &line, brief ? brief : "");
	(report->from ? from_describe : store_describe)(report, section);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i]->when == REPORT_STORED ? !report->from : section->result != NULL)
			parts[i]->put(report, section);
	html_put(report->html, "</section></details>");
}
