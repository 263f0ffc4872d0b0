/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with a program's stdout while it comes: hashed, searched, kept for who verifies it. */
#ifndef SRC_WORKER_PROGRAM_OUTPUT_H
#define SRC_WORKER_PROGRAM_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/sha256.h"
#include "src/worker/program/metric.h"

enum { PROGRAM_SPOOL_MAX = 256 << 20 };

struct program_output {
	bool hash;                     /* wanted */
	struct program_metric *metric; /* or NULL */
	int spool;                     /* a file, or -1 */
	struct sha256 sha;
	uint64_t bytes;
	char failure[160]; /* why no more can be taken; empty: nothing is wrong */
};

bool program_output_wanted(const struct program_output *output);
void program_output_start(struct program_output *output);
void program_output_add(struct program_output *output, const char *data, size_t size);
/* After the last byte; the spool is then at its start. */
void program_output_end(struct program_output *output, char hash[SHA256_TEXT]);

#endif
