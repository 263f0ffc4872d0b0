/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to the files that read tables as people type them. */
#ifndef TUNER_STUDY_TABLE_TEXT_IMPL_H
#define TUNER_STUDY_TABLE_TEXT_IMPL_H
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
	char delimiter;   /* FORM_CHARACTER */
	bool wide;        /* FORM_BLANKS: names have blanks, so that two separate fields */
	size_t head;      /* the header of a known producer; count: there is none */
	size_t named;     /* FORM_PIPES: fields of the header */
	size_t usual;     /* fields that most lines have */
	const char *said; /* a comment about names; NULL: none */
	struct arena *arena;
};

struct field {
	const char *at;
	size_t length;
};

static inline void field_trim(struct field *field) {
	while (field->length && strchr(" \t", *field->at)) {
		field->at++;
		field->length--;
	}
	while (field->length && strchr(" \t", field->at[field->length - 1]))
		field->length--;
}

static inline bool line_begins(const struct line *line, const char *text) {
	return line->length >= strlen(text) && strncmp(line->at, text, strlen(text)) == 0;
}

static inline size_t line_count(const struct line *line, char what) {
	size_t count = 0;
	bool quoted = false;
	for (size_t i = 0; i < line->length; i++) {
		quoted ^= line->at[i] == '"';
		count += line->at[i] == what && !quoted;
	}
	return count;
}

static inline bool field_is_number(const struct field *field) {
	size_t length = 0;
	while (length < field->length && strchr("0123456789+-.,:eEx%", field->at[length]))
		length++;
	return length && length == field->length && memchr("0123456789.-+", *field->at, 13);
}

/* An arrow points from a remark to the text before it, which has this length. */
static inline size_t remark_cut(const char *text, size_t length) {
	const char *arrow = memmem(text, length, "\xe2\x86\x90", 3);
	for (length = arrow ? (size_t)(arrow - text) : length; arrow && length && text[length - 1] == ' ';)
		length--;
	return length;
}
/* src: table_form.c. Splits a text, finds what separates fields, and drops rules. The caller frees lines->lines. */
void lines_read(struct lines *lines, const char *text, size_t size);
size_t fields_read(const struct lines *lines, const struct line *line, struct field fields[FIELDS_MAX]);
bool line_is_rule(const struct line *line);
#endif
