/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/csv.h"

#include <ctype.h>

#include "base/mem.h"
#include "base/text.h"

enum { HEADED_MOST = 400 };

struct reader {
	struct csv *csv;
	const char *at, *end, *name;
	size_t line;
	const char *fields[CSV_COLUMNS_MAX];
	size_t count, room;
	struct err *err;
};

static int refuse(struct reader *reader, size_t line, const char *what) {
	return err_set(reader->err, ERR_USAGE, NULL, "%s:%zu: %s", reader->name, line, what);
}

static bool is_newline(char c) {
	return c == '\n' || c == '\r';
}

static void newline_skip(struct reader *reader) {
	if (reader->at < reader->end && *reader->at == '\r')
		reader->at++;
	if (reader->at < reader->end && *reader->at == '\n')
		reader->at++;
	reader->line++;
}

/* A spreadsheet runs text that begins with one of these as a formula; it shows text behind an apostrophe as it is. */
static bool is_formula(const char *text) {
	text += strspn(text, "'");
	return *text && strchr("=+-@\t\r", *text);
}

static bool is_number(const char *text) {
	char *end;
	bool digits = *text == '-' ? isdigit((unsigned char)text[1]) || text[1] == '.' : isdigit((unsigned char)*text);
	strtod(text, &end);
	return digits && !*end;
}

void csv_write(const char *text, FILE *out) {
	bool guard = is_formula(text) && !is_number(text), quote = guard || strpbrk(text, ",;\"\r\n\t#");
	fputs(guard ? "\"'" : quote ? "\"" : "", out);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputs(quote ? "\"" : "", out);
}

/* The reader is behind the opening quote. Two quotes mean one. */
static char *quoted_read(struct reader *reader) {
	size_t begun = reader->line, length = 0;
	char field[CSV_FIELD_MAX + 1];
	for (; reader->at < reader->end; reader->at++) {
		if (*reader->at == '"' && (reader->at + 1 == reader->end || reader->at[1] != '"')) {
			reader->at++;
			field[length] = '\0';
			return arena_strdup(reader->csv->arena, field + (*field == '\'' && is_formula(field)));
		}
		reader->at += *reader->at == '"';
		reader->line += *reader->at == '\n';
		if (length == CSV_FIELD_MAX) {
			refuse(reader, begun, "a field is too long");
			return NULL;
		}
		field[length++] = *reader->at;
	}
	refuse(reader, begun, "a quoted field is not closed");
	return NULL;
}

static bool ends_field(const struct reader *reader) {
	return reader->at == reader->end || *reader->at == reader->csv->delimiter || is_newline(*reader->at);
}

static char *trimmed(struct arena *arena, const char *from, size_t length) {
	while (length && (*from == ' ' || *from == '\t')) {
		from++;
		length--;
	}
	while (length && (from[length - 1] == ' ' || from[length - 1] == '\t'))
		length--;
	return arena_printf(arena, "%.*s", (int)length, from);
}

static char *plain_read(struct reader *reader) {
	const char *from = reader->at;
	while (!ends_field(reader))
		reader->at++;
	if (reader->at - from <= CSV_FIELD_MAX)
		return trimmed(reader->csv->arena, from, (size_t)(reader->at - from));
	refuse(reader, reader->line, "a field is too long");
	return NULL;
}

static char *field_read(struct reader *reader) {
	while (reader->at < reader->end && *reader->at == ' ')
		reader->at++;
	if (reader->at == reader->end || *reader->at != '"')
		return plain_read(reader);
	reader->at++;
	char *field = quoted_read(reader);
	while (field && reader->at < reader->end && *reader->at == ' ')
		reader->at++;
	if (field && !ends_field(reader)) {
		refuse(reader, reader->line, "a quoted field is followed by other characters");
		return NULL;
	}
	if (field)
		text_clean(field, false);
	return field;
}

static int record_read(struct reader *reader) {
	for (reader->count = 0;;) {
		if (reader->count == CSV_COLUMNS_MAX)
			return refuse(reader, reader->line, "too many fields");
		char *field = field_read(reader);
		if (!field)
			return -1;
		reader->fields[reader->count++] = field;
		if (reader->at == reader->end || is_newline(*reader->at))
			break;
		reader->at++;
	}
	if (reader->at < reader->end)
		newline_skip(reader);
	return 0;
}

/* The text in the last column may have commas that nobody quoted: "CUDA error: f(a, b) failed". */
static void last_join(struct reader *reader, size_t columns) {
	while (columns && reader->count > columns && strchr(",;", reader->csv->delimiter) &&
	       isalpha((unsigned char)*reader->fields[columns - 1]) &&
	       strlen(reader->fields[columns - 1]) + strlen(reader->fields[columns]) + 2 <= CSV_FIELD_MAX) {
		const char **field = &reader->fields[columns - 1];
		field[0] = arena_printf(reader->csv->arena, "%s%c %s", field[0], reader->csv->delimiter, field[1]);
		memmove(field + 1, field + 2, (--reader->count - columns) * sizeof *field);
	}
}

static int row_add(struct reader *reader, size_t line) {
	struct csv *csv = reader->csv;
	last_join(reader, csv->columns);
	if (reader->count != csv->columns) {
		err_set(reader->err, ERR_USAGE, NULL, "%s:%zu: %zu field%s, but the header has %zu", reader->name, line,
		        reader->count, reader->count == 1 ? "" : "s", csv->columns);
		if (reader->count > 1 && csv->columns == 2 * reader->count - 1) /* the first row stands in the header's line */
			return err_hint(reader->err,
			                "in \"%.60s\" the last name and the first row run together: begin a new line between them",
			                csv->header[reader->count - 1]);
		return reader->count == 1 ? err_hint(reader->err, "line %zu looks like a title or a note: remove it", line)
		                          : err_hint(reader->err, "each row needs a field for each column; write empty fields");
	}
	if (csv->rows == CSV_ROWS_MAX)
		return refuse(reader, line, "too many rows");
	if (csv->rows == reader->room) {
		reader->room = reader->room ? 2 * reader->room : 64;
		csv->cells = mem_grow(csv->cells, reader->room * csv->columns, sizeof *csv->cells);
		csv->line = mem_grow(csv->line, reader->room, sizeof *csv->line);
	}
	memcpy(csv->cells + csv->rows * csv->columns, reader->fields, csv->columns * sizeof *csv->cells);
	csv->line[csv->rows++] = line;
	return 0;
}

static void header_set(struct reader *reader) {
	struct csv *csv = reader->csv;
	csv->columns = reader->count;
	csv->header = arena_alloc(csv->arena, csv->columns, sizeof *csv->header);
	memcpy(csv->header, reader->fields, csv->columns * sizeof *csv->header);
}

static void note_add(struct reader *reader) {
	struct csv *csv = reader->csv;
	const char *from = ++reader->at;
	while (reader->at < reader->end && !is_newline(*reader->at))
		reader->at++;
	size_t length = (size_t)(reader->at - from);
	if (csv->note_count < CSV_NOTES_MAX && length <= CSV_FIELD_MAX)
		csv->notes[csv->note_count++] = trimmed(csv->arena, from, length);
	newline_skip(reader);
}

static char delimiter_of(const char *at, const char *end) {
	static const char known[] = ",;\t";
	size_t count[sizeof known - 1] = {0}, best = 0;
	for (bool quoted = false; at < end && (quoted || !is_newline(*at)); at++) {
		quoted ^= *at == '"';
		for (size_t i = 0; i < sizeof known - 1 && !quoted; i++)
			count[i] += *at == known[i];
	}
	for (size_t i = 1; i < sizeof known - 1; i++)
		best = count[i] > count[best] ? i : best;
	return known[best];
}

static bool is_blank_line(const struct reader *reader) {
	const char *at = reader->at;
	while (at < reader->end && (*at == ' ' || (*at == '\t' && reader->csv->delimiter != '\t')))
		at++;
	return at == reader->end || is_newline(*at);
}

static int lines_read(struct reader *reader) {
	while (reader->at < reader->end) {
		size_t line = reader->line;
		if (*reader->at == '#')
			note_add(reader);
		else if (is_blank_line(reader)) {
			while (reader->at < reader->end && !is_newline(*reader->at))
				reader->at++;
			newline_skip(reader);
		} else {
			if (!reader->csv->header)
				reader->csv->delimiter = delimiter_of(reader->at, reader->end);
			if (record_read(reader))
				return -1;
			if (!reader->csv->header)
				header_set(reader);
			else if (row_add(reader, line))
				return -1;
		}
	}
	return 0;
}

/* Refuses bytes that are not UTF-8 text with the line where they are. */
static int bytes_check(struct reader *reader) {
	size_t line = 1;
	for (const char *at = reader->at; at < reader->end;) {
		size_t length = text_utf8(at, (size_t)(reader->end - at));
		if (length == 0 || (*at >= 0 && *at < ' ' && !is_newline(*at) && *at != '\t') || *at == 127)
			return refuse(reader, line, "this is not UTF-8 text");
		line += *at == '\n';
		at += length;
	}
	return 0;
}

struct csv *csv_read(const char *text, size_t size, const char *name, struct err *err) {
	struct csv *csv = mem_alloc(1, sizeof *csv);
	struct reader reader = {.csv = csv, .at = text, .end = text + size, .name = name, .line = 1, .err = err};
	csv->arena = arena_new();
	csv->delimiter = ',';
	csv->notes = arena_alloc(csv->arena, CSV_NOTES_MAX, sizeof *csv->notes);
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		reader.at += 3;
	int failed = bytes_check(&reader) || lines_read(&reader);
	if (!failed && csv->rows == 0)
		failed = err_set(err, ERR_USAGE, "the first line names the columns; each further line is one measurement",
		                 "%s: the table does not have any rows", name);
	if (!failed)
		return csv;
	csv_free(csv);
	return NULL;
}

void csv_free(struct csv *csv) {
	if (!csv)
		return;
	free(csv->cells);
	free(csv->line);
	arena_free(csv->arena);
	free(csv);
}

const char *csv_cell(const struct csv *csv, size_t row, size_t column) {
	return csv->cells[row * csv->columns + column];
}

/* Is a row the same as these cells, perhaps but for what was measured? */
static bool is_like(const struct csv *csv, size_t row, const char *const *cells, bool (*measured)(const char *name)) {
	size_t c = 0;
	while (c < csv->columns && ((measured && measured(csv->header[c])) || strcmp(csv_cell(csv, row, c), cells[c]) == 0))
		c++;
	return c == csv->columns;
}

void csv_headers_drop(struct csv *csv, bool (*measured)(const char *name)) {
	size_t kept = 0, heads = 0, first = csv->rows;
	for (size_t r = 0; r < csv->rows; r++)
		if (is_like(csv, r, csv->header, NULL))
			first = heads++ ? first : r;
	bool again = !heads || csv->rows > HEADED_MOST;
	for (size_t i = 0; i < csv->rows * csv->rows && !again; i++)
		again = i / csv->rows < i % csv->rows && !is_like(csv, i / csv->rows, csv->header, NULL) &&
		        is_like(csv, i / csv->rows, csv->cells + i % csv->rows * csv->columns, measured);
	for (size_t r = 0; r < csv->rows && !again; r++)
		if (!is_like(csv, r, csv->header, NULL)) {
			memmove(csv->cells + kept * csv->columns, csv->cells + r * csv->columns, csv->columns * sizeof *csv->cells);
			csv->line[kept++] = csv->line[r];
		}
	if (again && heads && first && csv->note_count < CSV_NOTES_MAX) {
		csv->notes[csv->note_count++] =
			arena_printf(csv->arena, "left out: line %zu and what follows (another table)", csv->line[first]);
		kept = first;
		again = false;
	}
	csv->rows = again ? csv->rows : kept;
}
