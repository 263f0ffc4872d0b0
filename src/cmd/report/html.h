/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes HTML. Texts and attribute values are escaped here. Unescaped markup is a constant of this program, a chart,
 * which escapes its own texts, or fills a slot at the end. Every element that begins also ends. */
#ifndef SRC_CMD_REPORT_HTML_H
#define SRC_CMD_REPORT_HTML_H
#include <stddef.h>

struct html;
struct html *html_new(void);
void html_free(struct html *html);

/* Begins an element; its attributes follow as names and values, ended by NULL. An attribute with a NULL value is
 * omitted. */
void html_begin(struct html *html, const char *tag, ...) __attribute__((sentinel));
void html_end(struct html *html); /* ends the innermost element */
/* Invalid UTF-8, and control characters other than newlines and tabs, become U+FFFD. */
void html_text(struct html *html, const char *text);
void html_printf(struct html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A whole element with a text; class may be NULL. */
void html_element(struct html *html, const char *tag, const char *class, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* A paragraph that says a verdict; tone is " high", " warning" or "". */
void html_verdict(struct html *html, const char *tone, const char *text);
void html_constant(struct html *html, const char *markup);

/* Reserves a slot for markup and returns its number, counted from 0. */
size_t html_slot(struct html *html);
/* The whole page with markup[i] in slot i, NULL for nothing; the caller frees it. Open elements are ended. */
char *html_finish(struct html *html, const char *const *markup, size_t *size);

/* The frame of the page: a single file whose security policy allows only its own style and script. */
/* Up to and including <body>. reload: the page is read again after this many seconds; 0: never. */
void page_begin(struct html *html, const char *title, int reload);
void page_end(struct html *html);

#endif
