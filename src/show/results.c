/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/show/results.h"

#include <math.h>

#include "base/json/js.h"
#include "base/text.h"

/* A word that is empty or has blanks is put in quotes, so that one sees where it ends. */
static char *value_shown(const json_t *member) {
	struct value value;
	if (!value_from_json(member, &value))
		return mem_strdup("?");
	int size = value_text(value, NULL, 0) + 1;
	char *text = mem_alloc((size_t)size + 2, 1);
	value_text(value, text, (size_t)size);
	if (value.type == VALUE_WORD && (!*text || strchr(text, ' '))) {
		char quote = strchr(text, '\'') ? '"' : '\'';
		char *quoted = mem_printf("%c%s%c", quote, text, quote);
		free(text);
		return quoted;
	}
	return text;
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
	char parts[PARTS][PART_SIZE] = {""}, best[32], gain[32] = "";
	results_value(p->best, p->unit, best, sizeof best);
	if (isfinite(p->gain))
		snprintf(gain, sizeof gain, " (%.2fx)", p->gain);
	snprintf(parts[PART_NAME], sizeof *parts, "%s  %s %llu/%llu", p->kernel, tune_phase_word(p->phase),
	         (unsigned long long)p->evaluations, (unsigned long long)p->limit);
	if (isfinite(p->best))
		snprintf(parts[PART_BEST], sizeof *parts, "  best %s%s", best, gain);
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
