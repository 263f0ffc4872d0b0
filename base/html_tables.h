/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of HTML as those of Markdown. */
#ifndef BASE_HTML_TABLES_H
#define BASE_HTML_TABLES_H
#include <stddef.h>

/* A copy of a text whose tables have pipes; a row of one cell that spans all others is a heading. Of a text that begins
 * with a tag the tables alone are left. NULL: it has none, or cells that span several others. The caller frees it. */
char *html_plain(const char *text, size_t size, size_t *plain_size);
#endif
