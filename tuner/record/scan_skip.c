/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/record/scan_impl.h"

bool scan_pass_text(struct scan *scan, bool *escaped) {
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
		if (__builtin_expect(scan->at >= scan->limit, 0))
			scan->more(scan);
		uint64_t stops = scan_brackets(scan_load(scan->at));
		if (!stops) {
			scan->at += 8;
			continue;
		}
		scan->at = scan_first(scan->at, stops);
		if (scan->at >= scan->limit)
			continue;
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
