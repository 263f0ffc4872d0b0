/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/record/scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "src/base/stop.h"
#include "tuner/record/scan_impl.h"

struct scan scan_of(const char *text, size_t size, const char *name, struct err *err) {
	return (struct scan){
		.at = text, .start = text, .end = text + size, .limit = SCAN_NO_LIMIT, .name = name, .err = err};
}

bool scan_fail(struct scan *scan, const char *hint, const char *what, ...) {
	if (scan->failed)
		return false;
	size_t line = 1;
	for (const char *at = scan->start; at < scan->at; at++)
		line += *at == '\n';
	char text[400];
	va_list ap;
	va_start(ap, what);
	vsnprintf(text, sizeof text, what, ap);
	va_end(ap);
	err_set(scan->err, ERR_USAGE, hint, "%s: line %zu: %s", scan->name, line, text);
	scan->failed = true;
	return false;
}

static bool scan_stop(struct scan *scan) {
	if (!scan->failed)
		stop_fail(scan->err, "while a file was read");
	scan->failed = true;
	return false;
}

bool scan_unexpected(struct scan *scan, const char *wanted) {
	unsigned char c = (unsigned char)*scan->at;
	if (scan->end == scan->start)
		return scan_fail(scan, "was it written?", "the file is empty");
	if (scan->at >= scan->end)
		return scan_fail(scan, "the file was cut short: remove the incomplete part, or fetch it again",
		                 "the text ends where %s should be", wanted);
	if (isgraph(c))
		return scan_fail(scan, NULL, "'%c' where %s should be", c, wanted);
	return scan_fail(scan, NULL, "the byte 0x%02x where %s should be", c, wanted);
}

static bool is_open_end(struct scan *scan) {
	return scan->at == scan->end && scan->depth <= scan->open_depth;
}

enum scan_type scan_type(struct scan *scan) {
	if (scan->failed)
		return SCAN_NOTHING;
	switch (scan_peek(scan)) {
	case '{':
		return SCAN_OBJECT;
	case '[':
		return SCAN_ARRAY;
	case '"':
		return SCAN_TEXT;
	case 't':
		return SCAN_TRUE;
	case 'f':
		return SCAN_FALSE;
	case 'n':
		return SCAN_NULL;
	case '-':
	case 'N':
	case 'I':
		return SCAN_NUMBER;
	default:
		return scan_is_digit(*scan->at) ? SCAN_NUMBER : SCAN_NOTHING;
	}
}

static bool open_bracket(struct scan *scan, char bracket, const char *wanted) {
	if (scan->failed)
		return false;
	if (scan_peek(scan) != bracket)
		return scan_unexpected(scan, wanted);
	if (scan->depth == SCAN_DEPTH_MAX)
		return scan_fail(scan, NULL, "more than %d brackets inside each other", SCAN_DEPTH_MAX);
	scan->at++;
	scan->depth++;
	return scan->fresh = true;
}

/* False if the bracket closes. */
static bool next_in(struct scan *scan, char bracket) {
	char c = scan_peek(scan);
	if (stop_asked())
		return scan_stop(scan);
	if (c == bracket || is_open_end(scan)) {
		scan->at += c == bracket;
		scan->depth--;
		return scan->fresh = false;
	}
	if (!scan->fresh) {
		if (c != ',')
			return scan_unexpected(scan, bracket == '}' ? "',' or '}'" : "',' or ']'");
		scan->at++;
		scan_peek(scan);
		if (is_open_end(scan))
			return next_in(scan, bracket);
	}
	scan->fresh = false;
	return true;
}

bool scan_object(struct scan *scan) {
	return open_bracket(scan, '{', "an object");
}

bool scan_member(struct scan *scan, struct scan_text *key) {
	if (scan->failed || !next_in(scan, '}') || !scan_text(scan, key))
		return false;
	if (scan_peek(scan) != ':')
		return scan_unexpected(scan, "':'");
	scan->at++;
	return true;
}

bool scan_array(struct scan *scan) {
	return open_bracket(scan, '[', "a list");
}

bool scan_item(struct scan *scan) {
	return !scan->failed && next_in(scan, ']');
}

bool scan_end(struct scan *scan) {
	if (scan->failed)
		return false;
	scan_peek(scan);
	return scan->at == scan->end || scan_unexpected(scan, "the end");
}
