/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/show/measured.h"

#include <math.h>

#include "base/csv.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

const struct opt measured_options[] = {
	OPT_GROUP("Results"),
	{"export", 0, "FORMAT", "print what was measured as markdown, csv or json", 0},
	{0},
};

int measured_format_read(const struct opt_args *args, enum measured_format *format, struct err *err) {
	static const char *const words[] = {"", "markdown", "csv", "json"};
	const char *word = opt_get(args, "export", NULL);
	*format = MEASURED_NONE;
	if (!word)
		return 0;
	for (enum measured_format i = MEASURED_MARKDOWN; i <= MEASURED_JSON; i++)
		if (strcmp(word, words[i]) == 0)
			*format = i;
	if (*format == MEASURED_NONE)
		return err_set(err, ERR_USAGE, "the formats are markdown, csv and json", "--export cannot be \"%.60s\"", word);
	if (opt_has(args, "json"))
		return err_set(err, ERR_USAGE, "give one of them", "--export and --json both print to stdout");
	return 0;
}

/* The names of all columns, as the keys of an object; a new reference. */
static json_t *columns_of(const json_t *rows) {
	json_t *columns = json_object();
	js_each (row, rows)
		js_members (name, value, row)
			json_object_set_new(columns, name, json_true());
	return columns;
}

/* The caller frees it; "" for a missing value. */
static char *text_of(const json_t *value) {
	char *text;
	if (json_is_integer(value))
		return mem_printf("%lld", (long long)json_integer_value(value));
	if (json_is_real(value))
		return isfinite(json_real_value(value)) ? mem_printf("%.6g", json_real_value(value)) : mem_strdup("");
	if (json_is_boolean(value))
		return mem_strdup(json_is_true(value) ? "true" : "false");
	text = mem_strdup(json_is_string(value) ? json_string_value(value) : "");
	text_clean(text, false);
	return text;
}

/* A bar would end the cell. */
static void markdown_cell(const char *text, FILE *out) {
	fputc(' ', out);
	for (; *text; text++)
		fprintf(out, *text == '|' ? "\\|" : "%c", *text);
	fputs(" |", out);
}

static void cell(enum measured_format format, bool first, const char *text, FILE *out) {
	if (format == MEASURED_MARKDOWN) {
		fputs(first ? "|" : "", out);
		markdown_cell(text, out);
	} else {
		fputs(first ? "" : ",", out);
		csv_write(text, out);
	}
}

static void rule(size_t columns, FILE *out) {
	fputc('|', out);
	for (size_t i = 0; i < columns; i++)
		fputs("---|", out);
	fputc('\n', out);
}

static void table_write(enum measured_format format, const json_t *rows, FILE *out) {
	js_auto json_t *columns = columns_of(rows);
	bool first = true;
	js_members (name, mark, columns) {
		cell(format, first, name, out);
		first = false;
	}
	fputc('\n', out);
	if (format == MEASURED_MARKDOWN)
		rule(json_object_size(columns), out);
	js_each (row, rows) {
		first = true;
		js_members (name, mark, columns) {
			mem_auto char *text = text_of(json_object_get(row, name));
			cell(format, first, text, out);
			first = false;
		}
		fputc('\n', out);
	}
}

void measured_write(enum measured_format format, const json_t *rows, FILE *out) {
	if (format != MEASURED_JSON) {
		table_write(format, rows, out);
		return;
	}
	js_auto json_t *document = json_pack("{s:s,s:O}", "schema", "sweetspot-measured/1", "rows", rows);
	js_write(document, out);
}

/* The cases are written as they come; the head, which counts them, at the end. */
struct junit {
	char *suite, *cases;
	size_t size, count[3];
	FILE *out;
};

struct junit *junit_new(const char *suite) {
	struct junit *junit = mem_alloc(1, sizeof *junit);
	junit->suite = mem_strdup(suite);
	junit->out = open_memstream(&junit->cases, &junit->size);
	return junit;
}

void junit_free(struct junit *junit) {
	if (junit->out)
		fclose(junit->out);
	free(junit->cases);
	free(junit->suite);
	free(junit);
}

static void put_attribute(FILE *out, const char *name, const char *text) {
	mem_auto char *clean = mem_strdup(text);
	text_clean(clean, false);
	fprintf(out, " %s=\"", name);
	text_markup(out, clean);
	putc('"', out);
}

void junit_add(struct junit *junit, const char *group, const char *name, double seconds, enum junit_result result,
               const char *message) {
	FILE *out = junit->out;
	if (!out)
		return;
	junit->count[result]++;
	fputs("  <testcase", out);
	put_attribute(out, "classname", group);
	put_attribute(out, "name", name);
	if (isfinite(seconds))
		fprintf(out, " time=\"%.9g\"", seconds);
	fputs(result == JUNIT_FAILED    ? ">\n    <failure"
	      : result == JUNIT_SKIPPED ? ">\n    <skipped"
	                                : ">\n    <system-out",
	      out);
	if (result == JUNIT_PASSED) {
		mem_auto char *clean = mem_strdup(message);
		text_clean(clean, false);
		putc('>', out);
		text_markup(out, clean);
		fputs("</system-out>", out);
	} else {
		put_attribute(out, "message", message);
		fputs("/>", out);
	}
	fputs("\n  </testcase>\n", out);
}

int junit_write(const struct junit *junit, const char *path, struct err *err) {
	mem_auto char *text = NULL;
	size_t size = 0;
	FILE *out = junit->out && fflush(junit->out) == 0 ? open_memstream(&text, &size) : NULL;
	if (!out)
		return err_set(err, ERR_FAILED, NULL, "out of memory");
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite", out);
	put_attribute(out, "name", junit->suite);
	fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n%s</testsuite>\n",
	        junit->count[0] + junit->count[1] + junit->count[2], junit->count[JUNIT_FAILED],
	        junit->count[JUNIT_SKIPPED], junit->cases);
	return fclose(out) ? err_set(err, ERR_FAILED, NULL, "out of memory") : sys_write_file(path, text, size, err);
}
