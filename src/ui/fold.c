/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folds lines at the width of a terminal. Nothing is cut: a command that continues gets a backslash, so that it can
 * still be copied, and a word that is too long continues on the next line. */
#include <limits.h>

#include "base/mem.h"
#include "src/ui/ui.h"

/* The columns of a text without its escape sequences, which end in 'm'. */
static int columns_of(const char *text, size_t size) {
	int columns = 0;
	for (size_t at = 0; at < size;) {
		size_t plain = 0;
		while (at + plain < size && text[at + plain] != '\033')
			plain++;
		columns += ui_columns(text + at, plain);
		at += plain;
		while (at < size && text[at] == '\033') {
			while (at < size && text[at] != 'm')
				at++;
			at += at < size;
		}
	}
	return columns;
}

/* The column behind a label such as "run it as:   ", or two more than the line's own indentation. */
static int indent_of(const char *line, size_t size) {
	size_t blank = strspn(line, " "), colon = strcspn(line, ":");
	size_t text = colon < size && colon < 24 ? colon + 1 + strspn(line + colon + 1, " ") : 0;
	if (!blank && text > colon + 1 && text < size && (text >= 12 || text - colon > 2))
		return (int)text;
	return (int)(blank < 40 ? blank : 40) + (blank >= 12 ? 0 : 2);
}

/* Is the line a command to copy? Its label says so, or it begins with our name. */
static bool is_command(const char *line) {
	if (strncmp(line + strspn(line, " "), "sweetspot ", strlen("sweetspot ")) == 0)
		return true;
	static const char *const labels[] = {"run it as:", "best so far:", "verify it:", "go on:", "try next:"};
	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
		if (strncmp(line, labels[i], strlen(labels[i])) == 0)
			return true;
	return false;
}

/* The last place at which the line may be broken so that `room` columns hold its beginning; 0: none. In a command that
 * is a blank outside of quotes. */
static size_t break_find(const char *line, size_t size, size_t from, int room, bool command) {
	size_t found = 0;
	bool quoted = false;
	for (size_t at = 0; at < size; at++) {
		quoted = quoted != (line[at] == '\'');
		if (columns_of(line, at) > room)
			break;
		if (at > from && line[at] == ' ' && !(command && quoted))
			found = at;
	}
	return found;
}

/* The bytes that fill `room` columns; at least one, so that there is an end. */
static size_t hard_find(const char *line, size_t size, int room) {
	size_t at = ui_fitting(line, size, room > 1 ? room : 1);
	return at ? at : 1;
}

static void line_fold(FILE *out, const char *line, size_t size, int width) {
	bool command = is_command(line);
	int indent = indent_of(line, size), before = 0;
	if (indent > width / 2)
		indent = 2;
	size_t from = (size_t)indent < size ? (size_t)indent : 0;
	while (columns_of(line, size) > width - before) {
		int room = width - before - (command ? 2 : 0);
		size_t at = break_find(line, size, before ? 0 : from, room, command);
		bool hard = !at;
		if (hard && command)
			break; /* a word that must stay in one piece */
		if (hard)
			at = hard_find(line, size, room);
		fprintf(out, "%.*s%s\n%*s", (int)at, line, command ? " \\" : "", indent, "");
		line += at;
		size -= at;
		for (; size && *line == ' ' && !hard; size--)
			line++;
		before = indent;
	}
	fprintf(out, "%.*s\n", (int)size, line);
}

void ui_fold(FILE *out, const char *text) {
	int width = ui_width(out);
	while (*text) {
		size_t size = strcspn(text, "\n");
		if (width)
			line_fold(out, text, size, width);
		else
			fprintf(out, "%.*s\n", (int)size, text);
		text += size + (text[size] == '\n');
	}
}

void ui_error(FILE *out, const struct err *err) {
	mem_auto char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	if (!memory) {
		err_print(err, out);
		return;
	}
	err_print(err, memory);
	fclose(memory);
	char *hint = strstr(text, "\n  hint: ");
	bool copied = hint && (strstr(hint, "sweetspot ") || strstr(hint, "build it first: "));
	char *command = copied ? hint + 1 : text + size;
	mem_auto char *first = mem_printf("%.*s", (int)(command - text), text);
	ui_fold(out, first);
	fputs(command, out);
}

enum { WIDTH_MAX = 110 };

static int width_of(FILE *out) {
	int width = ui_width(out);
	return width == 0 ? INT_MAX : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* Frees the text. */
static void wrap(FILE *out, int first, int indent, char *text) {
	char *word = text;
	int width = width_of(out), column = first;
	bool fresh = true; /* no word stands on the line yet */
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
