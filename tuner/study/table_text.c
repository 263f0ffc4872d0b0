/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables as people type them: Markdown, LaTeX, gnuplot, blanks between columns, titles above and notes below. Each line
 * becomes one with tabs between its fields, or an empty one, so that messages still name the right line. */
#include <ctype.h>
#include <strings.h>

#include "base/html_tables.h"
#include "tuner/study/table_text_impl.h"

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
		bool blank = line->dropped || line_is_rule(line);
		over = over || (rows && blank);
		rows += !blank;
		if (fields_read(lines, line, fields) != usual && (over || is_fit(&fields[0])))
			line->dropped = true;
	}
}

/* A line that begins with '#' is the header if the first line without has numbers only, and as many. */
static void header_uncomment(struct lines *lines) {
	struct field fields[FIELDS_MAX];
	size_t first = 0, numbers = 0;
	while (first < lines->count && (lines->lines[first].dropped || *lines->lines[first].at == '#'))
		first++;
	size_t count = first < lines->count ? fields_read(lines, &lines->lines[first], fields) : 0;
	for (size_t i = 0; i < count; i++)
		numbers += !fields[i].length || field_is_number(&fields[i]) || (fields[i].length == 1 && *fields[i].at == '-');
	if (count < 2 || 2 * numbers < count || (numbers < count && field_is_number(&fields[0])))
		return;
	for (size_t i = 2 * first; i-- > 0;) { /* a header may have single blanks where the rows have several */
		struct line line = lines->lines[i % first];
		line.tight = i < first;
		while (line.length && strchr("# \t", *line.at)) {
			line.at++;
			line.length--;
		}
		if (lines->lines[i % first].length && *lines->lines[i % first].at == '#' && line.length &&
		    fields_read(lines, &line, fields) == count && !field_is_number(&fields[0])) {
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
		if (field_is_number(&fields[i]))
			return false;
	return true;
}

/* A line above the header that has another number of fields is a title. */
static bool is_title(const struct lines *lines, size_t at, size_t usual) {
	struct field fields[FIELDS_MAX];
	if (line_begins(&lines->lines[at], "sep=")) /* for spreadsheets */
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
	size_t usual = lines->usual;
	for (size_t i = 0; i < lines->count && usual > 1; i++) {
		struct line *line = &lines->lines[i];
		if (line->dropped || *line->at == '#')
			continue;
		size_t count = fields_read(lines, line, fields);
		while (count > 1 && fields[count - 1].length == 0) /* spreadsheets fill lines up */
			count--;
		if (count == usual && !line_begins(line, "sep="))
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
		if (head && (count != named + 1 || strtoul(fields[0].at, NULL, 10) != rows++ || !field_is_number(&fields[0])))
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
	lines->usual--;
}

enum { ODD_MOST = 3, ODD_SHARE = 4 };

/* Lines that do not belong to the table: what is left out is said in a comment, which the answer repeats. */
struct odd {
	struct lines *lines;
	size_t head, usual, rows, notes; /* usual: fields of the header */
	size_t count, line[ODD_MOST];
	char *said;
};

static bool is_used(const struct line *line) {
	return !line->dropped && *line->at != '#';
}

static void odd_say(struct odd *odd, size_t at, const char *what) {
	const char *before = odd->said ? odd->said : "# left out:";
	odd->said = arena_printf(odd->lines->arena, "%s%s line %zu%s", before, odd->said ? "," : "", at + 1, what);
}

/* Do two names begin or end alike, as "Width" and "Tile-Width" do? */
static bool are_alike(const struct field *a, const struct field *b) {
	const struct field *less = a->length < b->length ? a : b, *more = less == a ? b : a;
	return !more->length ||
	       (less->length && (strncasecmp(less->at, more->at, less->length) == 0 ||
	                         strncasecmp(less->at, more->at + more->length - less->length, less->length) == 0));
}

/* Is it the header of other columns: no number, but the name of what was measured, or of a known producer? *alike:
 * fields that the header has, too. */
static bool is_other_header(const struct odd *odd, size_t at, size_t *alike) {
	const struct lines *lines = odd->lines;
	struct field fields[FIELDS_MAX], own[FIELDS_MAX];
	size_t count = fields_read(lines, &lines->lines[at], fields), i = 0, same = 0;
	size_t named = fields_read(lines, &lines->lines[odd->head], own);
	bool measured = producer_heads(lines->lines[at].at, lines->lines[at].length);
	for (*alike = 0; i < count && !isdigit((unsigned char)fields[i].at[strspn(fields[i].at, "*`_$~≈-+<> ")]); i++) {
		char name[TABLE_NAME];
		snprintf(name, sizeof name, "%.*s", (int)fields[i].length, fields[i].at);
		measured = measured || table_is_measurement(name);
		*alike += i < named && are_alike(&own[i], &fields[i]);
		same += i < named && own[i].length == fields[i].length && are_alike(&own[i], &fields[i]);
	}
	return measured && count > 1 && i == count && (same < named || count > named);
}

/* Two blank lines and another comment begin another set of data for gnuplot. */
static bool is_set(const struct odd *odd, size_t at) {
	const struct line *line = odd->lines->lines;
	return odd->lines->form != FORM_PIPES && at > 1 && !line[at].dropped && *line[at].at == '#' &&
	       !line[at - 1].length && !line[at - 2].length;
}

static bool is_row_later(const struct odd *odd, size_t at) {
	struct field fields[FIELDS_MAX];
	size_t later = at + 1, count = odd->lines->count;
	while (later < count && (!is_used(&odd->lines->lines[later]) ||
	                         fields_read(odd->lines, &odd->lines->lines[later], fields) != odd->usual))
		later++;
	return later < count;
}

/* Returns the number of fields without empty ones behind those of the header, which are cut off. */
static size_t surplus_cut(const struct odd *odd, struct line *line) {
	struct field fields[FIELDS_MAX];
	size_t count = fields_read(odd->lines, line, fields), own = count, usual = odd->usual;
	while (count > usual && !fields[count - 1].length)
		count--;
	if (count < own && count == usual)
		line->length = (size_t)(fields[usual - 1].at + fields[usual - 1].length - line->at);
	bool joined = count > usual && isalpha((unsigned char)*fields[usual - 1].at); /* a text with commas */
	return odd->lines->form == FORM_PIPES || joined ? usual : count;
}

/* True: what follows is another table. */
static bool odd_line(struct odd *odd, size_t at) {
	struct line *line = &odd->lines->lines[at];
	size_t alike, count = is_used(line) ? surplus_cut(odd, line) : 0;
	bool header = count && is_other_header(odd, at, &alike);
	if (is_set(odd, at) || (header && alike < odd->usual) || (count == 1 && odd->usual > 1 && is_row_later(odd, at)))
		return odd->rows > 1;
	odd->rows += !header && count == odd->usual;
	if (count == 0 || (!header && count == odd->usual) || odd->count == ODD_MOST)
		return false;
	odd->notes += count == 1;
	odd->line[odd->count++] = at;
	odd_say(odd, at,
	        header       ? " (another header)"
	        : count == 1 ? " (a note)"
	                     : arena_printf(odd->lines->arena, " (%zu fields instead of %zu)", count, odd->usual));
	return false;
}

static bool is_quote_open(const struct line *line) {
	size_t quotes = 0;
	for (size_t i = 0; i < line->length; i++)
		quotes += line->at[i] == '"';
	return quotes % 2;
}

/* Commas within the brackets of a header, "T(n, 1) / T(n, p)", separate nothing if the rows have fewer fields by as
 * many. */
static void header_join(struct lines *lines, struct line *head) {
	char *text = NULL;
	size_t size = 0, count = 1, depth = 0;
	FILE *out = lines->form == FORM_CHARACTER ? open_memstream(&text, &size) : NULL;
	if (!out)
		return;
	putc('"', out);
	for (size_t i = 0; i < head->length; i++) {
		char c = head->at[i];
		depth += c == '(' || c == '[';
		depth -= depth && (c == ')' || c == ']');
		bool ends = c == lines->delimiter && !depth;
		count += ends;
		if (c != '"')
			fprintf(out, ends ? "\"%c\"" : "%c", c);
	}
	putc('"', out);
	fclose(out);
	if (count == lines->usual)
		*head = (struct line){.at = arena_strdup(lines->arena, text), .length = size};
	free(text);
}

/* The next header of a table of Markdown, which a rule follows. */
static size_t header_next(const struct lines *lines, size_t at) {
	while (at + 1 < lines->count && (!is_used(&lines->lines[at]) || !line_is_rule(&lines->lines[at + 1])))
		at++;
	return at + 1 < lines->count ? at : lines->count;
}

/* A table of words above the one that has numbers, such as that of a machine, is left out. */
static void words_drop(struct odd *odd) {
	struct lines *lines = odd->lines;
	struct field fields[FIELDS_MAX];
	size_t head = header_next(lines, 0), first = head, numbers = 0;
	while (lines->form == FORM_PIPES && head + 2 < lines->count && !numbers) {
		size_t count = fields_read(lines, &lines->lines[head + 2], fields);
		for (size_t i = 0; i < count; i++)
			numbers += fields[i].length && isdigit((unsigned char)*fields[i].at);
		head = numbers ? head : header_next(lines, head + 1);
	}
	if (!numbers || head == first)
		return;
	for (size_t i = 0; i < head; i++)
		lines->lines[i].dropped = true;
	odd_say(odd, first, arena_printf(lines->arena, " to %zu (a table of words)", head));
}

/* Leaves out a few lines that have other fields than the header, and another table below this one. */
static void odd_drop(struct lines *lines) {
	struct field fields[FIELDS_MAX];
	struct odd odd = {.lines = lines};
	bool quoted = false;
	words_drop(&odd);
	while (odd.head < lines->count && !is_used(&lines->lines[odd.head]))
		odd.head++;
	for (size_t i = 0; i < lines->count; i++)
		quoted = quoted || is_quote_open(&lines->lines[i]);
	odd.usual = odd.head < lines->count ? fields_read(lines, &lines->lines[odd.head], fields) : 0;
	if (odd.usual > lines->usual && lines->usual > 1) {
		header_join(lines, &lines->lines[odd.head]);
		odd.usual = fields_read(lines, &lines->lines[odd.head], fields);
	}
	size_t end = odd.head + 1;
	while (!quoted && odd.usual > 1 && end < lines->count && !odd_line(&odd, end))
		end++;
	if (end < lines->count && odd.rows > 1)
		odd_say(&odd, end, " and what follows (another table)");
	if (!odd.said || odd.rows < ODD_SHARE * (odd.count - odd.notes))
		return;
	for (size_t i = 0; i < odd.count; i++)
		lines->lines[odd.line[i]].dropped = true;
	for (size_t i = end; i < lines->count; i++)
		lines->lines[i].dropped = true;
	size_t first = odd.count ? odd.line[0] : end < lines->count ? end : 0;
	lines->lines[first] = (struct line){.at = odd.said, .length = strlen(odd.said)};
}

/* Markup of Markdown and LaTeX around a cell: `name`, **12**, $12$, \textbf{12}. */
static void markup_strip(struct field *field) {
	static const char *const latex[] = {"\\textbf{", "\\texttt{", "\\textit{", "\\emph{", "\\num{", "\\mathbf{"};
	for (bool more = true; more;) {
		more = false;
		field_trim(field);
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
	for (size_t i = 0; i < count || i < lines->named; i++) { /* and fills up what a row lacks */
		if (i)
			putc('\t', out);
		if (i < count)
			field_write(lines, fields[i], out);
	}
}

char *table_text_plain(const char *text, size_t size, size_t *plain_size) {
	struct lines lines = {.arena = arena_new()};
	char *plain = NULL;
	lines_read(&lines, text, size);
	legend_drop(&lines);
	separators_strip(&lines);
	header_uncomment(&lines);
	titles_drop(&lines);
	index_name(&lines);
	odd_drop(&lines);
	FILE *out = open_memstream(&plain, plain_size);
	for (size_t i = 0; i < lines.count && out; i++) {
		line_write(&lines, &lines.lines[i], out);
		putc('\n', out);
	}
	if (out && lines.said)
		fprintf(out, "%s\n", lines.said);
	if (out)
		fclose(out);
	free(lines.lines);
	arena_free(lines.arena);
	return plain;
}

/* "Copy:", "Scale:": a colon behind all words of a column is none of a name. */
static void colons_cut(struct csv *csv) {
	for (size_t c = 0; c < csv->columns; c++) {
		size_t colons = 0;
		for (size_t r = 0; r < csv->rows; r++) {
			const char *cell = csv_cell(csv, r, c);
			colons += isalpha((unsigned char)*cell) && cell[strlen(cell) - 1] == ':';
		}
		for (size_t r = 0; r < csv->rows && colons == csv->rows; r++)
			table_cell_set(csv, r, c,
			               arena_printf(csv->arena, "%.*s", (int)strlen(csv_cell(csv, r, c)) - 1, csv_cell(csv, r, c)));
	}
}

/* Quoted fields, with as many in each row as there are names: no log is so, whatever stands between the quotes. */
static bool is_plainly_csv(const char *text, size_t size) {
	struct csv *csv = memchr(text, '"', size) && memchr(text, ',', size) ? csv_read(text, size, "", NULL) : NULL;
	bool plainly = csv && csv->columns > 2 && csv->rows > 1;
	for (size_t c = 0; plainly && c < csv->columns; c++)
		plainly = *csv->header[c] && !strchr(csv->header[c], ':');
	csv_free(csv);
	return plainly;
}

struct csv *table_text_read(const char *path, const char *text, size_t size, struct err *err) {
	mem_auto char *html = html_plain(text, size, &size);
	text = html ? html : text;
	bool plainly = is_plainly_csv(text, size);
	mem_auto char *sections = plainly ? NULL : table_sections_plain(text, size, &size);
	mem_auto char *lines = sections || plainly ? NULL : table_lines_plain(text, size, &size);
	mem_auto char *log = sections || lines || plainly ? NULL : table_log_plain(text, size, &size);
	text = sections ? sections : lines ? lines : log ? log : text;
	mem_auto char *plain = table_text_plain(text, size, &size);
	struct csv *csv = csv_read(plain ? plain : text, size, path, err);
	if (csv)
		colons_cut(csv);
	return csv;
}
