/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"

static const char REPLACED[] = "\xef\xbf\xbd"; /* U+FFFD */

struct html {
	char *data;
	size_t size, room;
};

struct html *html_new(void) {
	return mem_alloc(1, sizeof(struct html));
}

void html_free(struct html *html) {
	if (!html)
		return;
	free(html->data);
	free(html);
}

static void put(struct html *html, const char *data, size_t size) {
	if (!size) /* an empty page has no data, and memcpy must not get NULL even for 0 bytes */
		return;
	if (html->size + size > html->room) {
		html->room = 2 * (html->size + size) + 4096;
		html->data = mem_grow(html->data, html->room, 1);
	}
	memcpy(html->data + html->size, data, size);
	html->size += size;
}

static void puts_to(struct html *html, const char *text) {
	put(html, text, strlen(text));
}

/* U+FFFE, U+FFFF and the C1 controls are valid UTF-8 but not allowed in HTML text, and a command with controls of
 * direction would not look like what is copied. */
static bool is_text(const char *text, size_t length) {
	const unsigned char *at = (const unsigned char *)text;
	if (text_is_control(text, length))
		return *at == '\n' || *at == '\t';
	return !(length == 3 && at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe);
}

static void put_escaped(struct html *html, const char *text) {
	size_t left = strlen(text);
	while (left) {
		size_t length = text_utf8(text, left), step = length ? length : 1;
		const char *escape = text_entity(*text);
		if (!length || !is_text(text, length))
			puts_to(html, REPLACED);
		else if (escape)
			puts_to(html, escape);
		else
			put(html, text, length);
		text += step;
		left -= step;
	}
}

static void tag_put(struct html *html, const char *tag, va_list list) {
	const char *name;
	put(html, "<", 1);
	puts_to(html, tag);
	while ((name = va_arg(list, const char *))) {
		const char *value = va_arg(list, const char *);
		if (!value)
			continue;
		put(html, " ", 1);
		puts_to(html, name);
		put(html, "=\"", 2);
		put_escaped(html, value);
		put(html, "\"", 1);
	}
	put(html, ">", 1);
}

void html_begin(struct html *html, const char *tag, ...) {
	va_list list;
	va_start(list, tag);
	tag_put(html, tag, list);
	va_end(list);
}

/* Formats a directive, such as "%.3g", and returns its length. */
static size_t directive_put(struct html *html, const char *at, va_list *list) {
	size_t size = 1 + strspn(at + 1, "-+ #.*0123456789lz");
	char form[24], kind = at[size], *text;
	bool is_size = at[size - 1] == 'z', is_long = at[size - 1] == 'l';
	snprintf(form, sizeof form, "%.*s", (int)++size, at);
	int precision = strchr(form, '*') ? va_arg(*list, int) : 0;
	if (kind == 's')
		text = strchr(form, '*') ? mem_printf(form, precision, va_arg(*list, const char *))
		                         : mem_printf(form, va_arg(*list, const char *));
	else if (strchr("efg", kind))
		text = mem_printf(form, va_arg(*list, double));
	else if (strchr("du", kind))
		text = is_size   ? mem_printf(form, va_arg(*list, size_t))
		       : is_long ? mem_printf(form, va_arg(*list, long long))
		                 : mem_printf(form, va_arg(*list, int));
	else
		text = mem_printf("%c", kind == 'c' ? va_arg(*list, int) : kind); /* or %% */
	put_escaped(html, text);
	free(text);
	return size;
}

void html_put(struct html *html, const char *format, ...) {
	va_list list;
	va_start(list, format);
	while (*format) {
		size_t plain = strcspn(format, "%");
		put(html, format, plain);
		format += plain;
		if (*format)
			format += directive_put(html, format, &list);
	}
	va_end(list);
}

void html_markup(struct html *html, const char *markup) {
	puts_to(html, markup);
}

char *html_finish(struct html *html, size_t *size) {
	put(html, "", 1);
	char *page = html->data;
	*size = html->size - 1;
	*html = (struct html){0};
	return page;
}

static const char style[] =
#include "src/cmd/report/page_css.inc"
	;
static const char script[] =
#include "src/cmd/report/page_js.inc"
	;

enum { HASH = 32, BASE64 = 44 };

static int digit_of(char c) {
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* RFC 4648, section 4. */
static void base64(const unsigned char hash[HASH], char out[BASE64 + 1]) {
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t at = 0;
	for (size_t i = 0; i < HASH; i += 3) {
		unsigned long bits = (unsigned long)hash[i] << 16;
		bits |= i + 1 < HASH ? (unsigned long)hash[i + 1] << 8 : 0;
		bits |= i + 2 < HASH ? hash[i + 2] : 0;
		for (int shift = 18; shift >= 0; shift -= 6)
			out[at++] = digits[bits >> shift & 63];
	}
	out[BASE64 - 1] = '='; /* 32 bytes are one short of a triple */
	out[BASE64] = '\0';
}

/* Content Security Policy Level 3, section 2.3.1: 'sha256-...' of an inline block. Caller frees. */
static char *source_of(const char *text) {
	char hex[SHA256_TEXT], word[BASE64 + 1];
	unsigned char hash[HASH];
	sha256_text(text, strlen(text), hex);
	const char *digits = strchr(hex, ':') + 1;
	for (size_t i = 0; i < HASH; i++)
		hash[i] = (unsigned char)(16 * digit_of(digits[2 * i]) + digit_of(digits[2 * i + 1]));
	base64(hash, word);
	return mem_printf("'sha256-%s'", word);
}

/* A live page has its later versions in a frame, until their content has been taken over. */
static void policy_put(struct html *html, const char *css, bool live) {
	mem_auto char *style_source = source_of(css), *script_source = source_of(script);
	mem_auto char *policy =
		mem_printf("default-src 'none'; style-src %s; script-src %s;%s base-uri 'none'; form-action 'none'",
	               style_source, script_source, live ? " frame-src 'self' file:;" : "");
	html_put(html, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">", policy);
}

void page_begin(struct html *html, const char *title, bool live) {
	mem_auto char *charts = chart_css(), *css = mem_printf("%s%s", style, charts);
	html_put(html, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
	policy_put(html, css, live);
	html_put(html, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	               "<meta name=\"color-scheme\" content=\"light dark\">"
	               "<meta name=\"generator\" content=\"sweetspot " PACKAGE_VERSION "\">");
	html_put(html, "<title>%s</title><style>", title);
	html_markup(html, css);
	html_put(html, "</style></head><body>");
}

void page_end(struct html *html) {
	html_put(html, "<script>");
	html_markup(html, script);
	html_put(html, "</script></body></html>");
}

static char kind_of(const struct html_table *table, size_t column) {
	char first = column < table->columns ? table->titles[column][0] : '\0';
	return first == '\1' || first == '\2' ? first : '\0';
}

static bool is_number(const struct html_table *table, size_t column) {
	return kind_of(table, column) == '\1';
}

static const char *class_of(const struct html_table *table, size_t column) {
	char kind = kind_of(table, column);
	return kind == '\1' ? "number" : kind ? "words" : NULL;
}

/* A table with more columns becomes a list of rows on a narrow screen, where each cell is named. */
enum { NARROW = 3, TITLES_MAX = 16 };

static const char *label_of(const struct html_table *table, size_t column) {
	if (table->columns <= NARROW || column >= table->columns)
		return NULL;
	return table->titles[column] + (kind_of(table, column) != '\0');
}

static void head_put(struct html_table *table) {
	struct html *html = table->html;
	html_put(html, "<thead><tr>");
	for (size_t i = 0; i < table->columns; i++) {
		html_begin(html, "th", "scope", "col", "class", class_of(table, i), NULL);
		html_put(html, "%s</th>", table->titles[i] + (kind_of(table, i) != '\0'));
	}
	html_put(html, "</tr></thead>");
}

struct html_table html_table_begin(struct html *html, const char *summary, const char *caption,
                                   const char *const *titles) {
	struct html_table table = {.html = html, .titles = titles, .at = SIZE_MAX, .folded = summary};
	while (titles[table.columns])
		table.columns++;
	if (summary)
		html_put(html, "<details><summary>%s</summary>", summary);
	html_put(html, "<div class=\"box\" role=\"group\" tabindex=\"0\" aria-label=\"%s\">", caption);
	html_put(html, "<table class=\"sortable%s\"><caption>%s</caption>", table.columns > NARROW ? " wide" : "", caption);
	head_put(&table);
	html_put(html, "<tbody>");
	return table;
}

void html_table_row(struct html_table *table) {
	html_put(table->html, table->at != SIZE_MAX ? "</tr><tr>" : "<tr>");
	table->at = 0;
}

/* A first column of words names its row. */
static const char *tag_of(const struct html_table *table) {
	return table->at == 0 && !is_number(table, 0) ? "th" : "td";
}

static void cell_begin(struct html_table *table, const char *value) {
	const char *tag = tag_of(table);
	html_begin(table->html, tag, "scope", *tag == 't' && tag[1] == 'h' ? "row" : NULL, "class",
	           class_of(table, table->at), "data-value", value, "data-label", label_of(table, table->at), NULL);
}

void html_table_cell(struct html_table *table, double value) {
	char number[32];
	snprintf(number, sizeof number, "%.9g", value);
	cell_begin(table, isnan(value) ? NULL : isinf(value) ? "" : number);
}

void html_table_cell_end(struct html_table *table) {
	html_put(table->html, "</%s>", tag_of(table));
	table->at++;
}

static void cell_put(struct html_table *table, const char *value, const char *text) {
	cell_begin(table, value);
	html_put(table->html, "%s", text);
	html_table_cell_end(table);
}

void html_table_text(struct html_table *table, const char *format, ...) {
	va_list list;
	va_start(list, format);
	mem_auto char *text = mem_vprintf(format, list);
	va_end(list);
	cell_put(table, NULL, text);
}

void html_table_number(struct html_table *table, double value, const char *format, ...) {
	char number[32] = "";
	va_list list;
	va_start(list, format);
	mem_auto char *text = mem_vprintf(format, list);
	va_end(list);
	if (isfinite(value))
		snprintf(number, sizeof number, "%.9g", value);
	cell_put(table, number, *text && isfinite(value) ? text : "-");
}

void html_table_end(struct html_table *table) {
	html_put(table->html, table->at != SIZE_MAX ? "</tr></tbody></table></div>" : "</tbody></table></div>");
	if (table->folded)
		html_put(table->html, "</details>");
}

void html_rows(struct html *html, const char *summary, const char *caption, const struct column *columns,
               const json_t *rows) {
	const char *titles[TITLES_MAX + 1] = {NULL};
	size_t count = 0;
	for (; columns[count].title && count < TITLES_MAX; count++)
		titles[count] = columns[count].title;
	if (json_array_size(rows) == 0)
		return;
	struct html_table table = html_table_begin(html, summary, caption, titles);
	js_each (row, rows) {
		html_table_row(&table);
		for (size_t i = 0; i < count; i++) {
			double number = NAN;
			mem_auto char *text = column_text(&columns[i], row, row_at, &number);
			if (is_number(&table, i))
				html_table_number(&table, number, "%s", text);
			else
				html_table_text(&table, "%s", text);
		}
	}
	html_table_end(&table);
}

enum { ID_MAX = 40 };

static bool is_taken(const struct charts *charts, const char *id) {
	for (size_t i = 0; i < charts->count; i++)
		if (strcmp(charts->charts[i].id, id) == 0)
			return true;
	return false;
}

static const char *id_make(struct charts *charts, const char *text) {
	char plain[ID_MAX + 1];
	size_t length = 0;
	for (; *text && length < ID_MAX; text++) {
		char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
		bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
		if (good)
			plain[length++] = c;
		else if (length && plain[length - 1] != '-')
			plain[length++] = '-';
	}
	plain[length] = '\0';
	const char *id = arena_printf(charts->arena, "c-%s", plain);
	for (int i = 2; is_taken(charts, id); i++)
		id = arena_printf(charts->arena, "c-%s-%d", plain, i);
	return id;
}

struct chart_series *chart_line(struct arena *arena, struct chart *chart, const char *name, enum chart_style look,
                                size_t most) {
	enum { LINES_MOST = 16 };
	if (!chart->series)
		chart->series = arena_alloc(arena, LINES_MOST, sizeof *chart->series);
	if (chart->series_count && !chart->series[chart->series_count - 1].count)
		chart->series_count--;
	struct chart_series *line = &chart->series[chart->series_count++];
	*line = (struct chart_series){name, look, arena_alloc(arena, most + 1, sizeof *line->points), 0};
	return line;
}

void chart_dot(struct chart_series *line, double x, double y, double low, double high) {
	line->points[line->count++] = (struct chart_point){x, y, low, high};
}

const struct chart_mark *chart_mark(struct arena *arena, double x, double y) {
	struct chart_mark *mark = arena_alloc(arena, 1, sizeof *mark);
	*mark = (struct chart_mark){x, y};
	return mark;
}

void charts_add(struct charts *charts, const char *id, const struct chart *chart) {
	if (charts->count == CHARTS_MAX) {
		charts->left_out++;
		return;
	}
	struct chart *own = &charts->charts[charts->count];
	*own = *chart;
	if (own->series_count && !own->series[own->series_count - 1].count)
		own->series_count--;
	own->id = id_make(charts, id);
	own->title = arena_strdup(charts->arena, chart->title);
	own->description = arena_strdup(charts->arena, chart->description);
	mem_auto char *svg = chart_svg(own, NULL);
	if (!svg)
		abort(); /* it only refuses ids, and this one was made here */
	html_put(charts->html, "<figure>");
	html_markup(charts->html, svg);
	html_put(charts->html, "</figure>");
	charts->count++;
}

/* The drawing, in units of its view box. */
enum { RULER_WIDTH = 200, RULER_HEIGHT = 20, EDGE = 6 };
static const double NARROWEST = 0.02, WIDEST = 1000, ROOM = 1.1;

static bool is_drawn(struct speedup gain) {
	bool same = gain.low == 1 && gain.high == 1;
	return gain.ratio > 0 && gain.low > 0 && gain.high >= gain.low && !same && !speedup_is_vague(gain);
}

void report_ruler_add(struct report_ruler *ruler, struct speedup gain) {
	if (!is_drawn(gain))
		return;
	ruler->low = fmax(NARROWEST, fmin(ruler->low, gain.low / ROOM));
	ruler->high = fmin(WIDEST, fmax(ruler->high, (isfinite(gain.high) ? gain.high : gain.ratio) * ROOM));
}

static double ruler_place(const struct report_ruler *ruler, double ratio) {
	double at = log(ratio / ruler->low) / log(ruler->high / ruler->low);
	return EDGE + (RULER_WIDTH - 2 * EDGE) * fmin(1, fmax(0, at));
}

/* The interval as a bar, the estimate as a dot, and a line at 1, where nothing is gained. */
void report_interval(struct html *html, const struct report_ruler *ruler, struct speedup gain) {
	double one = ruler_place(ruler, 1), middle = RULER_HEIGHT / 2;
	if (!is_drawn(gain))
		return;
	char to[32] = "the end";
	if (!speedup_is_least(gain))
		snprintf(to, sizeof to, "%.3g", gain.high);
	html_put(html,
	         "<svg class=\"interval\" viewBox=\"0 0 %d %d\" role=\"img\"><title>%s</title><desc>a bar from %.3g to "
	         "%s on a logarithmic scale with a line at 1</desc>",
	         RULER_WIDTH, RULER_HEIGHT, speedup_digits_text(gain).text, gain.low, to);
	html_put(html, "<path class=\"one\" d=\"M%.1f 0V%d\"></path>", one, RULER_HEIGHT);
	html_put(html, "<path class=\"range\" d=\"M%.1f %.1fH%.1f\"></path>", ruler_place(ruler, gain.low), middle,
	         ruler_place(ruler, gain.high));
	if (!speedup_is_least(gain))
		html_put(html, "<path class=\"dot\" d=\"M%.1f %.1fh0\"></path>", ruler_place(ruler, gain.ratio), middle);
	html_put(html, "</svg>");
}
