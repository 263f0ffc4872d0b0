/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SRC_APP_LOST_PAGE_H
#define SRC_APP_LOST_PAGE_H

/* Handles SIGBUS: SQLite maps the index of the store's log, and another process that truncates that file takes the
 * pages away. The message names the file that was mapped at the address. Every other SIGBUS has its usual effect. */
void lost_page_set(void);

#endif
