/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places a run below the machine's ceilings (Williams, Waterman, Patterson: "Roofline: An Insightful Visual Performance
 * Model for Multicore Architectures", 2009). Operations and bytes are the minimum that the kernel declares; counted
 * bytes are used where a counter provides them. */
#ifndef SRC_CMD_EXPLAIN_ROOFLINE_H
#define SRC_CMD_EXPLAIN_ROOFLINE_H

#include "src/app/cmd.h"

/* document: of `run`, with "work", "config" and perhaps "metrics". New reference; NULL if the kernel does not declare
 * its work. */
json_t *roofline_json(struct app *app, const json_t *document, double seconds);
void roofline_print(const json_t *roofline, FILE *out);
#endif
