/* SPDX-License-Identifier: BSD-3-Clause */
/* Comma-separated values as people and programs write them (RFC 4180): quoted fields, CRLF, a byte order mark, blank
 * lines, and lines that begin with '#'. The delimiter is the comma, semicolon or tab that the header has most of. The
 * text is not trusted. */
#ifndef BASE_CSV_H
#define BASE_CSV_H
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct csv {
	size_t columns, rows;
	const char **header; /* columns; trimmed */
	const char **cells;  /* rows x columns; trimmed */
	size_t *line;        /* of each row, from 1 */
	const char **notes;  /* the lines that begin with '#', without it */
	size_t note_count;
	char delimiter;
	struct arena *arena;
};

enum { CSV_ROWS_MAX = 200000, CSV_COLUMNS_MAX = 120, CSV_FIELD_MAX = 400, CSV_NOTES_MAX = 100 };

/* name: of the file, for messages; they say NAME:LINE. NULL with ERR_USAGE if it is not such a text, or if a row does
 * not have as many fields as the header. */
struct csv *csv_read(const char *text, size_t size, const char *name, struct err *err);
/* Leaves out rows that repeat the header, as programs do that are run in turn. If rows then agree in all columns but
 * those that were measured, the header begins another table, which is left out; a note "left out: .." says so. */
void csv_headers_drop(struct csv *csv, bool (*measured)(const char *name));
void csv_free(struct csv *csv); /* NULL is fine */
/* Writes a cell with the quotes that it needs. What a spreadsheet would run as a formula gets an apostrophe before it
 * (OWASP, CSV Injection), which csv_read takes away; a number stays a number. */
void csv_write(const char *text, FILE *out);
const char *csv_cell(const struct csv *csv, size_t row, size_t column);
#endif
