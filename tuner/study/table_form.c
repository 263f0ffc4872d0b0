/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of a text, what separates their fields, and the fields. */
#include "tuner/study/table_text_impl.h"

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

/* A rule between rows: "|---|:--:|", "+----+", "\hline", "-----", "---,---". */
bool line_is_rule(const struct line *line) {
	size_t dashes = 0;
	for (size_t i = 0; i < line->length; i++) {
		dashes += line->at[i] == '-' || line->at[i] == '=';
		if (!strchr("|+-=:,; \t", line->at[i]))
			return false;
	}
	return dashes > 2;
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
	field_trim(field);
	return true;
}

size_t fields_read(const struct lines *lines, const struct line *line, struct field fields[FIELDS_MAX]) {
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

/* The number of fields that most lines have. */
static size_t usual_fields(const struct lines *lines) {
	size_t counts[FIELDS_MAX + 1] = {0}, best = 0, rows = 0;
	struct field fields[FIELDS_MAX];
	for (size_t i = 0; i < lines->count && rows < 1000; i++)
		if (!lines->lines[i].dropped && *lines->lines[i].at != '#' && !line_is_rule(&lines->lines[i]) && ++rows)
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
		if (line->dropped || *line->at == '#' || line_is_rule(line))
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

/* The separator that most lines below the first one have, if it is one of most lines; 0: none. */
static char delimiter_of(const struct lines *lines) {
	static const char known[] = "\t;,";
	size_t best = 0, rows = 0, with[3] = {0}, first[3] = {0};
	for (size_t i = 0; i < lines->count && rows < LOOKED_AT; i++) {
		const struct line *line = &lines->lines[i];
		if (line->dropped || *line->at == '#' || line_is_rule(line))
			continue;
		for (size_t k = 0; k < 3; k++) {
			with[k] += line_count(line, known[k]) > 0;
			first[k] = rows ? first[k] : with[k];
		}
		rows++;
	}
	for (size_t k = 1; k < 3; k++)
		best = with[k] - first[k] > with[best] - first[best] ? k : best;
	bool headed = lines->head == lines->count || line_count(&lines->lines[lines->head], known[best]);
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

static void form_find(struct lines *lines) {
	size_t pipes = 0, latex = 0, rows = 0;
	for (size_t i = 0; i < lines->count && rows < LOOKED_AT; i++) {
		const struct line *line = &lines->lines[i];
		rows += !line->dropped && (!line_is_rule(line) || memchr(line->at, '|', line->length));
		pipes += !line->dropped && line_count(line, '|') > 0;
		latex +=
			!line->dropped && line_count(line, '&') && line->length > 2 && memmem(line->at, line->length, "\\\\", 2);
	}
	lines->form = FORM_CHARACTER;
	lines->delimiter = delimiter_of(lines);
	if (latex > 1)
		lines->form = FORM_LATEX;
	else if (pipes > 1 && 2 * pipes >= rows)
		lines->form = FORM_PIPES;
	else if (!lines->delimiter || lines->delimiter == '\t') { /* tabs may stand among blanks */
		size_t tabs = lines->delimiter ? rows_alike(lines, usual_fields(lines)) : 0;
		lines->form = FORM_BLANKS;
		if (!are_blanks(lines) || rows_alike(lines, usual_fields(lines)) <= tabs)
			lines->form = FORM_CHARACTER;
	}
}

/* The last row may go without a mark of its end. */
static void latex_strip(struct line *line, const struct line *next) {
	const char *end = memmem(line->at, line->length, "\\\\", 2);
	bool last = next && memmem(next->at, next->length, "\\end{", 5);
	line->dropped = !line_count(line, '&') || (!end && !last);
	line->length = end ? (size_t)(end - line->at) : line->length;
}

/* JMH writes "812.4 ± 5.1" below two names: there the sign is a blank. */
static void signs_blank(struct lines *lines) {
	for (size_t i = 0; i < lines->count; i++) {
		struct line *line = &lines->lines[i];
		line->length = remark_cut(line->at, line->length);
		const char *sign = memmem(line->at, line->length, "\xc2\xb1", 2);
		sign = sign ? sign : memmem(line->at, line->length, " ? ", 3); /* where it could not be printed */
		if (!sign || line->dropped)
			continue;
		size_t before = (size_t)(sign - line->at);
		line->at = memset(arena_printf(lines->arena, "%.*s", (int)line->length, line->at) + before, ' ', 2) - before;
	}
}

/* Rules, and in Markdown what is not a row, are dropped. */
static void rules_drop(struct lines *lines) {
	for (size_t i = 0; i < lines->count; i++) {
		struct line *line = &lines->lines[i];
		if (lines->form == FORM_LATEX && !line->dropped)
			latex_strip(line, i + 1 < lines->count ? line + 1 : NULL);
		else if (lines->form == FORM_PIPES && !line->dropped)
			line->dropped = line_is_rule(line) || (!line_count(line, '|') && *line->at != '#');
		else if (lines->form == FORM_BLANKS || line_begins(line, "+-") || line_begins(line, "---"))
			line->dropped = line->dropped || line_is_rule(line);
	}
}

/* "CPU Iterations" of Google Benchmark are two names, and counters behind the last name have none. */
static void known_cut(struct lines *lines) {
	struct field fields[FIELDS_MAX];
	if (lines->form != FORM_BLANKS || lines->head == lines->count)
		return;
	struct line *head = &lines->lines[lines->head];
	size_t first = lines->head + 1;
	while (first < lines->count && lines->lines[first].dropped)
		first++;
	size_t rows = first < lines->count ? fields_read(lines, &lines->lines[first], fields) : 0;
	head->tight = fields_read(lines, head, fields) < rows;
	size_t named = fields_read(lines, head, fields);
	for (size_t i = lines->head + 1; i < lines->count; i++) {
		struct line *line = &lines->lines[i];
		if (!line->dropped && named > 1 && fields_read(lines, line, fields) > named)
			line->length = (size_t)(fields[named - 1].at + fields[named - 1].length - line->at);
	}
	lines->usual = rows < named ? rows : named;
}

/* The line of names; NULL: there is none with rows below it. */
static struct line *names_find(const struct lines *lines) {
	size_t first = 0;
	while (first < lines->count && (lines->lines[first].dropped || *lines->lines[first].at == '#'))
		first++;
	bool text = lines->form == FORM_BLANKS || (lines->form == FORM_CHARACTER && lines->delimiter);
	return text && lines->usual > 1 && lines->head == lines->count && first + 1 < lines->count ? &lines->lines[first]
	                                                                                           : NULL;
}

/* Writes a line with another field at a place; SIZE_MAX: as it is. */
static void line_join(struct lines *lines, struct line *line, const struct field *fields, size_t count, size_t place,
                      const char *more) {
	char mark = lines->form == FORM_BLANKS ? '\t' : lines->delimiter;
	size_t room = line->length + strlen(more) + 3 * count + 2, length = 0;
	char *text = arena_alloc(lines->arena, room, 1);
	for (size_t i = 0; i < count; i++) {
		bool blank = mark == '\t' && memchr(fields[i].at, ' ', fields[i].length);
		const char *quote = blank && !memchr(fields[i].at, '"', fields[i].length) ? "\"" : "";
		if (i == place)
			length += (size_t)snprintf(text + length, room - length, "%s%c", more, mark);
		length += (size_t)snprintf(text + length, room - length, "%s%.*s%s%.*s", quote, (int)fields[i].length,
		                           fields[i].at, quote, i + 1 < count, &mark);
	}
	*line = (struct line){.at = text, .length = length};
}

/* The names may be separated in another way than the rows: "threads","time" above blanks. */
static void names_cut(struct lines *lines) {
	struct line *names = names_find(lines), *row = names ? names + 1 : NULL;
	struct field fields[FIELDS_MAX];
	size_t numbers = 0;
	while (row && row < lines->lines + lines->count && (row->dropped || *row->at == '#'))
		row++;
	bool rows = row && row < lines->lines + lines->count && fields_read(lines, row, fields) == lines->usual;
	for (size_t i = 0; i < lines->usual && rows; i++)
		numbers += field_is_number(&fields[i]);
	if (!numbers || fields_read(lines, names, fields) == lines->usual) /* a title may stand above the names */
		return;
	for (const char *mark = ",;\t"; *mark; mark++) {
		const struct lines other = {.form = FORM_CHARACTER, .delimiter = *mark};
		size_t count = fields_read(&other, names, fields), words = 0;
		for (size_t i = 0; i < count; i++)
			words += fields[i].length && !field_is_number(&fields[i]);
		if (count == lines->usual && words == count) {
			line_join(lines, names, fields, count, SIZE_MAX, "");
			return;
		}
	}
}

static size_t kind_of(const struct field *field) { /* a word, a whole number, a fraction */
	return field_is_number(field) + (field_is_number(field) && memchr(field->at, '.', field->length));
}

/* Does a row with one field more, without this one, have fields of the kinds of the other row? */
static bool is_like_without(const struct field *more, const struct field *less, size_t count, size_t place) {
	size_t i = 0;
	while (i < count && kind_of(&less[i]) == kind_of(&more[i + (i >= place)]))
		i++;
	return i == count;
}

/* The field that rows such as "dynamic,4,1.1" have beside "static,1.2" below two names; 0: there is none, or another
 * number of fields. Nothing that was chosen has a fraction. */
static size_t surplus_find(const struct lines *lines, const struct line *names, size_t named) {
	struct field more[FIELDS_MAX], less[FIELDS_MAX];
	const struct line *end = lines->lines + lines->count, *shorter = NULL;
	size_t longer = 0, place = 1;
	for (const struct line *line = names + 1; line < end; line++) {
		size_t count = line->dropped || *line->at == '#' ? 0 : fields_read(lines, line, more);
		if (count && count != named && count != named + 1)
			return 0;
		longer += count == named + 1;
		shorter = count == named ? line : shorter;
	}
	if (!shorter || longer < 2 || named + 1 >= FIELDS_MAX)
		return 0;
	fields_read(lines, shorter, less);
	for (const struct line *line = names + 1; line < end && place < named; line++) {
		bool is_longer = !line->dropped && *line->at != '#' && fields_read(lines, line, more) == named + 1;
		while (is_longer && place < named && (!is_like_without(more, less, named, place) || kind_of(&more[place]) > 1))
			place++;
		place = is_longer && is_like_without(more, less, named, named) ? named : place; /* "1,8.5,0.4" has a remark */
	}
	return place < named ? place : 0;
}

/* It gets a name, and the rows that lack it a dash. */
static void names_complete(struct lines *lines) {
	struct line *names = names_find(lines);
	struct field fields[FIELDS_MAX];
	size_t named = names ? fields_read(lines, names, fields) : 0, place = names ? surplus_find(lines, names, named) : 0;
	if (!place)
		return;
	const char *before = arena_printf(lines->arena, "%.*s", (int)fields[place - 1].length, fields[place - 1].at);
	const char *name = table_has_word(before, "schedule scheduler scheduling schedules")
	                       ? "chunk"
	                       : arena_printf(lines->arena, "column %zu", place + 1);
	for (struct line *line = names; line < lines->lines + lines->count; line++)
		if (!line->dropped && *line->at != '#' && fields_read(lines, line, fields) == named)
			line_join(lines, line, fields, named, place, line == names ? name : "-");
	lines->usual = named + 1;
	lines->said = arena_printf(lines->arena, "# assumed names: %s", name);
}

void lines_read(struct lines *lines, const char *text, size_t size) {
	lines_split(lines, text, size);
	log_drop(lines);
	form_find(lines);
	if (lines->form == FORM_BLANKS)
		signs_blank(lines);
	rules_drop(lines);
	lines->usual = usual_fields(lines);
	known_cut(lines);
	names_cut(lines);
	names_complete(lines);
}
