/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/ui.h"

enum { WIDTH_PIPED = 80, WIDTH_MAX = 110 };

static int width_of(FILE *out) {
	int width = ui_width(out);
	return width == 0 ? WIDTH_PIPED : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static int columns_of(const char *text, size_t size) {
	int columns = 0;
	for (size_t i = 0; i < size; i++)
		columns += ((unsigned char)text[i] & 0xC0) != 0x80;
	return columns;
}

void ui_wrap(FILE *out, int first, int indent, const char *text) {
	char *copy = mem_strdup(text), *word = copy;
	int width = width_of(out), column = first;
	text_clean(copy, false);
	fprintf(out, "%*s", first, "");
	while (*(word += strspn(word, " "))) {
		size_t size = strcspn(word, " ");
		int columns = columns_of(word, size);
		bool fresh = column <= indent || column == first;
		if (!fresh && column + 1 + columns > width) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
			fresh = true;
		}
		fprintf(out, "%s%.*s", fresh ? "" : " ", (int)size, word);
		column += columns + !fresh;
		word += size;
	}
	fputc('\n', out);
	free(copy);
}
