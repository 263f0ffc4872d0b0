/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a number in a program's output: the last match of a regular expression, line by line. */
#ifndef WORKER_PROGRAM_METRIC_H
#define WORKER_PROGRAM_METRIC_H
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct program_metric;

/* ERR_USAGE if the text is not a POSIX extended regular expression. */
struct program_metric *program_metric_new(const char *expression, struct err *err);
void program_metric_free(struct program_metric *metric);  /* accepts NULL */
void program_metric_start(struct program_metric *metric); /* forgets what was found */
/* Takes bytes as they come; a line is searched in pieces of 4 KiB, and cut after 64 KiB. */
void program_metric_add(struct program_metric *metric, const char *data, size_t size);
void program_metric_end(struct program_metric *metric); /* a last line without newline counts, too */
bool program_metric_found(const struct program_metric *metric);
/* The number, above 0; otherwise -1 and err, one line that says what was found. *value is the number then, too, or NAN
 * without one. */
int program_metric_value(const struct program_metric *metric, double *value, struct err *err);

#endif
