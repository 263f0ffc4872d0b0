/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700

#include <langinfo.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"
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

int ui_room(const struct ui *ui, FILE *out) {
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

void ui_seconds(double seconds, char *text, size_t size) {
	static const char *const units[] = {"ns", "us", "ms"};
	const char *unit = "s";
	if (!isfinite(seconds) || seconds == 0) {
		snprintf(text, size, "%s", seconds == 0 ? "0 s" : "-");
		return;
	}
	double value = fabs(seconds) < 0.9995 ? magnitude(seconds, units, 3, 1000, 1e-9, &unit) : seconds;
	int decimals = fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
	snprintf(text, size, "%.*f %s", decimals, value, unit);
}

void ui_bytes(double bytes, char *text, size_t size) {
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	const char *unit;
	double value = magnitude(bytes, units, 5, 1024, 1, &unit);
	snprintf(text, size, value == floor(value) ? "%.0f %s" : "%.1f %s", value, unit);
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
	char *line = NULL;
	va_start(ap, format);
	int size = vasprintf(&line, format, ap);
	va_end(ap);
	if (size >= 0) {
		progress_write(ui, line);
		free(line);
	}
}

void ui_progress_end(struct ui *ui) {
	if (ui->showing)
		fputs("\r\033[K", ui->diagnostics);
	ui->showing = false;
	fflush(ui->diagnostics);
}

/* Prints a line of any length. Its text may come from outside, so it is cleaned. */
static void message_print(struct ui *ui, const char *before, const char *format, va_list ap) {
	char *text = NULL;
	ui_progress_end(ui);
	if (vasprintf(&text, format, ap) < 0)
		return;
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
	free(text);
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
