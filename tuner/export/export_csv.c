/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RFC 4180: one row for each entry, and CRLF. Configurations, problems and
 * environments are canonical JSON in one field, which is unambiguous. Hidden characters of any field are written as
 * JSON does. */
#include "base/csv.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "base/value.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

static void put_byte(FILE *out, char c) {
	putc(c, out);
}

static void put_text(FILE *out, const char *text) {
	mem_auto char *shown = NULL;
	size_t size;
	FILE *memory = open_memstream(&shown, &size);
	if (!memory)
		return;
	export_bytes(memory, text, put_byte, text_code_point);
	fclose(memory);
	csv_write(shown, out);
}

static void put_number(FILE *out, const json_t *json) {
	struct value value;
	char text[64];
	if (json_is_number(json) && value_from_json(json, &value) && value_text(value, text, sizeof text) > 0)
		fputs(text, out);
}

/* Controls in JSON are escaped, so that a terminal shows what the field holds. */
static void put_canonical(FILE *out, const json_t *json) {
	mem_auto char *text = js_canonical(json), *tame = NULL;
	size_t size;
	FILE *memory = text ? open_memstream(&tame, &size) : NULL;
	if (memory) {
		js_text_write(text, memory);
		fclose(memory);
		put_text(out, tame);
	}
}

/* null and absent: an empty field */
static void put_json(FILE *out, const json_t *json) {
	if (json_is_string(json))
		put_text(out, json_string_value(json));
	else if (json_is_number(json))
		put_number(out, json);
	else if (json && !json_is_null(json))
		put_canonical(out, json);
}

static const struct column {
	const char *name, *path;
} columns[] = {
	{"kernel", "kernel"},
	{"problem", "problem"},
	{"objective", "objective"},
	{"config", "config"},
	{"environment", "environment"},
	{"median", "median"},
	{"ci_low", "ci.0"},
	{"ci_high", "ci.1"},
	{"unit", "unit"},
	{"baseline_config", "baseline.config"},
	{"baseline_median", "baseline.median"},
	{"baseline_ci_low", "baseline.ci.0"},
	{"baseline_ci_high", "baseline.ci.1"},
	{"speedup", "speedup.ratio"},
	{"speedup_ci_low", "speedup.ci.0"},
	{"speedup_ci_high", "speedup.ci.1"},
	{VERDICT_MEMBER, VERDICT_MEMBER},
	{"checked", "checked.how"},
	{"checked_runs", "checked.runs"},
	{"noise_floor", "noise_floor"},
	{"state", "state"},
	{"source", "source"},
	{"strategy", "provenance.strategy"},
	{"seed", "provenance.seed"},
	{"evaluations", "provenance.evaluations"},
	{"measured", "provenance.measured"},
	{"version", "provenance.version"},
	{"command", "provenance.command"},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static int table_write(const struct profile *profile, FILE *out, struct err *err) {
	for (size_t i = 0; i < COLUMNS; i++)
		fprintf(out, "%s,", columns[i].name);
	fputs("fingerprint\r\n", out);
	for (size_t row = 0; row < profile->count; row++) {
		for (size_t i = 0; i < COLUMNS; i++) {
			put_json(out, js_at(profile->entries[row].json, columns[i].path));
			putc(',', out);
		}
		put_text(out, profile->machine.fingerprint);
		fputs("\r\n", out);
	}
	return export_end(out, "table", err);
}

const struct export_format export_csv = {
	.name = "csv",
	.summary = "a table for spreadsheets and scripts (RFC 4180), one row a recommendation",
	.data = true,
	.write = table_write,
};
