/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame of the page: one file, whose policy allows its own style and script and nothing else. */
#ifndef SRC_CMD_REPORT_PAGE_H
#define SRC_CMD_REPORT_PAGE_H
#include "src/cmd/report/html.h"

void page_begin(struct html *html, const char *title); /* up to and with <body> */
void page_end(struct html *html);

#endif
