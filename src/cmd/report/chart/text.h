/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of a chart. They come from outside and are hostile until text_tame has seen them. */
#ifndef SRC_CMD_REPORT_CHART_TEXT_H
#define SRC_CMD_REPORT_CHART_TEXT_H
#include <stddef.h>
#include <stdio.h>

/* One well-formed line without characters that XML forbids or that reverse the direction of writing. The caller frees.
 */
char *text_tame(const char *text);
/* In units of the canvas. It is an upper estimate, because the reader's font is not known. */
double text_width(const char *text);
/* At most `width` wide, with an ellipsis if the end is missing. The caller frees. */
char *text_fit(const char *text, double width);
/* Breaks it into at most `max` lines of that width and returns how many. The caller frees each. */
size_t text_wrap(const char *text, double width, char **lines, size_t max);
/* Escaped for elements and attributes. */
void text_markup(FILE *out, const char *text);

#endif
