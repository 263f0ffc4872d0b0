/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/chart/text.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cmd/report/chart/drawing.h"

enum { LONGEST = 4096 };
static const char ellipsis[] = "\xE2\x80\xA6";

/* XML does not allow U+FFFE and U+FFFF (XML 1.0, 2.2). */
static bool is_forbidden(const unsigned char *c, size_t length) {
	return length == 3 && c[0] == 0xEF && c[1] == 0xBF && c[2] >= 0xBE;
}

char *text_tame(const char *text) {
	char *tame = mem_printf("%.*s", (int)LONGEST, text ? text : ""), *to = tame;
	text_clean(tame, false);
	size_t size = strlen(tame), length;
	for (size_t i = 0; i < size; i += length) {
		length = text_utf8(tame + i, size - i);
		if (is_forbidden((const unsigned char *)tame + i, length)) {
			*to++ = '?';
			continue;
		}
		memmove(to, tame + i, length);
		to += length;
	}
	*to = '\0';
	return tame;
}

/* The widths follow DejaVu Sans and Verdana, the widest sans-serif fonts in common use. Scripts above U+1100 are mostly
 * square. */
static double character_width(const char *text) {
	unsigned char c = (unsigned char)text[0];
	if (c >= 0xE1 && memcmp(text, ellipsis, 3) != 0)
		return CANVAS_FONT * 1.1;
	if (c && strchr("MW@%", c))
		return CANVAS_FONT * 1.0;
	if (c == 'm' || c == 'w')
		return CANVAS_FONT * 0.98;
	if (c >= 'A' && c <= 'Z')
		return CANVAS_FONT * 0.77;
	return CANVAS_FONT * (c && strchr("ijl.,;:'| ", c) ? 0.36 : 0.64);
}

static size_t step(const char *text) {
	size_t length = text_utf8(text, strlen(text));
	return length ? length : 1;
}

double text_width(const char *text) {
	double width = 0;
	for (; *text; text += step(text))
		width += character_width(text);
	return width;
}

/* Returns how many bytes of it fit. */
static size_t fitting(const char *text, double width) {
	size_t used = 0;
	while (text[used] && (width -= character_width(text + used)) >= 0)
		used += step(text + used);
	return used;
}

char *text_fit(const char *text, double width) {
	if (text_width(text) <= width)
		return mem_strdup(text);
	return mem_printf("%.*s%s", (int)fitting(text, width - text_width(ellipsis)), text, ellipsis);
}

/* Returns the end of the last word that fits; a word that is longer than a line is broken. */
static size_t line_end(const char *text, double width) {
	size_t most = fitting(text, width);
	for (size_t end = most; end > most / 2 && text[most]; end--)
		if (text[end] == ' ')
			return end;
	return most;
}

size_t text_wrap(const char *text, double width, char **lines, size_t max) {
	size_t count = 0;
	for (text += strspn(text, " "); *text && count < max; text += strspn(text, " ")) {
		size_t end = line_end(text, width);
		bool last = count + 1 == max || end == 0;
		lines[count++] = last ? text_fit(text, width) : mem_printf("%.*s", (int)end, text);
		if (last)
			break;
		text += end;
	}
	return count;
}
