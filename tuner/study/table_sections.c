/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several tables of one header below headings are one table, with the headings as a column. */
#include <ctype.h>
#include <stdio.h>

#include "tuner/study/table_text_impl.h"

enum { SECTIONS_MOST = 2000 };
enum kind { KIND_NONE, KIND_HEADING, KIND_HEADER, KIND_ROW };

struct sections {
	struct lines lines;
	enum kind *kind;             /* of each line */
	const struct line *header;   /* that stands there again; NULL: rules follow headers */
	const char **heading, *name; /* of each table; name: of all headings */
	size_t count, before;        /* the length of the words before the number of a heading */
	char mark[2];                /* between fields */
};

/* A heading without its marks, "### Size 1000:" as "Size 1000". */
static const char *heading_of(struct arena *arena, const struct line *line) {
	const char *text = arena_printf(arena, "%.*s", (int)line->length, line->at);
	text += strspn(text, "#*_ \t");
	size_t length = strlen(text);
	while (length && strchr("*_:,; \t\r", text[length - 1]))
		length--;
	return arena_printf(arena, "%.*s", (int)length, text);
}

/* Fields up to the last one that is not empty. */
static size_t fields_of(const struct lines *lines, const struct line *line) {
	struct field fields[FIELDS_MAX];
	size_t count = fields_read(lines, line, fields);
	while (count > 1 && !fields[count - 1].length)
		count--;
	return count;
}

static bool are_same(const struct line *a, const struct line *b) {
	return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

static enum kind kind_of(const struct lines *lines, const struct line *line) {
	if (!line->length || line_is_rule(line) || (lines->form != FORM_PIPES && line->dropped))
		return KIND_NONE;
	if (lines->form == FORM_PIPES)
		return line_count(line, '|') ? KIND_ROW : KIND_HEADING;
	return *line->at == '#' || fields_of(lines, line) == 1 ? KIND_HEADING : KIND_ROW;
}

/* The fields of a header, which may begin with '#' and have single blanks where the rows have several. */
static size_t header_fields(const struct lines *lines, const struct line *line, struct field fields[FIELDS_MAX]) {
	struct line own = *line;
	for (; own.length && strchr("# \t", *own.at); own.length--)
		own.at++;
	size_t count = fields_read(lines, &own, fields);
	own.tight = count != lines->usual;
	return own.tight && *line->at == '#' ? fields_read(lines, &own, fields) : count;
}

/* The first row of a text, or the first comment with as many words, that stands there again; NULL: none. */
static const struct line *again_find(const struct sections *all) {
	const struct lines *lines = &all->lines;
	struct field fields[FIELDS_MAX];
	for (size_t i = 0; i < lines->count && i < LOOKED_AT && lines->usual > 1; i++) {
		const struct line *line = &lines->lines[i];
		bool comment = line->length && *line->at == '#', again = false;
		if (!comment && all->kind[i] != KIND_ROW)
			continue;
		for (size_t k = i + 1; k < lines->count && !again; k++)
			again = are_same(line, &lines->lines[k]);
		if (again && (comment ? header_fields(lines, line, fields) == lines->usual : isalpha((unsigned char)*line->at)))
			return line;
		if (!comment)
			break;
	}
	return NULL;
}

/* In Markdown a rule follows the header of a table; another text has it once more. */
static void kinds_find(struct sections *all) {
	const struct lines *lines = &all->lines;
	const struct line *line = lines->lines;
	for (size_t i = 0; i < lines->count; i++)
		all->kind[i] = kind_of(lines, &line[i]);
	all->header = lines->form == FORM_PIPES ? NULL : again_find(all);
	for (size_t i = 0; i < lines->count; i++) {
		bool ruled = i + 1 < lines->count && line_is_rule(&line[i + 1]) && line_count(&line[i + 1], '|');
		bool first = i == 0 || (all->kind[i - 1] == KIND_NONE && !line_is_rule(&line[i - 1])) ||
		             all->kind[i - 1] == KIND_HEADING;
		if (lines->form == FORM_PIPES ? all->kind[i] == KIND_ROW && ruled && first
		                              : all->header && are_same(&line[i], all->header))
			all->kind[i] = KIND_HEADER;
	}
}

/* Are two words the singular and the plural of one? */
static bool are_alike(const char *a, const char *b) {
	enum { STEM = 4, ENDING = 4 /* bytes */ };
	size_t same = 0;
	while (a[same] && a[same] == b[same])
		same++;
	return same > STEM && strlen(a + same) <= ENDING && strlen(b + same) <= ENDING;
}

/* "Size 1000", "Size 4000": the words before the numbers are a name. */
static void sections_name(struct arena *arena, struct sections *all) {
	size_t length = strcspn(all->heading[0], "0123456789"), own = length;
	bool named = length > 1, sized = table_is_problem(arena_printf(arena, "%.*s", (int)length, all->heading[0]));
	for (size_t i = 0; i < all->count && named; i++) {
		const char *number = all->heading[i] + length;
		named = strncmp(all->heading[i], all->heading[0], length) == 0 && isdigit((unsigned char)*number) &&
		        !number[strspn(number, sized ? "0123456789x" : "0123456789")];
	}
	while (named && own && strchr(" =:", all->heading[0][own - 1]))
		own--;
	const char *words = all->heading[0] + table_digits(all->heading[0]); /* "4 threads" */
	bool counted = words > all->heading[0] && *words == ' ';
	for (size_t i = 1; i < all->count && counted; i++) {
		const char *other = all->heading[i] + table_digits(all->heading[i]);
		counted = other > all->heading[i] && (strcmp(words, other) == 0 || are_alike(words, other));
		words = strlen(other) > strlen(words) ? other : words;
	}
	if (counted) {
		all->name = words + 1;
		return;
	}
	all->name = named && own ? arena_printf(arena, "%.*s", (int)own, all->heading[0]) : "section";
	all->before = named && own ? length : 0;
}

/* Finds the headings above tables of one header; false unless there are several, each with a heading of its own. In
 * Markdown the last of several lines is the heading. A header right below a row begins more samples. */
static bool sections_find(struct sections *all, struct arena *arena) {
	const char *heading = "";
	const struct line *header = NULL;
	bool fine = true, pipes = all->lines.form == FORM_PIPES, blank = true;
	for (size_t i = 0; i < all->lines.count && fine; i++) {
		const struct line *line = &all->lines.lines[i];
		if (all->kind[i] == KIND_HEADER && all->count < SECTIONS_MOST) {
			fine = (*heading || (!pipes && (!blank || !header))) && (!header || are_same(header, line));
			header = line;
			for (size_t k = 0; k < all->count && fine; k++) /* runs that were added go without headings */
				fine = (!*heading && !*all->heading[k] && !pipes) || strcmp(all->heading[k], heading) != 0;
			all->heading[all->count++] = heading;
			heading = "";
		} else if (all->kind[i] == KIND_HEADING && (*line->at == '#' || pipes || !*heading))
			heading = heading_of(arena, line);
		blank = all->kind[i] == KIND_NONE;
	}
	return fine && all->count > 1 && (*all->heading[0] || !*all->heading[1]);
}

/* A row with the cell before it. */
static void row_write(const struct sections *all, const struct line *line, const char *cell, FILE *out) {
	struct field fields[FIELDS_MAX];
	size_t count = header_fields(&all->lines, line, fields);
	if (all->lines.form == FORM_PIPES) {
		fprintf(out, "| %s%s%.*s", cell, *line->at == '|' ? "" : " | ", (int)line->length, line->at);
		return;
	}
	csv_write(cell, out);
	fputs(*all->heading[0] ? all->mark : "", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%.*s", i ? all->mark : "", (int)fields[i].length, fields[i].at);
}

/* One table with a column for the headings, on the lines that the rows have. */
static void sections_write(const struct sections *all, FILE *out) {
	size_t table = 0;
	for (size_t i = 0; i < all->lines.count; i++) {
		const struct line *line = &all->lines.lines[i];
		bool header = all->kind[i] == KIND_HEADER;
		table += header;
		if (header && table == 1)
			row_write(all, line, *all->heading[0] ? all->name : "", out);
		else if (all->kind[i] == KIND_ROW && table && table <= all->count)
			row_write(all, line, *all->heading[0] ? all->heading[table - 1] + all->before : "", out);
		else if (i && all->kind[i - 1] == KIND_HEADER && table == 1 && all->lines.form == FORM_PIPES)
			fprintf(out, "|---%.*s", (int)line->length, line->at);
		putc('\n', out);
	}
}

char *table_sections_plain(const char *text, size_t size, size_t *plain_size) {
	struct arena *arena = arena_new();
	struct sections all = {.lines = {.arena = arena}};
	char *plain = NULL;
	lines_read(&all.lines, text, size);
	all.kind = arena_alloc(arena, all.lines.count + 1, sizeof *all.kind);
	all.heading = arena_alloc(arena, SECTIONS_MOST, sizeof *all.heading);
	all.mark[0] = all.lines.form == FORM_CHARACTER && all.lines.delimiter ? all.lines.delimiter : '\t';
	kinds_find(&all);
	FILE *out = sections_find(&all, arena) ? open_memstream(&plain, plain_size) : NULL;
	if (out) {
		sections_name(arena, &all);
		sections_write(&all, out);
		fclose(out);
	}
	free(all.lines.lines);
	arena_free(arena);
	return plain;
}
