/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several tables of one header below headings are one table, with the headings as a column. */
#include <ctype.h>
#include <stdio.h>

#include "tuner/study/table_text_impl.h"

enum { SECTIONS_MOST = 2000 };
enum kind { KIND_NONE, KIND_HEADING, KIND_HEADER, KIND_ROW };

enum { INNER, OUTER, LEVELS, DEPTHS = 7 };

struct level {            /* of headings */
	const char **heading; /* of each table */
	const char *name;     /* of all; NULL: they say nothing */
	size_t before;        /* the length of the words before the number */
	bool counted;         /* the number alone tells them apart */
};

struct sections {
	struct lines lines;
	enum kind *kind;           /* of each line */
	const struct line *header; /* that stands there again; NULL: rules follow headers */
	struct level level[LEVELS];
	size_t count;
	char mark[2]; /* between fields */
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

/* Are two texts the same but for the end of their first word, as in "thread" and "threads"? */
static bool are_alike(const char *a, const char *b) {
	enum { STEM = 4, ENDING = 4 /* bytes */ };
	size_t same = 0, own = strcspn(a, " "), other = strcspn(b, " ");
	while (same < own && a[same] == b[same])
		same++;
	return strcmp(a + own, b + other) == 0 && (same == own || same >= STEM) && own <= same + ENDING &&
	       other <= same + ENDING;
}

static bool is_named(const char *word) {
	char english[TABLE_NAME];
	table_translate(word, english);
	return table_is_parameter(english) || table_is_problem(english);
}

/* "Size 1000", "4 threads", "Results with 4 threads": a number tells the headings apart, and words beside it name it.
 */
static void level_name(struct arena *arena, struct level *level, size_t count) {
	size_t before = strcspn(level->heading[0], "0123456789"), own = before;
	const char *first = level->heading[0], *name = NULL;
	bool counted = true, sized = table_is_problem(arena_printf(arena, "%.*s", (int)before, first)), varies = false;
	for (size_t i = 0; i < count; i++) {
		const char *number = level->heading[i] + (strncmp(level->heading[i], first, before) == 0 ? before : 0);
		const char *behind = number + strspn(number, sized ? "0123456789x" : "0123456789");
		const char *word = behind + (*behind == ' '), *words = first + before + strspn(first + before, "0123456789x");
		varies = varies || strcmp(level->heading[i], first) != 0;
		counted = counted && isdigit((unsigned char)*number) && number == level->heading[i] + before &&
		          (!*behind || *behind == ' ') && are_alike(word, words + (*words == ' '));
		word = arena_printf(arena, "%.*s", (int)strcspn(word, " "), word);
		name = *word && is_named(word) ? word : name;
	}
	while (own && strchr(" =:", first[own - 1]))
		own--;
	const char *behind = first + before + table_digits(first + before);
	name = name || own || !*behind ? name : behind + 1;
	level->counted = counted && (name || own);
	level->before = level->counted ? before : 0;
	level->name = !varies           ? NULL
	              : !level->counted ? "section"
	              : name            ? name
	                                : arena_printf(arena, "%.*s", (int)own, first);
}

/* The headings that hold for a line: each '#' more is one level deeper. */
struct path {
	const char *at[DEPTHS], *inner;
	size_t depth;
};

static void path_take(struct path *path, const struct line *line, const char *heading) {
	size_t depth = 0;
	while (depth < line->length && line->at[depth] == '#')
		depth++;
	depth = depth < DEPTHS ? depth : DEPTHS - 1;
	path->inner = heading;
	path->depth = depth ? depth : DEPTHS;
	for (size_t i = depth; depth && i < DEPTHS; i++)
		path->at[i] = i == depth ? heading : NULL;
}

static const char *path_outer(const struct path *path) {
	size_t depth = path->depth;
	while (depth-- > 0)
		if (path->at[depth])
			return path->at[depth];
	return "";
}

/* Has the last table other headings than those before it? Runs that were added go without. */
static bool is_new(const struct sections *all) {
	const char *const *inner = all->level[INNER].heading, *const *outer = all->level[OUTER].heading;
	size_t last = all->count - 1, i = 0;
	while (i < last && ((!*inner[last] && !*inner[i] && all->lines.form != FORM_PIPES) ||
	                    strcmp(inner[i], inner[last]) != 0 || strcmp(outer[i], outer[last]) != 0))
		i++;
	return i == last;
}

/* Finds the headings above tables of one header; false unless there are several, each with a heading of its own. In
 * Markdown the last of several lines is the heading. A header right below a row begins more samples. */
static bool sections_find(struct sections *all, struct arena *arena) {
	struct path path = {.inner = ""};
	const struct line *header = NULL;
	bool fine = true, pipes = all->lines.form == FORM_PIPES, blank = true;
	for (size_t i = 0; i < all->lines.count && fine; i++) {
		const struct line *line = &all->lines.lines[i];
		if (all->kind[i] == KIND_HEADER && all->count < SECTIONS_MOST) {
			fine = (*path.inner || (!pipes && (!blank || !header))) && (!header || are_same(header, line));
			header = line;
			all->level[INNER].heading[all->count] = path.inner;
			all->level[OUTER].heading[all->count++] = pipes ? path_outer(&path) : "";
			fine = fine && is_new(all);
			path.inner = "";
		} else if (all->kind[i] == KIND_HEADING && (*line->at == '#' || pipes || !*path.inner))
			path_take(&path, line, heading_of(arena, line));
		blank = all->kind[i] == KIND_NONE;
	}
	const char *const *inner = all->level[INNER].heading;
	return fine && all->count > 1 && (*inner[0] || !*inner[1]);
}

/* A cell of a table has what a level says of it; above the first one it is the name of the level. */
static const char *cell_of(struct arena *arena, const struct level *level, size_t table) {
	const char *cell = table ? level->heading[table - 1] + level->before : level->name;
	return table && level->counted ? arena_printf(arena, "%.*s", (int)strspn(cell, "0123456789x"), cell) : cell;
}

/* A row with the cells before it. */
static void row_write(const struct sections *all, struct arena *arena, const struct line *line, size_t table,
                      FILE *out) {
	struct field fields[FIELDS_MAX];
	size_t count = header_fields(&all->lines, line, fields);
	bool pipes = all->lines.form == FORM_PIPES;
	for (size_t i = LEVELS; i-- > 0;) {
		const char *cell = all->level[i].name ? cell_of(arena, &all->level[i], table) : NULL;
		if (cell && pipes)
			fprintf(out, "| %s ", cell);
		else if (cell) {
			csv_write(cell, out);
			fputs(all->mark, out);
		}
	}
	if (pipes)
		fprintf(out, "%s%.*s", *line->at == '|' ? "" : "| ", (int)line->length, line->at);
	for (size_t i = 0; i < count && !pipes; i++)
		fprintf(out, "%s%.*s", i ? all->mark : "", (int)fields[i].length, fields[i].at);
}

/* One table with columns for the headings, on the lines that the rows have. */
static void sections_write(const struct sections *all, struct arena *arena, FILE *out) {
	size_t table = 0;
	for (size_t i = 0; i < all->lines.count; i++) {
		const struct line *line = &all->lines.lines[i];
		bool header = all->kind[i] == KIND_HEADER;
		table += header;
		if (header && table == 1)
			row_write(all, arena, line, 0, out);
		else if (!table && line->length && *line->at == '#' && all->kind[i] == KIND_HEADING)
			fprintf(out, "%.*s", (int)line->length, line->at); /* it may tell the unit */
		else if (all->kind[i] == KIND_ROW && table && table <= all->count)
			row_write(all, arena, line, table, out);
		else if (i && all->kind[i - 1] == KIND_HEADER && table == 1 && all->lines.form == FORM_PIPES)
			fprintf(out, "%s%s%.*s", all->level[OUTER].name ? "|---" : "", all->level[INNER].name ? "|---" : "",
			        (int)line->length, line->at);
		putc('\n', out);
	}
}

char *table_sections_plain(const char *text, size_t size, size_t *plain_size) {
	struct arena *arena = arena_new();
	struct sections all = {.lines = {.arena = arena}};
	char *plain = NULL;
	lines_read(&all.lines, text, size);
	all.kind = arena_alloc(arena, all.lines.count + 1, sizeof *all.kind);
	for (size_t i = 0; i < LEVELS; i++)
		all.level[i].heading = arena_alloc(arena, SECTIONS_MOST, sizeof *all.level[i].heading);
	all.mark[0] = all.lines.form == FORM_CHARACTER && all.lines.delimiter ? all.lines.delimiter : '\t';
	kinds_find(&all);
	FILE *out = sections_find(&all, arena) ? open_memstream(&plain, plain_size) : NULL;
	for (size_t i = 0; i < LEVELS && out; i++)
		level_name(arena, &all.level[i], all.count);
	if (out) {
		sections_write(&all, arena, out);
		fclose(out);
	}
	free(all.lines.lines);
	arena_free(arena);
	return plain;
}
