/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes a program's stdout as it arrives: digests it, searches it, keeps it for the verify command. */
#ifndef WORKER_PROGRAM_OUTPUT_H
#define WORKER_PROGRAM_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/program/digest.h"
#include "worker/program/metric.h"

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
