/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "src/cmd/report/chart/chart.h"

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
