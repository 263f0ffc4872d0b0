/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the diagnoses, strongest first, and the commands to run next. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/cmd/explain/text.h"

enum { FINDINGS_SHOWN = 5, READINGS_SHOWN = 8, EVIDENCE_SHOWN = 3, NEXT_SHOWN = 4, INDENT = 2, DEEP = 10 };

static void lines_print(const struct explain_text *text, const json_t *finding, const char *list, const char *word) {
	size_t i;
	json_t *one;
	json_array_foreach(json_object_get(finding, list), i, one) {
		if (i >= EVIDENCE_SHOWN && !text->all) {
			explain_more_print(text, DEEP, json_array_size(json_object_get(finding, list)) - i);
			return;
		}
		char *line = mem_printf("%s%s", word, js_string_or(one, "text", ""));
		ui_wrap(text->out, DEEP, DEEP + 2, line);
		free(line);
	}
}

static void finding_print(const struct explain_text *text, const json_t *finding) {
	const char *confidence = js_string_or(finding, "confidence", "low");
	double strength = js_real_or(finding, "strength", 1);
	char gain[48] = "";
	if (strength > 1.005)
		snprintf(gain, sizeof gain, " (up to %.2gx)", strength);
	enum ui_style style = strcmp(confidence, "high") == 0     ? UI_BAD
	                      : strcmp(confidence, "medium") == 0 ? UI_NOTE
	                                                          : UI_DIM;
	fprintf(text->out, "%*s%s%-6.6s%s  ", INDENT, "", ui_style(text->ui, style), confidence,
	        ui_style(text->ui, UI_PLAIN));
	char *line = mem_printf("%s%s", js_string_or(finding, "sentence", "?"), gain);
	ui_wrap_on(text->out, DEEP, DEEP, line);
	free(line);
	lines_print(text, finding, "evidence", "- ");
	if (text->all || strcmp(confidence, "high") != 0)
		lines_print(text, finding, "missing", "? unknown: ");
}

/* The evidence of a reading is mostly the times themselves, so that its first line is enough. */
static void reading_print(const struct explain_text *text, const json_t *reading) {
	if (text->all) {
		finding_print(text, reading);
		return;
	}
	const char *first = js_string_or(json_array_get(json_object_get(reading, "evidence"), 0), "text", NULL);
	char *line = mem_printf("%s", js_string_or(reading, "sentence", "?"));
	fprintf(text->out, "%*s%s%-6.6s%s  ", INDENT, "", ui_style(text->ui, UI_DIM),
	        js_string_or(reading, "confidence", "low"), ui_style(text->ui, UI_PLAIN));
	ui_wrap_on(text->out, DEEP, DEEP, line);
	free(line);
	line = mem_printf("- %s", first ? first : "");
	if (first)
		ui_wrap(text->out, DEEP, DEEP + 2, line);
	free(line);
}

void explain_text_why(const struct explain_text *text) {
	const json_t *findings = json_object_get(text->result, "diagnoses");
	size_t i;
	json_t *one;
	explain_title(text, "why (confidence of each finding)");
	if (json_array_size(findings) == 0)
		ui_wrap(text->out, INDENT, INDENT, "the measurements do not show what holds it back");
	json_array_foreach((json_t *)findings, i, one) {
		if (i >= FINDINGS_SHOWN && !text->all) {
			explain_more_print(text, INDENT, json_array_size(findings) - i);
			break;
		}
		finding_print(text, one);
	}
}

void explain_text_readings(const struct explain_text *text) {
	const json_t *readings = json_object_get(text->result, "readings");
	size_t i;
	json_t *one;
	const char *silence = js_string_or(text->result, "silence", NULL);
	if (silence) {
		explain_title(text, "what the times show");
		ui_wrap(text->out, INDENT, INDENT, silence);
	}
	if (json_array_size(readings) == 0)
		return;
	explain_title(text, "what the times show (confidence of each statement)");
	json_array_foreach((json_t *)readings, i, one) {
		if (i >= READINGS_SHOWN && !text->all) {
			explain_more_print(text, INDENT, json_array_size(readings) - i);
			break;
		}
		reading_print(text, one);
	}
}

static bool is_listed(const json_t *list, const char *command) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)list, i, one) {
		if (strcmp(json_string_value(one), command) == 0)
			return true;
	}
	return false;
}

static void next_add(json_t *list, const json_t *one) {
	const char *next = js_string_or(one, "next", NULL);
	if (next && !is_listed(list, next))
		json_array_append_new(list, json_string(next));
}

/* Each command once. New reference. */
static json_t *commands_of(const json_t *result) {
	static const char *const parts[] = {"diagnoses", "experiments"};
	json_t *list = json_array(), *one;
	size_t i;
	for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
		json_array_foreach(json_object_get(result, parts[p]), i, one) next_add(list, one);
	}
	next_add(list, json_object_get(result, "roofline"));
	return list;
}

/* Commands are never wrapped, so that they can be copied. */
void explain_text_next(const struct explain_text *text) {
	json_t *commands = commands_of(text->result), *one;
	size_t i;
	if (json_array_size(commands))
		explain_title(text, "next steps (`sweetspot explain --probe` runs them)");
	json_array_foreach(commands, i, one) {
		if (i >= NEXT_SHOWN && !text->all)
			break;
		char *command = mem_strdup(json_string_value(one));
		text_clean(command, false);
		fprintf(text->out, "%*s%s\n", INDENT, "", command);
		free(command);
	}
	json_decref(commands);
}
