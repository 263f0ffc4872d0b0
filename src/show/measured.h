/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `--export markdown|csv|json`: what was measured, as a table for other programs. */
#ifndef SRC_SHOW_MEASURED_H
#define SRC_SHOW_MEASURED_H
#include <jansson.h>

#include "base/opt.h"

enum measured_format { MEASURED_NONE, MEASURED_MARKDOWN, MEASURED_CSV, MEASURED_JSON };

extern const struct opt measured_options[]; /* --export */
/* ERR_USAGE for an unknown word, or beside --json. */
int measured_format_read(const struct opt_args *args, enum measured_format *format, struct err *err);
/* Rows are flat objects. The columns are those of all rows, in the order in which they first occur. */
void measured_write(enum measured_format format, const json_t *rows, FILE *out);
#endif
