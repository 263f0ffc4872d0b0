/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditions are Python, but some files write the logical operators of C. Both bind weaker than comparisons, in the
 * same order; only ! binds tighter than `not`, so it gets parentheses of its own. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/expr/node.h"
#include "tuner/spec/impl.h"
#include "tuner/spec/slice.h"

enum { NEST_MAX = EXPR_NEST_MAX };

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
	if (w->nest >= NEST_MAX)
		return err_set(w->err, ERR_USAGE, NULL, "nested too deeply");
	w->nest++;
	int status = 0;
	while (status == 0 && s.at < s.end)
		status = translate_one(w, &s);
	w->nest--;
	return status;
}

char *spec_condition(const char *text, struct err *err) {
	struct slice s = {text, text + strlen(text)};
	if (s.end - s.at > EXPR_TEXT_MAX) {
		err_set(err, ERR_USAGE, NULL, "the expression is longer than %d characters", EXPR_TEXT_MAX);
		return NULL;
	}
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
