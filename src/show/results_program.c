/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the result of a program in words: how to run it, its speedup, and the resources it needs. */
#include <math.h>

#include "base/json/js.h"
#include "src/show/results.h"

/* The resources that a program uses besides time, baseline -> best. */
enum { WIDTH = 78 /* and a comma: what fits an ordinary terminal is not folded again */ };

enum resource_unit { SECONDS, BYTES, COUNT };

static const struct resource {
	const char *name, *key, *more; /* `more`: second member to add, or NULL */
	enum resource_unit unit;
} resources[] = {
	{"user", "user_s", NULL, SECONDS},
	{"system", "system_s", NULL, SECONDS},
	{"peak memory", "max_rss_bytes", NULL, BYTES},
	{"page faults", "minor_faults", "major_faults", COUNT},
	{"context switches", "voluntary_switches", "involuntary_switches", COUNT},
	{"migrations", "migrations", NULL, COUNT},
	{"run delay", "run_delay_s", NULL, SECONDS},
};

static double resource_of(const json_t *usage, const struct resource *resource) {
	double value = js_real_or(usage, resource->key, NAN);
	return resource->more ? value + js_real_or(usage, resource->more, NAN) : value;
}

static struct shown resource_text(double value, enum resource_unit unit) {
	struct shown shown;
	snprintf(shown.text, sizeof shown.text, "%.0f", value);
	return unit == SECONDS ? ui_seconds(value) : unit == BYTES ? ui_bytes(value) : shown;
}

/* "user 800 ms -> 410 ms"; "" if a side does not have it. */
static void resource_pair(const json_t *from, const json_t *to, const struct resource *resource, char *text,
                          size_t size) {
	double before = resource_of(from, resource), after = resource_of(to, resource);
	*text = '\0';
	if (json_is_object(from) && isfinite(before) && isfinite(after))
		snprintf(text, size, "%s %s -> %s", resource->name, resource_text(before, resource->unit).text,
		         resource_text(after, resource->unit).text);
	else if (!json_is_object(from) && isfinite(after))
		snprintf(text, size, "%s %s", resource->name, resource_text(after, resource->unit).text);
}

/* As many in a line as fit. */
static void resource_put(const char *text, int *column, FILE *out) {
	bool fits = *column && *column + 2 + (int)strlen(text) <= WIDTH;
	if (!*column)
		fprintf(out, "%-*s", RESULTS_INDENT, "resources:");
	else if (fits)
		fputs(", ", out);
	else
		fprintf(out, ",\n%*s", RESULTS_INDENT, "");
	*column = (fits ? *column + 2 : RESULTS_INDENT) + fprintf(out, "%s", text);
}

/* User and system time, memory, faults and switches, baseline -> best; prints nothing if neither is known. They are
 * those of one run, so that another may differ. */
static void results_usage_print(const struct result *result, FILE *out) {
	const json_t *from = result->keeps ? NULL : js_at(result->baseline.json, "usage");
	const json_t *to = js_at(result->best.json, "usage");
	int column = 0;
	for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
		char text[200];
		resource_pair(from, to, &resources[i], text, sizeof text);
		if (*text)
			resource_put(text, &column, out);
	}
	if (!column)
		return;
	resource_put("as last measured", &column, out);
	fputc('\n', out);
}

struct shown results_value(double value, const char *unit) {
	struct shown shown = {"-"};
	if (strcmp(unit, "s") == 0)
		return ui_seconds(value);
	if (isfinite(value))
		snprintf(shown.text, sizeof shown.text, fabs(value) >= 1000 && fabs(value) < 1e9 ? "%.0f%s%s" : "%.4g%s%s",
		         value, *unit ? " " : "", unit);
	text_clean(shown.text, false);
	return shown;
}

/* A copy of a foreign text that is safe for a terminal; the caller frees it. */
static char *clean(const char *text) {
	char *copy = mem_strdup(text);
	text_clean(copy, true);
	return copy;
}

static void label(FILE *out, const char *name) {
	fprintf(out, "%-*s", RESULTS_INDENT, name);
}

/* Texts of an array, the first behind the label. */
static void texts_print(const char *name, const json_t *texts, FILE *out) {
	js_each (text, texts) {
		mem_auto char *shown = clean(json_is_string(text) ? json_string_value(text) : "");
		label(out, text_at ? "" : name);
		fprintf(out, "%s\n", shown);
	}
}

/* Older results may name another setting after a tie. */
static void line_print(struct ui *ui, const struct result *result, FILE *out) {
	bool open = !result->decided, keep = result->keeps || result->verdict == VERDICT_TIE;
	const char *text = js_string_or(result->program, "line", NULL);
	if (!text || !result->best.json)
		return;
	mem_auto char *line = clean(keep ? js_string_or(result->program, "baseline_line", text) : text);
	bool other = result->verdict == VERDICT_NOT_SAME;
	label(out, keep ? "no change:" : open ? "best so far:" : other ? "this is:" : "run it as:");
	fprintf(out, "%s%s%s%s\n", keep ? "keep running it as " : "", ui_style(ui, UI_BOLD), line, ui_style(ui, UI_PLAIN));
}

/* The verdict above has the bound that the pairs prove; another one here would contradict it. */
static void tie_print(const struct result *result, FILE *out) {
	if (result->closest > 0)
		fprintf(out, "in the search, where the closest of the others took %.3g times as long\n", result->closest);
	else if (result_alone(result))
		fprintf(out, "with nothing, because every other setting%s %s\n",
		        result_tried_all(result) ? "" : " that was tried",
		        result->censored > 0 ? "takes clearly longer or fails" : "fails");
	else if (result_single(result))
		fprintf(out, "with itself in %lld pairs, which shows the noise\n", (long long)result->pairs);
	else
		fprintf(out, "the best of the others with what you run today, in %lld pairs\n", (long long)result->pairs);
}

static void undecided_print(const struct result *result, const char *today, FILE *out) {
	bool met = result->compared;
	long long pairs = result->pairs, cut = (long long)js_int_or(result->json, "cut_pairs", 0);
	if (met && result->keeps)
		fprintf(out, "the best of the others with what you run today, in %lld pairs\n", pairs);
	else if (met)
		fprintf(out, "with `%s` in %lld pairs\n", today, pairs);
	else if (!result->best.json)
		fputs("with nothing, because no run has ended\n", out);
	else if (result_unmet(result))
		fputs("with nothing, because the others were cut short; a quiet machine would decide\n", out);
	else if (result_untried(result))
		fputs("with nothing, because nothing else was tried\n", out);
	else if (!result->keeps && cut > 0)
		fprintf(out, "with `%s` in %lld pair%s, in which its runs were cut short\n", today, cut, cut == 1 ? "" : "s");
	else if (result->keeps)
		fputs("with nothing, because no other setting was better in the search\n", out);
	else if (json_is_null(js_at(result->json, "stopped")))
		fprintf(out, "it was interrupted before the comparison with `%s`\n", today);
	else
		fprintf(out, "too little time was left to compare it with `%s`\n", today);
}

/* The message usually ends with a line of the output, which is not repeated. */
static void message_shorten(char *message, const json_t *lines) {
	js_each (line, lines) {
		char *text = clean(json_is_string(line) ? json_string_value(line) : ""), *at = strstr(message, text);
		if (*text && at && at - message > 2 && !at[strlen(text)] && strncmp(at - 2, ": ", 2) == 0)
			at[-2] = '\0';
		free(text);
	}
}

/* How a baseline ended that fails: the line to try by hand, with the input that it had. */
static void no_baseline_print(const struct result *result, const char *today, FILE *out) {
	const struct setup *baseline = &result->baseline;
	const json_t *lines = js_at(baseline->json, "output");
	bool input = json_object_get(result->problem, "input");
	mem_auto char *message = clean(baseline->message ? baseline->message : "");
	message_shorten(message, lines);
	label(out, "today:");
	fprintf(out, "%s%s\n", today, input ? "" : " </dev/null");
	label(out, result_is_rejected(result) ? "rejected:" : "it failed:");
	fprintf(out, "%s\n", *message ? message : baseline->status ? baseline->status : "?");
	texts_print("it printed:", lines, out);
}

static void compared_print(const struct result *result, FILE *out) {
	mem_auto char *today = clean(js_string_or(result->program, "baseline_line", "the baseline"));
	bool failed = result->verdict == VERDICT_NO_BASELINE;
	if (!failed)
		label(out, "compared:");
	if (result->faster)
		fprintf(out, "with `%s` in %lld pairs%s\n", today, (long long)result->pairs,
		        result_medians_differ(result) ? ", whose ratios give the speedup" : "");
	else if (result->verdict == VERDICT_TIE)
		tie_print(result, out);
	else if (failed)
		no_baseline_print(result, today, out);
	else
		undecided_print(result, today, out);
}

/* Some options concern what is printed, others the files and processes. */
static void settle_print(const json_t *differs, const char *otherwise, FILE *out) {
	static const char prints[] = "it prints ";
	bool output = false, files = false;
	js_each (clause, differs) {
		const char *text = json_is_string(clause) ? json_string_value(clause) : "";
		bool printed = strncmp(text, prints, sizeof prints - 1) == 0;
		output = output || printed;
		files = files || !printed;
	}
	const char *options = output && files ? ", or --expect-output same|any with --expect-files,"
	                      : output        ? " or --expect-output same|any"
	                                      : " or --expect-files";
	fprintf(out, "%*s--verify CMD%s settles it%s\n", RESULTS_INDENT, "", options, otherwise);
}

/* A proof of its times is none of its reliability. */
static void unreliable_print(const struct result *result, FILE *out) {
	js_each (failed, json_object_get(result->json, "failed")) {
		long long times = (long long)js_int_or(failed, "times", 0);
		if (times < 1 || result->keeps || !json_equal(json_object_get(failed, "config"), result->best.config))
			continue;
		mem_auto char *message = clean(js_string_or(failed, "message", ""));
		label(out, "careful:");
		mem_auto char *often = times > 1 ? mem_printf("%lld times", times) : mem_strdup("once");
		fprintf(out, "this setting failed %s after the search: %s\n", often, message);
	}
}

char *results_left_out(const json_t *result) {
	const json_t *left = json_object_get(result, "other_work"), *differs = json_object_get(left, "differs");
	if (json_array_size(differs) == 0)
		return NULL;
	mem_auto char *config = results_config(json_object_get(left, "config"), js_at(result, "baseline.config"));
	mem_auto char *first = clean(json_string_value(json_array_get(differs, 0)));
	return mem_printf("%s (%s), because %s", config,
	                  results_value(js_real_or(left, "median", NAN), js_string_or(left, "unit", "")).text, first);
}

void results_other_work_print(const json_t *result, FILE *out) {
	mem_auto char *left_out = results_left_out(result);
	if (left_out) {
		label(out, "left out:");
		fprintf(out, "%s;\n", left_out);
		settle_print(js_at(result, "other_work.differs"), "", out);
	}
	if (verdict_of(result) != VERDICT_NOT_SAME)
		return;
	texts_print("other work:", js_at(result, "evidence.differs"), out);
	settle_print(js_at(result, "evidence.differs"), "; --anyway uses it as it is", out);
}

void results_program_print(struct ui *ui, const struct result *result, FILE *out) {
	line_print(ui, result, out);
	unreliable_print(result, out);
	results_worth_print(result->json, out);
	compared_print(result, out);
	results_other_work_print(result->json, out);
	results_effects_print(result, out);
	results_usage_print(result, out);
	texts_print("notes:", js_at(result->json, "notes"), out);
}

/* A word that is empty or has blanks is put in quotes, so that one sees where it ends. */
static char *value_shown(const json_t *member) {
	struct value value;
	if (!value_from_json(member, &value))
		return mem_strdup("?");
	if (value.type != VALUE_WORD || (*value.as.w && !strchr(value.as.w, ' ')))
		return value_string(value);
	char quote = strchr(value.as.w, '\'') ? '"' : '\'';
	return mem_printf("%c%s%c", quote, value.as.w, quote);
}

char *results_config(const json_t *config, const json_t *base) {
	char *text = mem_strdup("");
	js_members (name, member, config) {
		if (base && json_equal(member, json_object_get(base, name)))
			continue;
		mem_auto char *shown = value_shown(member);
		mem_append(&text, "%s%s=%s", *text ? " " : "", name, shown);
	}
	text_clean(text, false);
	return text;
}

char *results_list(const json_t *array) {
	char *text = mem_strdup("");
	js_each (one, array)
		mem_append(&text, "%s%s", one_at ? ", " : "", json_is_string(one) ? json_string_value(one) : "");
	text_clean(text, false);
	return text;
}

char *results_problem(const json_t *problem) {
	const char *command = js_string_or(problem, "command", NULL);
	js_auto json_t *others = json_copy((json_t *)problem);
	if (command)
		json_object_del(others, "command");
	mem_auto char *values = results_config(others, NULL);
	char *text = command ? mem_printf("%s%s%s", command, *values ? "  " : "", values) : mem_strdup(values);
	text_clean(text, false);
	return text;
}

enum { PART_SIZE = 512 /* a strategy's words about itself may fill a line */ };

/* The parts of a progress line, in order. */
enum part {
	PART_NAME,
	PART_BAR,
	PART_BEST,
	PART_RATE,
	PART_FAILED,
	PART_ETA,
	PART_BUILDS,
	PART_IMPORTANCE,
	PART_NOTE,
	PARTS
};

/* Drops the least important parts until the line fits. */
static void parts_join(struct ui *ui, char parts[PARTS][PART_SIZE]) {
	static const enum part least[] = {PART_NOTE,   PART_BAR,    PART_IMPORTANCE, PART_RATE,
	                                  PART_BUILDS, PART_FAILED, PART_BEST,       PART_ETA};
	int width = ui_progress_width(ui), total = 0;
	for (size_t i = 0; i < PARTS; i++)
		total += ui_columns(parts[i], strlen(parts[i]));
	for (size_t i = 0; width && total > width && i < sizeof least / sizeof *least; i++) {
		total -= ui_columns(parts[least[i]], strlen(parts[least[i]]));
		*parts[least[i]] = '\0';
	}
	ui_progress(ui, "%s%s%s%s%s%s%s%s%s", parts[PART_NAME], parts[PART_BAR], parts[PART_BEST], parts[PART_RATE],
	            parts[PART_FAILED], parts[PART_ETA], parts[PART_BUILDS], parts[PART_IMPORTANCE], parts[PART_NOTE]);
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

/* "block and schedule matter most", the end of what the model says of itself; NULL for other notes. */
static const char *importance_of(const char *note) {
	static const char END[] = " most";
	const char *last = note ? strrchr(note, ';') : NULL;
	size_t length = last ? strlen(last) : 0;
	return length > sizeof END && strcmp(last + length - (sizeof END - 1), END) == 0 ? last + 2 : NULL;
}

/* The rate counts trials of the search; those of the final comparison are runs of a few configurations. */
static void progress_notes(const struct tune_progress *p, char parts[PARTS][PART_SIZE]) {
	const char *importance = importance_of(p->note);
	if (p->phase == TUNE_SEARCH && p->evaluations > 1 && p->elapsed > 0)
		snprintf(parts[PART_RATE], sizeof *parts, "  %.2g/s", (double)p->evaluations / p->elapsed);
	if (importance)
		snprintf(parts[PART_IMPORTANCE], sizeof *parts, "  %s", importance);
	else if (p->note)
		snprintf(parts[PART_NOTE], sizeof *parts, "  %s", p->note);
}

void results_progress(struct ui *ui, const struct tune_progress *p) {
	char parts[PARTS][PART_SIZE] = {""}, gain[32] = "";
	if (isfinite(p->gain))
		snprintf(gain, sizeof gain, " (%.2fx)", p->gain);
	snprintf(parts[PART_NAME], sizeof *parts, "%s  %s %llu/%llu", p->kernel, tune_phase_word(p->phase),
	         (unsigned long long)p->evaluations, (unsigned long long)p->limit);
	if (isfinite(p->best))
		snprintf(parts[PART_BEST], sizeof *parts, "  best %s%s", results_value(p->best, p->unit).text, gain);
	if (isfinite(p->left))
		snprintf(parts[PART_ETA], sizeof *parts, "  ETA %.0f s", p->left);
	if (p->failures)
		snprintf(parts[PART_FAILED], sizeof *parts, "  %llu failed", (unsigned long long)p->failures);
	if (p->building)
		snprintf(parts[PART_BUILDS], sizeof *parts, "  %zu build%s", p->building, p->building == 1 ? "" : "s");
	progress_notes(p, parts);
	progress_bar(ui, p, parts[PART_BAR], sizeof *parts);
	parts_join(ui, parts);
}
