/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables as people type them: Markdown, LaTeX, gnuplot, blanks between columns, titles above and notes below. Each line
 * becomes one with tabs between its fields, or an empty one, so that messages still name the right line. */
#include <ctype.h>

#include "tuner/study/study_impl.h"

enum { LINES_MAX = 400000, FIELDS_MAX = CSV_COLUMNS_MAX, LOOKED_AT = 60 };

enum form { FORM_PIPES, FORM_LATEX, FORM_BLANKS, FORM_CHARACTER };

struct line {
	const char *at;
	size_t length;
	bool dropped, tight; /* tight: one blank separates the fields of this line */
};

struct lines {
	struct line *lines;
	size_t count;
	enum form form;
	char delimiter; /* FORM_CHARACTER */
	bool wide;      /* FORM_BLANKS: names have blanks, so that two separate fields */
	size_t head;    /* the header of a known producer; count: there is none */
	size_t named;   /* FORM_PIPES: fields of the header */
	struct arena *arena;
};

struct field {
	const char *at;
	size_t length;
};

static void trim(struct field *field) {
	while (field->length && strchr(" \t", *field->at)) {
		field->at++;
		field->length--;
	}
	while (field->length && strchr(" \t", field->at[field->length - 1]))
		field->length--;
}

static void lines_split(struct lines *lines, const char *text, size_t size) {
	size_t room = 0;
	for (const char *at = text, *end = text + size; at < end && lines->count < LINES_MAX;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at), own = length, blank = 0;
		while (own && strchr(" \r", at[own - 1]))
			own--;
		while (blank < own && strchr(" \t", at[blank]))
			blank++;
		size_t blanks = blank < own && at[blank] == '#' ? blank : 0;
		if (lines->count == room)
			lines->lines = mem_grow(lines->lines, room = room ? 2 * room : 256, sizeof *lines->lines);
		lines->lines[lines->count++] =
			(struct line){.at = at + blanks, .length = own - blanks, .dropped = own == blank};
		at += length + 1;
	}
}

static bool begins(const struct line *line, const char *text) {
	return line->length >= strlen(text) && strncmp(line->at, text, strlen(text)) == 0;
}

/* A rule between rows: "|---|:--:|", "+----+", "\hline", "-----", "---,---". */
static bool is_rule(const struct line *line) {
	size_t dashes = 0;
	for (size_t i = 0; i < line->length; i++) {
		dashes += line->at[i] == '-' || line->at[i] == '=';
		if (!strchr("|+-=:,; \t", line->at[i]))
			return false;
	}
	return dashes > 2;
}

static size_t count_of(const struct line *line, char what) {
	size_t count = 0;
	bool quoted = false;
	for (size_t i = 0; i < line->length; i++) {
		quoted ^= line->at[i] == '"';
		count += line->at[i] == what && !quoted;
	}
	return count;
}

/* Reads the next field of a line and moves behind it; false at the end. */
static bool field_next(const struct lines *lines, const struct line *line, size_t *at, struct field *field) {
	const char *text = line->at;
	size_t begin = *at, end;
	bool quoted = false;
	if (begin > line->length || (lines->form == FORM_BLANKS && begin == line->length))
		return false;
	for (end = begin; end < line->length; end++) {
		quoted ^= text[end] == '"';
		bool blank = strchr(" \t", text[end]) != NULL;
		if (!quoted && (lines->form == FORM_PIPES       ? text[end] == '|' && !(end && text[end - 1] == '\\')
		                : lines->form == FORM_LATEX     ? text[end] == '&'
		                : lines->form == FORM_CHARACTER ? text[end] == lines->delimiter
		                                                : blank && (!lines->wide || line->tight || text[end] == '\t' ||
		                                                            (end + 1 < line->length && text[end + 1] == ' '))))
			break;
	}
	*field = (struct field){text + begin, end - begin};
	*at = end + 1;
	while (lines->form == FORM_BLANKS && *at < line->length && strchr(" \t", text[*at]))
		++*at;
	trim(field);
	return true;
}

static size_t fields_read(const struct lines *lines, const struct line *line, struct field fields[FIELDS_MAX]) {
	struct line own = *line;
	struct field one;
	size_t count = 0, at = 0;
	if (lines->form == FORM_PIPES || lines->form == FORM_BLANKS)
		while (own.length && strchr(" \t", *own.at)) {
			own.at++;
			own.length--;
		}
	if (lines->form == FORM_PIPES && own.length && *own.at == '|') {
		own.at++;
		own.length--;
	}
	if (lines->form == FORM_PIPES && own.length && own.at[own.length - 1] == '|')
		own.length--;
	while (own.length && count < FIELDS_MAX && field_next(lines, &own, &at, &one))
		fields[count++] = one;
	return count;
}

static bool is_number(const struct field *field) {
	size_t length = 0;
	while (length < field->length && strchr("0123456789+-.,:eEx%", field->at[length]))
		length++;
	return length && length == field->length && memchr("0123456789.-+", *field->at, 13);
}

/* The number of fields that most lines have. */
static size_t usual_fields(const struct lines *lines) {
	size_t counts[FIELDS_MAX + 1] = {0}, best = 0, rows = 0;
	struct field fields[FIELDS_MAX];
	for (size_t i = 0; i < lines->count && rows < 1000; i++)
		if (!lines->lines[i].dropped && *lines->lines[i].at != '#' && !is_rule(&lines->lines[i]) && ++rows)
			counts[fields_read(lines, &lines->lines[i], fields)]++;
	for (size_t i = 1; i <= FIELDS_MAX; i++)
		best = counts[i] > counts[best] ? i : best;
	return best;
}

/* How many lines without rules and comments have as many fields as most; 0: too few for a table. */
static size_t rows_alike(const struct lines *lines, size_t usual) {
	struct field fields[FIELDS_MAX];
	size_t rows = 0, alike = 0, last = 0;
	for (size_t i = 0; i < lines->count && rows < LOOKED_AT; i++) {
		const struct line *line = &lines->lines[i];
		if (line->dropped || *line->at == '#' || is_rule(line))
			continue;
		bool is = fields_read(lines, line, fields) == usual;
		rows++;
		alike += is;
		last = is ? last + 1 : 0;
	}
	return usual > 1 && alike > 1 && (2 * alike >= rows || last > 2) ? alike : 0;
}

/* Do blanks separate the fields, two of them where names have some and at least as many lines are alike then? */
static bool are_blanks(struct lines *lines) {
	lines->wide = false;
	size_t tight = rows_alike(lines, usual_fields(lines));
	lines->wide = true;
	size_t wide = rows_alike(lines, usual_fields(lines));
	lines->wide = wide >= tight;
	return tight || wide;
}

/* The separator that most lines have; 0: none. */
static char delimiter_of(const struct lines *lines) {
	static const char known[] = "\t;,";
	size_t best = 0, rows = 0, with[3] = {0};
	for (size_t i = 0; i < lines->count && rows < LOOKED_AT; i++) {
		const struct line *line = &lines->lines[i];
		if (line->dropped || *line->at == '#' || is_rule(line))
			continue;
		rows++;
		for (size_t k = 0; k < 3; k++)
			with[k] += count_of(line, known[k]) > 0;
	}
	for (size_t k = 1; k < 3; k++)
		best = with[k] > with[best] ? k : best;
	bool headed = lines->head == lines->count || count_of(&lines->lines[lines->head], known[best]);
	return rows && headed && 2 * with[best] >= rows ? known[best] : '\0';
}

/* Lines above the header of a known producer belong to its log. */
static void log_drop(struct lines *lines) {
	size_t head = 0;
	while (head < lines->count && !producer_heads(lines->lines[head].at, lines->lines[head].length))
		head++;
	for (size_t i = 0; i < head && head < lines->count; i++)
		lines->lines[i].dropped = true;
	lines->head = head;
}

/* Google Benchmark fits a law to rows, and prints it below them. */
static bool is_fit(const struct field *field) {
	return field->length > 5 && (memcmp(field->at + field->length - 5, "_BigO", 5) == 0 ||
	                             memcmp(field->at + field->length - 4, "_RMS", 4) == 0);
}

/* So does what stands behind a rule or a blank line below the rows, if it has other fields. */
static void legend_drop(struct lines *lines) {
	struct field fields[FIELDS_MAX];
	size_t rows = 0, usual = lines->head < lines->count ? fields_read(lines, &lines->lines[lines->head], fields) : 0;
	bool over = false;
	for (size_t i = lines->head + 1; i < lines->count; i++) {
		struct line *line = &lines->lines[i];
		bool blank = line->dropped || is_rule(line);
		over = over || (rows && blank);
		rows += !blank;
		if (fields_read(lines, line, fields) != usual && (over || is_fit(&fields[0])))
			line->dropped = true;
	}
}

/* An arrow points from a remark to the text before it, which has this length. */
static size_t remark_cut(const char *text, size_t length) {
	const char *arrow = memmem(text, length, "\xe2\x86\x90", 3);
	for (length = arrow ? (size_t)(arrow - text) : length; arrow && length && text[length - 1] == ' ';)
		length--;
	return length;
}

/* JMH writes "812.4 ± 5.1" below two names: there the sign is a blank. */
static void signs_blank(struct lines *lines) {
	for (size_t i = 0; i < lines->count; i++) {
		struct line *line = &lines->lines[i];
		line->length = remark_cut(line->at, line->length);
		const char *sign = memmem(line->at, line->length, "\xc2\xb1", 2);
		if (!sign || line->dropped)
			continue;
		size_t before = (size_t)(sign - line->at);
		line->at = memset(arena_printf(lines->arena, "%.*s", (int)line->length, line->at) + before, ' ', 2) - before;
	}
}

static void form_find(struct lines *lines) {
	size_t pipes = 0, latex = 0, rows = 0;
	for (size_t i = 0; i < lines->count && rows < LOOKED_AT; i++) {
		const struct line *line = &lines->lines[i];
		rows += !line->dropped && (!is_rule(line) || memchr(line->at, '|', line->length));
		pipes += !line->dropped && count_of(line, '|') > 0;
		latex += !line->dropped && count_of(line, '&') && line->length > 2 && memmem(line->at, line->length, "\\\\", 2);
	}
	lines->form = FORM_CHARACTER;
	lines->delimiter = delimiter_of(lines);
	if (latex > 1)
		lines->form = FORM_LATEX;
	else if (pipes > 1 && 2 * pipes >= rows)
		lines->form = FORM_PIPES;
	else if (!lines->delimiter) {
		lines->form = FORM_BLANKS;
		if (!are_blanks(lines))
			lines->form = FORM_CHARACTER;
	}
}

/* The last row may go without a mark of its end. */
static void latex_strip(struct line *line, const struct line *next) {
	const char *end = memmem(line->at, line->length, "\\\\", 2);
	bool last = next && memmem(next->at, next->length, "\\end{", 5);
	line->dropped = !count_of(line, '&') || (!end && !last);
	line->length = end ? (size_t)(end - line->at) : line->length;
}

/* A line that begins with '#' is the header if the first line without has numbers only, and as many. */
static void header_uncomment(struct lines *lines) {
	struct field fields[FIELDS_MAX];
	size_t first = 0, numbers = 0;
	while (first < lines->count && (lines->lines[first].dropped || *lines->lines[first].at == '#'))
		first++;
	size_t count = first < lines->count ? fields_read(lines, &lines->lines[first], fields) : 0;
	for (size_t i = 0; i < count; i++)
		numbers += !fields[i].length || is_number(&fields[i]) || (fields[i].length == 1 && *fields[i].at == '-');
	if (count < 2 || 2 * numbers < count || (numbers < count && is_number(&fields[0])))
		return;
	for (size_t i = 2 * first; i-- > 0;) { /* a header may have single blanks where the rows have several */
		struct line line = lines->lines[i % first];
		line.tight = i < first;
		while (line.length && strchr("# \t", *line.at)) {
			line.at++;
			line.length--;
		}
		if (lines->lines[i % first].length && *lines->lines[i % first].at == '#' && line.length &&
		    fields_read(lines, &line, fields) == count && !is_number(&fields[0])) {
			lines->lines[i % first] = line;
			return;
		}
	}
}

/* Does a line have this many fields, none of them a number, as headers have? */
static bool is_header(const struct lines *lines, const struct line *line, size_t count) {
	struct field fields[FIELDS_MAX];
	if (fields_read(lines, line, fields) != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (is_number(&fields[i]))
			return false;
	return true;
}

/* A line above the header that has another number of fields is a title. */
static bool is_title(const struct lines *lines, size_t at, size_t usual) {
	struct field fields[FIELDS_MAX];
	if (begins(&lines->lines[at], "sep=")) /* for spreadsheets */
		return true;
	size_t count = fields_read(lines, &lines->lines[at], fields), next = at + 1;
	while (next < lines->count && (lines->lines[next].dropped || *lines->lines[next].at == '#'))
		next++;
	if (next == lines->count)
		return false;
	return count == 1 || is_header(lines, &lines->lines[next], usual);
}

static void titles_drop(struct lines *lines) {
	struct field fields[FIELDS_MAX];
	size_t usual = usual_fields(lines);
	for (size_t i = 0; i < lines->count && usual > 1; i++) {
		struct line *line = &lines->lines[i];
		if (line->dropped || *line->at == '#')
			continue;
		size_t count = fields_read(lines, line, fields);
		while (count > 1 && fields[count - 1].length == 0) /* spreadsheets fill lines up */
			count--;
		if (count == usual && !begins(line, "sep="))
			break;
		if (!is_title(lines, i, usual))
			break;
		line->dropped = true;
	}
}

/* Pandas numbers the rows of a printed table, and gives the numbers no name. */
static void index_name(struct lines *lines) {
	struct field fields[FIELDS_MAX];
	struct line *head = NULL;
	size_t named = 0, rows = 0;
	for (size_t i = 0; i < lines->count && lines->form == FORM_BLANKS; i++) {
		struct line *line = &lines->lines[i];
		if (line->dropped || *line->at == '#')
			continue;
		size_t count = fields_read(lines, line, fields);
		if (head && (count != named + 1 || strtoul(fields[0].at, NULL, 10) != rows++ || !is_number(&fields[0])))
			return;
		named = head ? named : count;
		head = head ? head : line;
	}
	if (!rows)
		return;
	head->at = arena_printf(lines->arena, "index  %.*s", (int)head->length, head->at);
	head->length += 7;
}

/* Every line ends with a separator, "1,10.2,", and the header lacks a name for what is behind it. */
static bool ends_with_separator(const struct lines *lines) {
	struct field fields[FIELDS_MAX];
	size_t rows = 0, named = 0;
	for (size_t i = 0; i < lines->count; i++) {
		const struct line *line = &lines->lines[i];
		if (line->dropped || *line->at == '#')
			continue;
		bool ends = line->at[line->length - 1] == lines->delimiter;
		size_t count = fields_read(lines, line, fields);
		if (rows && (!ends || count != named + 1))
			return false;
		named = rows ? named : count - ends;
		rows++;
	}
	return rows > 1;
}

static void separators_strip(struct lines *lines) {
	if (lines->form != FORM_CHARACTER || !lines->delimiter || lines->delimiter == '\t' || !ends_with_separator(lines))
		return;
	for (size_t i = 0; i < lines->count; i++)
		if (!lines->lines[i].dropped && lines->lines[i].at[lines->lines[i].length - 1] == lines->delimiter)
			lines->lines[i].length--;
}

/* Markup of Markdown and LaTeX around a cell: `name`, **12**, $12$, \textbf{12}. */
static void markup_strip(struct field *field) {
	static const char *const latex[] = {"\\textbf{", "\\texttt{", "\\textit{", "\\emph{", "\\num{", "\\mathbf{"};
	for (bool more = true; more;) {
		more = false;
		trim(field);
		if (field->length > 1 && strchr("`*$_=", *field->at) && field->at[field->length - 1] == *field->at) {
			field->at++;
			field->length -= 2;
			more = true;
		}
		for (size_t i = 0; i < sizeof latex / sizeof *latex; i++) {
			size_t length = strlen(latex[i]);
			if (field->length > length && strncmp(field->at, latex[i], length) == 0 &&
			    field->at[field->length - 1] == '}') {
				field->at += length;
				field->length -= length + 1;
				more = true;
			}
		}
	}
}

static void field_write(struct lines *lines, struct field field, FILE *out) {
	bool quoted = field.length > 1 && *field.at == '"' && field.at[field.length - 1] == '"';
	if (lines->form == FORM_PIPES || lines->form == FORM_LATEX)
		markup_strip(&field);
	field.length = remark_cut(field.at, field.length);
	if (field.length > 1 && *field.at == '#' && isalpha((unsigned char)field.at[1])) { /* "#bytes #repetitions" */
		field.at++;
		field.length--;
	}
	bool quote = !quoted && (memchr(field.at, ',', field.length) || memchr(field.at, ';', field.length) ||
	                         memchr(field.at, '"', field.length) || (field.length && *field.at == '#'));
	fputs(quote ? "\"" : "", out);
	for (size_t i = 0; i < field.length; i++) {
		bool marked = lines->form == FORM_PIPES && i + 1 < field.length;
		bool escape = (marked || lines->form == FORM_LATEX) && field.at[i] == '\\' && i + 1 < field.length &&
		              ispunct((unsigned char)field.at[i + 1]);
		if (marked && field.at[i] == '*' && field.at[i + 1] == '*') { /* "**A** (baseline)" */
			i++;
			continue;
		}
		i += escape; /* "\%" and "\_" */
		if (quote && field.at[i] == '"')
			putc('"', out);
		bool blank = (marked && field.at[i] == '\t') ||
		             (lines->form == FORM_LATEX && !escape && (field.at[i] == '$' || field.at[i] == '~'));
		putc(blank ? ' ' : field.at[i], out);
	}
	if (quote)
		putc('"', out);
}

static void line_write(struct lines *lines, const struct line *line, FILE *out) {
	struct field fields[FIELDS_MAX];
	bool comment = line->length && *line->at == '#', told = memmem(line->at, line->length, "is better", 9);
	told = told || (line->length && strchr(":*", line->at[line->length - 1]) && memchr(line->at, '(', line->length));
	if (line->dropped && line->length && (told || memmem(line->at, line->length, "eak ", 4))) /* "Weak scaling" */
		fprintf(out, "# %.*s", (int)line->length, line->at);
	if (line->dropped)
		return;
	if (lines->form == FORM_CHARACTER || comment) {
		fwrite(line->at, 1, line->length, out);
		return;
	}
	size_t count = fields_read(lines, line, fields);
	if (lines->form == FORM_PIPES) { /* who shows Markdown leaves out what has no name above it */
		lines->named = lines->named ? lines->named : count;
		count = count < lines->named ? count : lines->named;
	}
	for (size_t i = 0; i < count; i++) {
		if (i)
			putc('\t', out);
		field_write(lines, fields[i], out);
	}
}

char *table_text_plain(const char *text, size_t size, size_t *plain_size) {
	struct lines lines = {.arena = arena_new()};
	char *plain = NULL;
	lines_split(&lines, text, size);
	log_drop(&lines);
	form_find(&lines);
	if (lines.form == FORM_BLANKS)
		signs_blank(&lines);
	for (size_t i = 0; i < lines.count; i++) {
		struct line *line = &lines.lines[i];
		if (lines.form == FORM_LATEX && !line->dropped)
			latex_strip(line, i + 1 < lines.count ? line + 1 : NULL);
		else if (lines.form == FORM_PIPES && !line->dropped)
			line->dropped = is_rule(line) || (!count_of(line, '|') && *line->at != '#');
		else if (lines.form == FORM_BLANKS || begins(line, "+-") || begins(line, "---"))
			line->dropped = line->dropped || is_rule(line);
	}
	legend_drop(&lines);
	separators_strip(&lines);
	header_uncomment(&lines);
	titles_drop(&lines);
	index_name(&lines);
	FILE *out = open_memstream(&plain, plain_size);
	for (size_t i = 0; i < lines.count && out; i++) {
		line_write(&lines, &lines.lines[i], out);
		putc('\n', out);
	}
	if (out)
		fclose(out);
	free(lines.lines);
	arena_free(lines.arena);
	return plain;
}
