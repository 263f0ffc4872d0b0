/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/html.h"

enum { DEPTH_MAX = 64 };
static const char REPLACED[] = "\xef\xbf\xbd"; /* U+FFFD */

struct html {
	char *data;
	size_t size, room;
	const char *open[DEPTH_MAX]; /* names are constants */
	size_t depth;
	size_t *slots, slot_count;
};

struct html *html_new(void) {
	return mem_alloc(1, sizeof(struct html));
}

void html_free(struct html *html) {
	if (!html)
		return;
	free(html->data);
	free(html->slots);
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

static void open_push(struct html *html, const char *tag) {
	if (html->depth == DEPTH_MAX)
		abort();
	html->open[html->depth++] = tag;
}

void html_begin(struct html *html, const char *tag, ...) {
	va_list list;
	va_start(list, tag);
	tag_put(html, tag, list);
	va_end(list);
	open_push(html, tag);
}

/* an element without an end tag: <meta>, <br> */
static void html_single(struct html *html, const char *tag, ...) {
	va_list list;
	va_start(list, tag);
	tag_put(html, tag, list);
	va_end(list);
}

void html_end(struct html *html) {
	if (!html->depth)
		return;
	puts_to(html, "</");
	puts_to(html, html->open[--html->depth]);
	put(html, ">", 1);
}

void html_text(struct html *html, const char *text) {
	put_escaped(html, text ? text : "");
}

static void text_format(struct html *html, const char *format, va_list list) {
	char *text = mem_vprintf(format, list);
	put_escaped(html, text);
	free(text);
}

void html_printf(struct html *html, const char *format, ...) {
	va_list list;
	va_start(list, format);
	text_format(html, format, list);
	va_end(list);
}

void html_element(struct html *html, const char *tag, const char *class, const char *format, ...) {
	va_list list;
	html_begin(html, tag, "class", class, NULL);
	va_start(list, format);
	text_format(html, format, list);
	va_end(list);
	html_end(html);
}

void html_verdict(struct html *html, const char *tone, const char *text) {
	char class[32];
	snprintf(class, sizeof class, "verdict%s", tone);
	html_element(html, "p", class, "%s", text);
}

void html_constant(struct html *html, const char *markup) {
	puts_to(html, markup);
}

size_t html_slot(struct html *html) {
	html->slots = mem_grow(html->slots, html->slot_count + 1, sizeof *html->slots);
	html->slots[html->slot_count] = html->size;
	return html->slot_count++;
}

char *html_finish(struct html *html, const char *const *markup, size_t *size) {
	struct html whole = {0};
	size_t from = 0;
	while (html->depth)
		html_end(html);
	for (size_t i = 0; i < html->slot_count; i++) {
		put(&whole, html->data + from, html->slots[i] - from);
		from = html->slots[i];
		if (markup[i])
			puts_to(&whole, markup[i]);
	}
	put(&whole, html->data + from, html->size - from);
	put(&whole, "", 1);
	*size = whole.size - 1;
	return whole.data;
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

static void policy_put(struct html *html, const char *css) {
	char *style_source = source_of(css), *script_source = source_of(script);
	char *policy = mem_printf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'",
	                          style_source, script_source);
	html_single(html, "meta", "http-equiv", "Content-Security-Policy", "content", policy, NULL);
	free(policy);
	free(style_source);
	free(script_source);
}

void page_begin(struct html *html, const char *title, int reload) {
	char *charts = chart_css(), *css = mem_printf("%s%s", style, charts);
	html_constant(html, "<!DOCTYPE html>\n");
	html_begin(html, "html", "lang", "en", NULL);
	html_begin(html, "head", NULL);
	html_single(html, "meta", "charset", "utf-8", NULL);
	policy_put(html, css);
	html_single(html, "meta", "name", "viewport", "content", "width=device-width, initial-scale=1", NULL);
	html_single(html, "meta", "name", "color-scheme", "content", "light dark", NULL);
	html_single(html, "meta", "name", "generator", "content", "sweetspot " PACKAGE_VERSION, NULL);
	if (reload) {
		char seconds[16];
		snprintf(seconds, sizeof seconds, "%d", reload);
		html_single(html, "meta", "http-equiv", "refresh", "content", seconds, NULL);
	}
	html_element(html, "title", NULL, "%s", title);
	html_begin(html, "style", NULL);
	html_constant(html, css);
	html_end(html);
	html_end(html);
	html_begin(html, "body", NULL);
	free(charts);
	free(css);
}

void page_end(struct html *html) {
	html_begin(html, "script", NULL);
	html_constant(html, script);
	html_end(html);
	html_end(html); /* body */
	html_end(html); /* html */
}
