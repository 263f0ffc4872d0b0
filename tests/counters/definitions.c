/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formulas of groups against LIKWID's and the manufacturers' definitions (definitions.tsv): both give the same
 * value where each event has some count. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "base/expr/expr.h"
#include "base/json/js.h"
#include "tests/counters/machine.h"
#include "tests/tap.h"

enum { NAMES_MAX = 64 };

/* A count for each name, whoever asks: the same letters and digits, others are one sign. */
static double count_of(const char *name, size_t length) {
	unsigned long long hash = 14695981039346656037ull;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned)(isalnum((unsigned char)name[i]) ? tolower((unsigned char)name[i]) : '_')) *
		       1099511628211ull;
	return 1e6 * (1 + (double)(hash >> 40) / (1 << 24));
}

/* The events of a row: "A | B" is one event with both masks. */
static double row_count(const json_t *row) {
	const char *text = js_string_or(row, "vendor", js_string_or(row, "name", ""));
	double sum = 0;
	for (size_t length; *text; text += length + strspn(text + length, " |")) {
		const char *end = strstr(text, " | ");
		length = end ? (size_t)(end - text) : strlen(text);
		sum += count_of(text, length);
	}
	return sum;
}

static double event_count(const json_t *events, const char *name) {
	double sum = 0;
	bool found = false;
	js_each (row, events)
		if (strcmp(js_string_or(row, "name", ""), name) == 0) {
			sum += row_count(row);
			found = true;
		}
	return found ? sum : count_of(name, strlen(name));
}

/* events: of a plan's group, by our names; NULL: the names are the manufacturer's. */
static double evaluate(const char *text, const json_t *events) {
	struct value values[NAMES_MAX], out;
	struct err err = {0};
	struct expr *expr = expr_parse(text, &err);
	size_t count = expr ? expr_name_count(expr) : NAMES_MAX + 1;
	for (size_t i = 0; count <= NAMES_MAX && i < count; i++) {
		const char *name = expr_name(expr, i);
		values[i] = value_real(events ? event_count(events, name) : count_of(name, strlen(name)));
	}
	double result = count <= NAMES_MAX && expr_eval(expr, values, &out) ? value_number(out) : NAN;
	expr_free(expr);
	return result;
}

static void row_hold(const struct counter_tables *tables, char *line) {
	char *field[5], *rest = line;
	struct err err = {0};
	for (size_t i = 0; i < 5; i++)
		if (!(field[i] = strsep(&rest, "\t\n"))) {
			ok(false, "a row of definitions.tsv has five columns: %s", line);
			return;
		}
	char *metric = strchr(field[1], '.');
	*metric++ = '\0';
	json_t *plan = counter_tables_elsewhere(tables, field[0], NULL, "", &err);
	const json_t *group = json_object_get(json_object_get(plan, "groups"), field[1]), *formula = NULL;
	js_each (one, json_object_get(group, "formulas"))
		if (strcmp(js_string_or(one, "name", ""), metric) == 0)
			formula = one;
	double ours = evaluate(js_string_or(formula, "text", "none"), json_object_get(group, "events")),
		   theirs = evaluate(field[3], NULL);
	ok(formula && fabs(ours / theirs - 1) < 1e-9 && strcmp(js_string_or(formula, "unit", ""), field[2]) == 0,
	   "%s: %s.%s is %s's: %g %s, %g", field[0], field[1], metric, field[4], ours, field[2], theirs);
	json_decref(plan);
}

int main(void) {
	struct err err = {0};
	struct counter_tables *tables = machine_tables(&err);
	char *path = mem_printf("%s/tests/counters/definitions.tsv", getenv("SRCDIR")), line[1024];
	FILE *file = fopen(path, "re");
	if (ok(tables && file, "tables and definitions load%s%s", err.what[0] ? ": " : "", err.what))
		while (fgets(line, sizeof line, file))
			if (line[0] != '#')
				row_hold(tables, line);
	if (file)
		fclose(file);
	counter_tables_free(tables);
	free(path);
	return tap_done();
}
