/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of Python text, tuning parameters, and conditions. */
#include <ctype.h>

#include "base/expr/node.h"
#include "base/t1/slice.h"
#include "base/t1/t1_impl.h"

bool slice_word_char(char c) {
	return isalnum((unsigned char)c) || c == '_';
}

struct slice slice_trim(struct slice s) {
	while (s.at < s.end && strchr(" \t\r\n", *s.at))
		s.at++;
	while (s.at < s.end && strchr(" \t\r\n", s.end[-1]))
		s.end--;
	return s;
}

bool slice_empty(struct slice s) {
	s = slice_trim(s);
	return s.at == s.end;
}

bool slice_begins(struct slice s, const char *mark) {
	size_t size = strlen(mark), left = (size_t)(s.end - s.at);
	if (left < size || memcmp(s.at, mark, size) != 0)
		return false;
	return left == size || !slice_word_char(mark[0]) || !slice_word_char(s.at[size]);
}

/* The end of the quoted word at `at`. */
static const char *skip_quoted(const char *at, const char *end) {
	const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
	return close ? close + 1 : end;
}

static int deeper(char c) {
	return c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
}

const char *slice_find(struct slice s, const char *mark) {
	bool in_word = false;
	int depth = 0;
	while (s.at < s.end) {
		if (depth == 0 && !(in_word && slice_word_char(mark[0])) && slice_begins(s, mark))
			return s.at;
		in_word = slice_word_char(*s.at);
		depth += deeper(*s.at);
		s.at = *s.at == '\'' || *s.at == '"' ? skip_quoted(s.at, s.end) : s.at + 1;
	}
	return s.end;
}

const char *slice_close(struct slice s) {
	char wanted = *s.at == '(' ? ')' : *s.at == '[' ? ']' : '}';
	int depth = 0;
	while (s.at < s.end) {
		depth += deeper(*s.at);
		if (depth == 0)
			return *s.at == wanted ? s.at : NULL;
		s.at = *s.at == '\'' || *s.at == '"' ? skip_quoted(s.at, s.end) : s.at + 1;
	}
	return NULL;
}

/* Conditions are Python, but some files write the logical operators of C. Both bind weaker than comparisons, in the
 * same order; only ! binds tighter than `not`, so it gets parentheses of its own. */

struct writer {
	char *text;
	size_t used;
	int nest;
	bool has_c, divides, bits;
	struct err *err;
};

/* The room is six bytes for each byte of the text, enough for "(not " and ")" in place of a !. */
static void put(struct writer *w, const char *at, size_t size) {
	memcpy(w->text + w->used, at, size);
	w->used += size;
	w->text[w->used] = 0;
}

static size_t quoted_size(struct slice s) {
	const char *close = memchr(s.at + 1, *s.at, (size_t)(s.end - s.at - 1));
	return close ? (size_t)(close + 1 - s.at) : (size_t)(s.end - s.at);
}

/* The end of the operand of a !: more of them, then a group in parentheses, or a word with its call. */
static const char *operand_end(struct slice s) {
	while (s.at < s.end && strchr("! \t", *s.at))
		s.at++;
	while (s.at < s.end && slice_word_char(*s.at))
		s.at++;
	if (s.at == s.end || *s.at != '(')
		return s.at;
	const char *close = slice_close(s);
	return close ? close + 1 : s.end;
}

static int translate(struct writer *w, struct slice s);

static int translate_not(struct writer *w, struct slice *s) {
	struct slice operand = {s->at + 1, operand_end((struct slice){s->at + 1, s->end})};
	if (slice_empty(operand))
		return err_set(w->err, ERR_USAGE, NULL, "nothing follows the '!' in '%.*s'", (int)(s->end - s->at), s->at);
	w->has_c = true;
	put(w, "(not ", 5);
	if (translate(w, operand))
		return -1;
	put(w, ")", 1);
	s->at = operand.end;
	return 0;
}

static int translate_one(struct writer *w, struct slice *s) {
	size_t size = *s->at == '\'' || *s->at == '"' ? quoted_size(*s) : 1;
	bool both = slice_begins(*s, "&&"), either = slice_begins(*s, "||");
	if (*s->at == '!' && !slice_begins(*s, "!="))
		return translate_not(w, s);
	if (both || either) {
		w->has_c = true;
		put(w, both ? " and " : " or ", both ? 5 : 4);
		s->at += 2;
		return 0;
	}
	if (*s->at == '/') {
		size = slice_begins(*s, "//") ? 2 : 1;
		w->divides |= size == 1;
	} else if (*s->at == '!') {
		size = 2;
	} else if (strchr("&|^", *s->at)) {
		w->bits = true;
	}
	put(w, s->at, size);
	s->at += size;
	return 0;
}

static int translate(struct writer *w, struct slice s) {
	if (w->nest >= EXPR_NEST_MAX)
		return err_set(w->err, ERR_USAGE, NULL, "nested too deeply");
	w->nest++;
	int status = 0;
	while (status == 0 && s.at < s.end)
		status = translate_one(w, &s);
	w->nest--;
	return status;
}

char *t1_condition(const char *text, struct err *err) {
	struct slice s = {text, text + strlen(text)};
	if (s.end - s.at > EXPR_TEXT_MAX)
		return err_null(err_set(err, ERR_USAGE, NULL, "the expression is longer than %d characters", EXPR_TEXT_MAX));
	struct writer w = {.text = mem_alloc(6 * (size_t)(s.end - s.at) + 1, 1), .err = err};
	int status = translate(&w, s);
	if (status == 0 && w.has_c && w.divides)
		status = err_set(err, ERR_USAGE, "write // for whole numbers, or and, or, not for && || !",
		                 "'%.300s' has operators of C, and / differs between C and Python", text);
	if (status == 0 && w.has_c && w.bits)
		status = err_set(err, ERR_USAGE, "write and, or, not for && || !",
		                 "'%.300s' has operators of C, and & | ^ bind differently in C and in Python", text);
	if (status == 0)
		return w.text;
	free(w.text);
	return NULL;
}
