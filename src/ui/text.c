/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Width of text on a terminal: East Asian letters occupy two columns, combining ones none. POSIX wcwidth() knows them
 * only in a UTF-8 locale; in other locales each letter counts as one column. */
#define _XOPEN_SOURCE 700
#include <config.h>

#include <langinfo.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "src/ui/ui.h"

bool ui_utf8(void) {
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* Decodes a well-formed sequence of 1 to 4 bytes. */
static wchar_t letter(const char *text, size_t size) {
	static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	wchar_t c = (unsigned char)text[0] & first[size];
	for (size_t i = 1; i < size; i++)
		c = c << 6 | ((unsigned char)text[i] & 0x3f);
	return c;
}

static int letter_columns(const char *text, size_t size) {
	int columns = size > 1 && ui_utf8() ? wcwidth(letter(text, size)) : 1;
	return columns < 0 ? 1 : columns;
}

size_t ui_fitting(const char *text, size_t size, int columns) {
	size_t at = 0, length;
	for (; at < size; at += length) {
		length = text_utf8(text + at, size - at);
		int wide = length ? letter_columns(text + at, length) : 1;
		if (wide > columns)
			break;
		columns -= wide;
		length = length ? length : 1;
	}
	return at;
}

int ui_columns(const char *text, size_t size) {
	int columns = 0;
	for (size_t at = 0, length; at < size; at += length ? length : 1) {
		length = text_utf8(text + at, size - at);
		columns += length ? letter_columns(text + at, length) : 1;
	}
	return columns;
}
