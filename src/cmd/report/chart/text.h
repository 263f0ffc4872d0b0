/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of a chart come from outside and may be hostile until text_tame has cleaned them. */
#ifndef SRC_CMD_REPORT_CHART_TEXT_H
#define SRC_CMD_REPORT_CHART_TEXT_H
#include <stddef.h>

/* Returns one well-formed line without characters that XML forbids or that change the direction of the text. The caller
 * frees it. */
char *text_tame(const char *text);
/* Returns an upper estimate in units of the canvas, because the reader's font is not known. */
double text_width(const char *text);
/* Cuts the text to the width, with an ellipsis if the end is missing. The caller frees it. */
char *text_fit(const char *text, double width);
/* Breaks the text into at most `max` lines and returns their number. The caller frees each line. */
size_t text_wrap(const char *text, double width, char **lines, size_t max);

#endif
