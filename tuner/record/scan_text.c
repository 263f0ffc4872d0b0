/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts, and the values of parameters. */
#include <ctype.h>

#include "base/text.h"
#include "tuner/record/record_impl.h"

/* From behind the opening quote to behind the closing one. */
static bool scan_pass_text(struct scan *scan, bool *escaped) {
	for (;;) {
		uint64_t stops = scan_stops(scan_load(scan->at));
		if (!stops) {
			scan->at += 8;
			continue;
		}
		scan->at = scan_first(scan->at, stops);
		if (*scan->at == '"') {
			scan->at++;
			return true;
		}
		if (*scan->at != '\\' || (unsigned char)scan->at[1] < 0x20)
			return scan_unexpected(scan, "a character of a text");
		*escaped = true;
		scan->at += 2;
	}
}

static bool is_plain(char c) {
	return c != '"' && c != '{' && c != '}' && c != '[' && c != ']' && c != '\0';
}

static void pass_plain(struct scan *scan) {
	for (;;) {
		uint64_t stops = scan_brackets(scan_load(scan->at));
		if (!stops) {
			scan->at += 8;
			continue;
		}
		scan->at = scan_first(scan->at, stops);
		if (!is_plain(*scan->at))
			return;
		scan->at++;
	}
}

static bool is_item_end(char c) {
	return c == ',' || c == '}' || c == ']' || c == '\0' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool skip_number(struct scan *scan) {
	while (!is_item_end(*scan->at))
		scan->at++;
	return true;
}

static bool skip_word(struct scan *scan, const char *word) {
	size_t size = strlen(word);
	if (strncmp(scan->at, word, size) != 0 || !is_item_end(scan->at[size]))
		return scan_unexpected(scan, word);
	scan->at += size;
	return true;
}

/* Skips one bracket or text inside a bracket. kinds has one bit for each depth, set for an object. */
static bool skip_one(struct scan *scan, uint64_t *kinds, int *depth) {
	bool escaped;
	pass_plain(scan);
	char c = *scan->at++;
	switch (c) {
	case '"':
		return scan_pass_text(scan, &escaped);
	case '{':
	case '[':
		if (scan->depth + *depth >= SCAN_DEPTH_MAX)
			return scan_fail(scan, NULL, "more than %d brackets inside each other", SCAN_DEPTH_MAX);
		*kinds = *kinds << 1 | (c == '{');
		++*depth;
		return true;
	case '}':
	case ']':
		if ((*kinds & 1) == (c == '}')) {
			*kinds >>= 1;
			--*depth;
			return true;
		}
	}
	scan->at--;
	return scan_unexpected(scan, *kinds & 1 ? "'}'" : "']'");
}

bool scan_skip(struct scan *scan) {
	bool escaped;
	uint64_t kinds = 0;
	int depth = 0;
	switch (scan_type(scan)) {
	case SCAN_OBJECT:
	case SCAN_ARRAY:
		do
			if (!skip_one(scan, &kinds, &depth))
				return false;
		while (depth);
		return true;
	case SCAN_TEXT:
		scan->at++;
		return scan_pass_text(scan, &escaped);
	case SCAN_NUMBER:
		return skip_number(scan);
	case SCAN_TRUE:
		return skip_word(scan, "true");
	case SCAN_FALSE:
		return skip_word(scan, "false");
	case SCAN_NULL:
		return skip_word(scan, "null");
	case SCAN_NOTHING:
		break;
	}
	return !scan->failed && scan_unexpected(scan, "a value");
}

bool scan_text(struct scan *scan, struct scan_text *out) {
	if (scan->failed)
		return false;
	if (scan_peek(scan) != '"')
		return scan_unexpected(scan, "a text");
	out->at = ++scan->at;
	out->escaped = false;
	if (!scan_pass_text(scan, &out->escaped))
		return false;
	out->size = (size_t)(scan->at - 1 - out->at);
	return true;
}

/* The four hexadecimal digits at `text`; -1 if one is invalid. */
static int32_t hex4(const char *text, const char *end) {
	int32_t code = 0;
	for (int i = 0; i < 4; i++) {
		if (text + i >= end || !isxdigit((unsigned char)text[i]))
			return -1;
		char c = text[i];
		code = code * 16 + (isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return code;
}

static char *put_utf8(char *to, uint32_t code) {
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
	*to++ = (char)(lead[more] | code >> 6 * more);
	while (more--)
		*to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
	return to;
}

/* Writes the escape behind the backslash at *from, which moves behind it. NULL for an unknown escape. */
static char *put_escape(char *to, const char **from, const char *end) {
	static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char c = *(*from)++;
	const char *name = c ? strchr(names, c) : NULL;
	if (name) {
		*to++ = meant[name - names];
		return to;
	}
	int32_t code = c == 'u' ? hex4(*from, end) : -1, low;
	if (code <= 0)
		return NULL;
	*from += 4;
	if (code >= 0xd800 && code < 0xe000) { /* a pair of surrogates */
		if (code >= 0xdc00 || end - *from < 6 || (*from)[0] != '\\' || (*from)[1] != 'u')
			return NULL;
		low = hex4(*from + 2, end);
		if (low < 0xdc00 || low >= 0xe000)
			return NULL;
		*from += 6;
		code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
	}
	return put_utf8(to, (uint32_t)code);
}

static bool is_utf8(const char *text, size_t size) {
	while (size) {
		size_t step = text_utf8(text, size);
		if (!step)
			return false;
		text += step;
		size -= step;
	}
	return true;
}

char *scan_text_copy(struct scan *scan, const struct scan_text *text, struct arena *arena) {
	char *copy = arena_alloc(arena, text->size + 1, 1), *to = copy;
	const char *from = text->at, *end = text->at + text->size;
	if (!is_utf8(from, text->size)) {
		scan_fail(scan, NULL, "a text is not UTF-8");
		return NULL;
	}
	while (from < end) {
		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		from++;
		if (!(to = put_escape(to, &from, end))) {
			scan_fail(scan, NULL, "a text has an escape that JSON does not know");
			return NULL;
		}
	}
	return copy;
}

static bool number_value(struct scan *scan, struct value *out) {
	int64_t whole;
	double real;
	if (scan_whole(scan, &whole))
		*out = value_int(whole);
	else if (scan_number(scan, &real))
		*out = value_real(real);
	return !scan->failed;
}

static bool has_control(const char *word) {
	for (; *word; word++)
		if ((unsigned char)*word < 0x20 || *word == 0x7f)
			return true;
	return false;
}

static bool value_text_of(struct scan *scan, struct arena *arena, struct value *out) {
	struct scan_text text;
	const char *word = scan_text(scan, &text) ? scan_text_copy(scan, &text, arena) : NULL;
	if (!word)
		return false;
	if (has_control(word))
		return scan_fail(scan, NULL, "a value has a control character");
	*out = value_word(word);
	return true;
}

bool scan_value(struct scan *scan, struct arena *arena, struct value *out) {
	switch (scan_type(scan)) {
	case SCAN_NUMBER:
		return number_value(scan, out);
	case SCAN_TEXT:
		return value_text_of(scan, arena, out);
	case SCAN_TRUE:
	case SCAN_FALSE:
		*out = value_int(*scan->at == 't');
		return scan_skip(scan);
	case SCAN_NULL:
		*out = value_word("None");
		return scan_skip(scan);
	default:
		return !scan->failed && scan_unexpected(scan, "a number, a text, true or false");
	}
}
