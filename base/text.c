/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <string.h>

static size_t lead_length(unsigned char c) {
	if (c < 0x80)
		return 1;
	if (c >= 0xC2 && c <= 0xDF)
		return 2;
	if ((c & 0xF0) == 0xE0)
		return 3;
	return c >= 0xF0 && c <= 0xF4 ? 4 : 0;
}

/* Overlong forms, surrogates and code points beyond U+10FFFF show in the second byte. */
static bool second_fits(unsigned char first, unsigned char second) {
	switch (first) {
	case 0xE0:
		return second >= 0xA0;
	case 0xED:
		return second <= 0x9F;
	case 0xF0:
		return second >= 0x90;
	case 0xF4:
		return second <= 0x8F;
	default:
		return true;
	}
}

const char *text_base_name(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool text_ends_with(const char *text, const char *end) {
	size_t length = strlen(text), size = strlen(end);
	return length >= size && memcmp(text + length - size, end, size) == 0;
}

size_t text_utf8(const char *text, size_t size) {
	const unsigned char *c = (const unsigned char *)text;
	size_t length = size ? lead_length(c[0]) : 0;
	if (length == 0 || length > size)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((c[i] & 0xC0) != 0x80)
			return 0;
	return length == 1 || second_fits(c[0], c[1]) ? length : 0;
}

/* Marks and controls that reorder text (U+061C, U+200E, U+200F, U+202A..202E, U+2066..2069): with them a line shows
 * other words than it holds (CVE-2021-42574). */
static bool is_bidirectional(const char *text, size_t length) {
	const unsigned char *c = (const unsigned char *)text;
	if (length == 2)
		return c[0] == 0xD8 && c[1] == 0x9C;
	if (length != 3 || c[0] != 0xE2)
		return false;
	return c[1] == 0x80 ? c[2] == 0x8E || c[2] == 0x8F || (c[2] >= 0xAA && c[2] <= 0xAE)
	                    : c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9;
}

/* C1 is obeyed by some terminals. */
bool text_is_control(const char *text, size_t length) {
	unsigned char c = (unsigned char)text[0];
	if (is_bidirectional(text, length))
		return true;
	return length == 1 ? c < 0x20 || c == 0x7F : length == 2 && c == 0xC2 && (unsigned char)text[1] < 0xA0;
}

void text_code_point(FILE *out, const char *text, size_t length) {
	const unsigned char *c = (const unsigned char *)text;
	unsigned point = length == 3   ? (c[0] & 0xFU) << 12 | (c[1] & 0x3FU) << 6 | (c[2] & 0x3FU)
	                 : length == 2 ? (c[0] & 0x1FU) << 6 | (c[1] & 0x3FU)
	                               : c[0];
	fprintf(out, "\\u%04x", point);
}

bool text_is_binary(const char *text, size_t size) {
	static const size_t SHARE = 4;
	size_t strange = 0, seen = 0, length;
	for (size_t i = 0; i < size; i += length ? length : 1) {
		length = text_utf8(text + i, size - i);
		if (length == 1 && strchr(" \t\r\n\033", text[i]))
			continue;
		strange += length == 0 || text_is_control(text + i, length);
		seen++;
	}
	return strange * SHARE > seen;
}

void text_clean(char *text, bool lines) {
	size_t size = strlen(text), length;
	for (size_t i = 0; i < size; i += length) {
		length = text_utf8(text + i, size - i);
		if (length == 0) {
			text[i] = '?';
			length = 1;
		} else if (text_is_control(text + i, length) && !(lines && (text[i] == '\n' || text[i] == '\t'))) {
			memset(text + i, ' ', length);
		}
	}
}

const char *text_entity(char c) {
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void text_markup(FILE *out, const char *text) {
	for (; *text; text++) {
		const char *entity = text_entity(*text);
		if (entity)
			fputs(entity, out);
		else
			putc(*text, out);
	}
}
