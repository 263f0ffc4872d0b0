/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a run lies below the machine's roofs: operations and bytes from what the kernel says it must do at least, bytes
 * as counted where a counter gives them (Williams, Waterman, Patterson: "Roofline: An Insightful Visual Performance
 * Model for Multicore Architectures", 2009). */
#ifndef SRC_CMD_EXPLAIN_ROOFLINE_H
#define SRC_CMD_EXPLAIN_ROOFLINE_H
#include <jansson.h>
#include <stdio.h>

#include "src/app/cmd.h"

/* document: one of `run`, with "work", "config" and perhaps "metrics". New reference; NULL where the kernel does not
 * say what it does. */
json_t *roofline_json(struct app *app, const json_t *document, double seconds);
void roofline_print(const json_t *roofline, FILE *out);

#endif
