/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes a program's stdout as it arrives: digests it, searches it, keeps it for the verify command. */
#ifndef WORKER_PROGRAM_OUTPUT_IMPL_H
#define WORKER_PROGRAM_OUTPUT_IMPL_H
#include <stdbool.h>
#include "worker/program/digest_impl.h"
#include "base/err.h"

/* Finds a number in a program's output: the last match of a regular expression, line by line. */
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

enum { PROGRAM_SPOOL_MAX = 256 << 20 };

struct program_output {
	bool keep;                     /* wanted for its digest */
	struct program_metric *metric; /* or NULL */
	int spool;                     /* a file, or -1 */
	struct digest digest;
	char failure[160]; /* why nothing more is accepted; empty: all is well */
};

bool program_output_wanted(const struct program_output *output);
void program_output_start(struct program_output *output);
void program_output_add(struct program_output *output, const char *data, size_t size);
/* Call it after the last byte; the spool is then at its start. */
void program_output_end(struct program_output *output, char hash[SHA256_TEXT]);
#endif
