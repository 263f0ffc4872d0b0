/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame of the page: a single file whose security policy allows only its own style and script. */
#ifndef SRC_CMD_REPORT_PAGE_H
#define SRC_CMD_REPORT_PAGE_H
#include "src/cmd/report/html.h"

/* Up to and including <body>. reload: the page is read again after this many seconds; 0: never. */
void page_begin(struct html *html, const char *title, int reload);
void page_end(struct html *html);

#endif
