/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/spec/slice.h"

#include <ctype.h>
#include <string.h>

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
