/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Markup in the making. Texts and values of attributes are escaped here and nowhere else; what is not escaped is a
 * constant of this program, or goes to a place that is filled at the end. Every element that begins also ends. */
#ifndef SRC_CMD_REPORT_HTML_H
#define SRC_CMD_REPORT_HTML_H
#include <stddef.h>

struct html;
struct html *html_new(void);
void html_free(struct html *html);

/* An element; then the names and values of its attributes, NULL. An attribute whose value is NULL is left out. */
void html_begin(struct html *html, const char *tag, ...) __attribute__((sentinel));
void html_single(struct html *html, const char *tag, ...) __attribute__((sentinel)); /* <meta>, <br>: it has no end */
void html_end(struct html *html);                                                    /* of the innermost */
/* What is not UTF-8, and control characters but newlines and tabs, become U+FFFD. */
void html_text(struct html *html, const char *text);
void html_printf(struct html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An element with a text; class may be NULL. */
void html_element(struct html *html, const char *tag, const char *class, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void html_constant(struct html *html, const char *markup);

/* A place; all are counted from 0. */
size_t html_slot(struct html *html);
/* All of it, with markup[i] in place i, NULL for nothing; caller frees. What is still open ends. */
char *html_finish(struct html *html, const char *const *markup, size_t *size);

#endif
