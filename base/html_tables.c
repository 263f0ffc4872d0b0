/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/html_tables.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

/* Copies the text of a cell of HTML without tags, line breaks and entities. */
static const char *cell_write(const char *at, const char *end, FILE *out) {
	static const char *const entities[][2] = {{"&nbsp;", " "},        {"&amp;", "&"},   {"&lt;", "<"},
	                                          {"&gt;", ">"},          {"&times;", "x"}, {"&plusmn;", "\xc2\xb1"},
	                                          {"&micro;", "\xc2\xb5"}};
	while (at < end && strncasecmp(at, "</t", 3) != 0 && strncasecmp(at, "<t", 2) != 0) {
		size_t i = 0, entity = sizeof entities / sizeof *entities;
		while (i < entity && strncmp(at, entities[i][0], strlen(entities[i][0])) != 0)
			i++;
		if (*at == '<')
			at += strcspn(at, ">");
		else
			fputs(i < entity ? entities[i][1] : strchr("|\n\r\t", *at) ? " " : (char[2]){*at}, out);
		at += i < entity ? strlen(entities[i][0]) : *at != '\0';
	}
	return at;
}

static bool is_cell(const char *at) {
	return strncasecmp(at, "<td", 3) == 0 || (strncasecmp(at, "<th", 3) == 0 && strchr(" >", at[3]));
}

static bool is_row(const char *at) {
	return strncasecmp(at, "<tr", 3) == 0;
}

/* Writes the cells of the row at whose tag a text begins and moves to their end; returns their number. *spans: one of
 * them spans several others. */
static size_t row_write(const char **row, const char *end, FILE *out, bool *spans) {
	const char *at = *row + 3;
	size_t cells = 0;
	*spans = false;
	while (at < end && !is_row(at)) {
		bool cell = is_cell(at);
		size_t length = *at == '<' ? strcspn(at, ">") + 1 : 1;
		*spans = *spans || (cell && memmem(at, length, "span=", 5));
		at += length;
		if (!cell || at >= end)
			continue;
		fputs(cells++ ? "|" : "", out);
		at = cell_write(at, end, out);
	}
	*row = at < end ? at : end;
	return cells;
}

/* False: cells span several others. */
static bool table_write(const char *at, const char *end, FILE *out) {
	bool spans = false, fine = true;
	for (size_t rows = 0; at < end && fine;) {
		char *text = NULL;
		size_t size, cells = 0;
		FILE *row = is_row(at) ? open_memstream(&text, &size) : NULL;
		at += !row;
		if (!row)
			continue;
		cells = row_write(&at, end, row, &spans);
		fclose(row);
		fine = !spans || cells == 1;
		if (spans)
			fprintf(out, "\n## %s\n\n", text + strspn(text, " "));
		else if (cells)
			fprintf(out, "|%s|\n", text);
		for (size_t i = 0; i < cells && !spans && !rows; i++)
			fputs(i + 1 < cells ? "|---" : "|---|\n", out);
		rows += cells && !spans;
		free(text);
	}
	putc('\n', out);
	return fine;
}

char *html_plain(const char *text, size_t size, size_t *plain_size) {
	char *plain = NULL, *copy = mem_printf("%.*s", (int)size, text);
	bool tag = copy[strspn(copy, " \t\r\n")] == '<', fine = strcasestr(copy, "<tr");
	size_t written = 0;
	FILE *out = fine ? open_memstream(&plain, &written) : NULL;
	for (const char *at = copy; out && *at && fine;) {
		const char *table = strcasestr(at, tag ? "<tr" : "<table"), *end = table ? strcasestr(table, "</table") : NULL;
		end = table && !end ? table + strlen(table) : end;
		if (!tag || !table)
			fwrite(at, 1, tag ? 0 : table ? (size_t)(table - at) : strlen(at), out);
		fine = !table || table_write(table, end, out);
		at = end ? end + strcspn(end, ">") : "";
		at += *at == '>';
	}
	if (out)
		fclose(out);
	free(copy);
	if (!fine) {
		free(plain);
		return NULL;
	}
	*plain_size = plain ? written : *plain_size;
	return plain;
}
