/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700

#include <langinfo.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/sys.h"
#include "src/ui/ui.h"

/* whether the locale uses UTF-8 */
/* Width of text on a terminal: East Asian letters occupy two columns, combining ones none. POSIX wcwidth() knows them
 * only in a UTF-8 locale; in other locales each letter counts as one column. */
static bool ui_utf8(void) {
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

static const double PROGRESS_SECONDS = 0.1, PROGRESS_PIPED_SECONDS = 30;

struct ui {
	FILE *out, *diagnostics;
	bool quiet, verbose;
	bool color;   /* stdout takes escape sequences */
	bool live;    /* stderr is a terminal that can rewrite a line */
	bool showing; /* a progress line is on the screen */
	double shown; /* time of the last progress line */
};

struct ui *ui_new(FILE *out, FILE *diagnostics, bool quiet, bool verbose) {
	struct ui *ui = mem_alloc(1, sizeof *ui);
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	bool dumb = !term || strcmp(term, "dumb") == 0;
	ui->out = out;
	ui->diagnostics = diagnostics;
	ui->quiet = quiet;
	ui->verbose = verbose;
	ui->color = isatty(fileno(out)) && !dumb && !(no_color && *no_color);
	ui->live = isatty(fileno(diagnostics)) && !dumb;
	return ui;
}

void ui_free(struct ui *ui) {
	if (!ui)
		return;
	ui_progress_end(ui);
	free(ui);
}

const char *ui_style(const struct ui *ui, enum ui_style style) {
	/* Blue and orange are distinguishable with every kind of colour vision, and the words say the same. */
	static const char *const codes[] = {
		[UI_PLAIN] = "\033[0m", [UI_BOLD] = "\033[1m",       [UI_DIM] = "\033[2m",
		[UI_GOOD] = "\033[34m", [UI_BAD] = "\033[38;5;208m", [UI_NOTE] = "\033[36m",
	};
	return ui->color ? codes[style] : "";
}

int ui_width(FILE *stream) {
	struct winsize size;
	if (!isatty(fileno(stream)))
		return 0;
	if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
		return size.ws_col;
	return 80;
}

static int ui_room(const struct ui *ui, FILE *out) {
	return ui_width(fileno(out) < 0 ? ui->out : out);
}

static double magnitude(double value, const char *const *units, size_t count, double step, double unit,
                        const char **name) {
	size_t i = 0;
	value /= unit;
	while (i + 1 < count && fabs(value) >= step * 0.9995) {
		value /= step;
		i++;
	}
	*name = units[i];
	return value;
}

struct shown ui_seconds(double seconds) {
	static const char *const units[] = {"ns", "us", "ms"};
	const char *unit = "s";
	struct shown shown = {"-"};
	if (seconds == 0)
		return (struct shown){"0 s"};
	if (!isfinite(seconds))
		return shown;
	double value = fabs(seconds) < 0.9995 ? magnitude(seconds, units, 3, 1000, 1e-9, &unit) : seconds;
	int decimals = fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
	snprintf(shown.text, sizeof shown.text, "%.*f %s", decimals, value, unit);
	return shown;
}

struct shown ui_bytes(double bytes) {
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	const char *unit;
	struct shown shown;
	double value = magnitude(bytes, units, 5, 1024, 1, &unit);
	snprintf(shown.text, sizeof shown.text, value == floor(value) ? "%.0f %s" : "%.1f %s", value, unit);
	return shown;
}

void ui_bar(double fraction, int width, char *text, size_t size) {
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	bool utf8 = ui_utf8();
	fraction = fraction < 0 || !isfinite(fraction) ? 0 : fraction > 1 ? 1 : fraction;
	int units = (int)lround(fraction * width * 8);
	size_t at = 0;
	text[0] = '\0';
	for (int i = 0; i < units / 8 && at + 4 < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s", utf8 ? "█" : "#");
	if (utf8 && at + 4 < size)
		snprintf(text + at, size - at, "%s", eighths[units % 8]);
}

/* Not cached, because the window may be resized. */
int ui_progress_width(const struct ui *ui) {
	return ui->live ? ui_width(ui->diagnostics) - 1 : 0;
}

static void progress_write(struct ui *ui, char *line) {
	text_clean(line, false);
	if (ui->live) {
		int fits = (int)ui_fitting(line, strlen(line), ui_progress_width(ui));
		fprintf(ui->diagnostics, "\r%.*s\033[K", fits, line);
		ui->showing = true;
	} else {
		fprintf(ui->diagnostics, "%s\n", line);
	}
	fflush(ui->diagnostics);
}

void ui_progress(struct ui *ui, const char *format, ...) {
	double now = sys_now();
	double wait = ui->live ? PROGRESS_SECONDS : PROGRESS_PIPED_SECONDS;
	if (ui->quiet || (ui->shown > 0 && now - ui->shown < wait))
		return;
	bool first = ui->shown == 0;
	ui->shown = now;
	if (!ui->live && first) /* short work stays silent in a pipe */
		return;
	va_list ap;
	va_start(ap, format);
	mem_auto char *line = mem_vprintf(format, ap);
	va_end(ap);
	progress_write(ui, line);
}

void ui_progress_end(struct ui *ui) {
	if (ui->showing)
		fputs("\r\033[K", ui->diagnostics);
	ui->showing = false;
	fflush(ui->diagnostics);
}

/* Prints a line of any length. Its text may come from outside, so it is cleaned. */
static void message_print(struct ui *ui, const char *before, const char *format, va_list ap) {
	mem_auto char *text = mem_vprintf(format, ap);
	ui_progress_end(ui);
	text_clean(text, false);
	char *line = mem_printf("%s%s", before, text), *command = strstr(text, ": sweetspot ");
	int width = ui_width(ui->diagnostics);
	if (command && width && ui_columns(line, strlen(line)) > width) { /* so that it can be copied */
		size_t size = strlen(before) + (size_t)(command - text) + 1;
		char *apart = mem_printf("%.*s\n  %s", (int)size, line, line + size + 1);
		free(line);
		line = apart;
	}
	ui_fold(ui->diagnostics, line); /* on a terminal; one line in a file */
	free(line);
}

bool ui_verbose(const struct ui *ui) {
	return ui->verbose;
}

void ui_note(struct ui *ui, const char *format, ...) {
	if (!ui->verbose)
		return;
	va_list ap;
	va_start(ap, format);
	message_print(ui, "sweetspot: ", format, ap);
	va_end(ap);
}

void ui_inform(struct ui *ui, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	message_print(ui, "sweetspot: note: ", format, ap);
	va_end(ap);
}

void ui_step(struct ui *ui, const char *format, ...) {
	if (!ui->verbose)
		return;
	va_list ap;
	va_start(ap, format);
	message_print(ui, "  ", format, ap);
	va_end(ap);
}

static void hint_print(struct ui *ui, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	message_print(ui, "  hint: ", format, ap);
	va_end(ap);
}

void ui_warn(struct ui *ui, const char *hint, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	message_print(ui, "sweetspot: warning: ", format, ap);
	va_end(ap);
	if (hint)
		hint_print(ui, "%s", hint);
}

struct table {
	size_t columns, rows, room;
	char **cells; /* row by row; row 0 holds the titles */
	bool *right;
};

void table_row(struct table *table, const char *const *texts) {
	if (table->rows == table->room) {
		table->room = table->room ? 2 * table->room : 16;
		table->cells = mem_grow(table->cells, table->room * table->columns, sizeof *table->cells);
	}
	for (size_t c = 0; c < table->columns; c++) {
		char *copy = mem_strdup(texts[c]);
		text_clean(copy, false); /* hostile names must not steer the terminal */
		table->cells[table->rows * table->columns + c] = copy;
	}
	table->rows++;
}

struct table *table_new(size_t columns, const char *const *titles) {
	struct table *table = mem_alloc(1, sizeof *table);
	table->columns = columns;
	table->right = mem_alloc(columns, sizeof *table->right);
	mem_auto const char **shown = mem_alloc(columns, sizeof *shown);
	for (size_t c = 0; c < columns; c++) {
		table->right[c] = titles[c] && titles[c][0] == '\1';
		shown[c] = table->right[c] ? titles[c] + 1 : titles[c];
	}
	table_row(table, shown);
	return table;
}

struct table *table_titled(const char *title, ...) {
	enum { MOST = 16 };
	const char *titles[MOST] = {title};
	size_t count = 1;
	va_list ap;
	va_start(ap, title);
	while (count < MOST && (titles[count] = va_arg(ap, const char *)))
		count++;
	va_end(ap);
	return table_new(count, titles);
}

void table_right(struct table *table, size_t column) {
	table->right[column] = true;
}

void table_add(struct table *table, ...) {
	mem_auto const char **texts = mem_alloc(table->columns, sizeof *texts);
	va_list ap;
	va_start(ap, table);
	for (size_t c = 0; c < table->columns; c++)
		texts[c] = va_arg(ap, const char *);
	va_end(ap);
	table_row(table, texts);
}

static int text_width(const char *text) {
	return ui_columns(text, strlen(text));
}

static const char *cell(const struct table *table, size_t row, size_t column) {
	return table->cells[row * table->columns + column];
}

/* A column without any text says nothing. */
static bool is_empty(const struct table *table, size_t column) {
	for (size_t r = 1; r < table->rows; r++)
		if (*cell(table, r, column))
			return false;
	return table->rows > 1;
}

/* Bars only repeat a number, so they may go where they do not fit. */
static bool is_bar(const struct table *table, size_t column) {
	return column > 0 && !*cell(table, 0, column);
}

static int total_of(const struct table *table, const int *width) {
	int total = -2;
	for (size_t c = 0; c < table->columns; c++)
		total += width[c] ? width[c] + 2 : 0;
	return total;
}

/* The width of each column; 0: it is left out. */
static int *widths(const struct table *table, int room) {
	int *width = mem_alloc(table->columns, sizeof *width);
	for (size_t c = 0; c < table->columns; c++)
		for (size_t r = 0; r < table->rows && !is_empty(table, c); r++)
			if (text_width(cell(table, r, c)) > width[c])
				width[c] = text_width(cell(table, r, c));
	for (size_t c = 0; room && total_of(table, width) > room && c < table->columns; c++)
		width[c] = is_bar(table, c) ? 0 : width[c];
	while (room && total_of(table, width) > room) { /* fold the widest column of text */
		size_t widest = table->columns;
		for (size_t c = 0; c < table->columns; c++)
			if (!table->right[c] && width[c] > 12 && (widest == table->columns || width[c] > width[widest]))
				widest = c;
		if (widest == table->columns)
			break;
		width[widest]--;
	}
	return width;
}

/* The bytes of the text that go into the first line of a cell: up to a blank if there is one. */
static size_t piece(const char *text, int width) {
	size_t size = strlen(text), fits = ui_fitting(text, size, width);
	if (fits == size)
		return size;
	for (size_t at = fits; at > 0; at--)
		if (text[at] == ' ')
			return at;
	return fits ? fits : 1;
}

/* Prints the next piece of a cell and moves on to the rest. */
static void cell_print(const char **text, int width, bool right, bool last, FILE *out) {
	size_t size = piece(*text, width);
	int pad = width - ui_columns(*text, size);
	if (right && pad > 0)
		fprintf(out, "%*s", pad, "");
	fprintf(out, "%.*s", (int)size, *text);
	if (!right && !last && pad > 0)
		fprintf(out, "%*s", pad, "");
	fputs(last ? "" : "  ", out);
	*text += size;
	*text += strspn(*text, " ");
}

/* A row takes as many lines as its longest cell. */
static void row_print(const struct table *table, const int *width, size_t row, FILE *out) {
	mem_auto const char **rest = mem_alloc(table->columns, sizeof *rest);
	size_t last = 0;
	for (size_t c = 0; c < table->columns; c++) {
		rest[c] = cell(table, row, c);
		last = width[c] ? c : last;
	}
	for (bool more = true; more;) {
		more = false;
		for (size_t c = 0; c < table->columns; c++) {
			if (!width[c])
				continue;
			cell_print(&rest[c], width[c], table->right[c], c == last, out);
			more = more || *rest[c];
		}
		fputc('\n', out);
	}
}

/* Prints one line for each cell that is not empty, and an empty line between rows. */
static void narrow_print(const struct table *table, const struct ui *ui, FILE *out) {
	int label = 0;
	for (size_t c = 0; c < table->columns; c++)
		label = text_width(cell(table, 0, c)) > label ? text_width(cell(table, 0, c)) : label;
	for (size_t r = 1; r < table->rows; r++) {
		if (r > 1)
			fputc('\n', out);
		for (size_t c = 0; c < table->columns; c++) {
			const char *title = cell(table, 0, c);
			if (!*cell(table, r, c))
				continue;
			fprintf(out, "%s%s%s%*s", ui_style(ui, UI_BOLD), title, ui_style(ui, UI_PLAIN),
			        label - text_width(title) + 1, "");
			ui_wrap_on(out, label + 1, label + 1, "%s", cell(table, r, c));
		}
	}
}

void table_print(struct table *table, const struct ui *ui, FILE *out) {
	int room = ui_room(ui, out), *width = widths(table, room);
	bool narrow = room && total_of(table, width) > room;
	if (narrow)
		narrow_print(table, ui, out);
	for (size_t r = 0; !narrow && r < table->rows; r++) {
		if (r == 0)
			fputs(ui_style(ui, UI_BOLD), out);
		row_print(table, width, r, out);
		if (r == 0)
			fputs(ui_style(ui, UI_PLAIN), out);
	}
	free(width);
}

void table_free(struct table *table) {
	if (!table)
		return;
	for (size_t i = 0; i < table->rows * table->columns; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table->right);
	free(table);
}

void table_end(struct table *table, const struct ui *ui, FILE *out) {
	table_print(table, ui, out);
	table_free(table);
}
