/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>

#include "base/mem.h"
#include "base/text.h"
#include "src/ui/ui.h"

enum { WIDTH_MAX = 110 };

static int width_of(FILE *out) {
	int width = ui_width(out);
	return width == 0 ? INT_MAX : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* Frees the text. */
static void wrap(FILE *out, int first, int indent, char *text) {
	char *word = text;
	int width = width_of(out), column = first;
	bool fresh = true; /* the line has no word yet */
	text_clean(text, false);
	while (*(word += strspn(word, " "))) {
		size_t size = strcspn(word, " ");
		int columns = ui_columns(word, size);
		if (!fresh && columns >= width - column) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
			fresh = true;
		}
		fprintf(out, "%s%.*s", fresh ? "" : " ", (int)size, word);
		column += columns + !fresh;
		fresh = false;
		word += size;
	}
	fputc('\n', out);
	free(text);
}

void ui_wrap(FILE *out, int first, int indent, const char *format, ...) {
	va_list ap;
	fprintf(out, "%*s", first, "");
	va_start(ap, format);
	wrap(out, first, indent, mem_vprintf(format, ap));
	va_end(ap);
}

void ui_wrap_on(FILE *out, int first, int indent, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	wrap(out, first, indent, mem_vprintf(format, ap));
	va_end(ap);
}

void ui_fix(FILE *out, int indent, const char *command) {
	mem_auto char *copy = mem_strdup(command);
	text_clean(copy, false);
	if (*copy)
		fprintf(out, "%*sfix: %s\n", indent, "", copy);
}
