/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/program/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool program_output_wanted(const struct program_output *output) {
	return output->keep || output->metric || output->spool >= 0;
}

static void spool_failed(struct program_output *output, int why) {
	snprintf(output->failure, sizeof output->failure, "its output cannot be kept for verify: %s", strerror(why));
}

void program_output_start(struct program_output *output) {
	output->failure[0] = '\0';
	digest_start(&output->digest);
	if (output->metric) {
		program_metric_start(output->metric);
	}
	if (output->spool >= 0 && (ftruncate(output->spool, 0) != 0 || lseek(output->spool, 0, SEEK_SET) != 0)) {
		spool_failed(output, errno);
	}
}

static void spool_write(struct program_output *output, const char *data, size_t size) {
	while (size > 0) {
		ssize_t put = write(output->spool, data, size);
		if (put < 0 && errno != EINTR) {
			spool_failed(output, errno);
			return;
		}
		data += put > 0 ? put : 0;
		size -= put > 0 ? (size_t)put : 0;
	}
}

void program_output_add(struct program_output *output, const char *data, size_t size) {
	digest_add(&output->digest, data, size);
	if (output->metric) {
		program_metric_add(output->metric, data, size);
	}
	if (output->spool >= 0 && output->digest.bytes > PROGRAM_SPOOL_MAX) {
		snprintf(output->failure, sizeof output->failure, "its output exceeds %d MiB, the most that verify gets",
		         PROGRAM_SPOOL_MAX >> 20);
	} else if (output->spool >= 0 && !output->failure[0]) {
		spool_write(output, data, size);
	}
}

void program_output_end(struct program_output *output, char hash[SHA256_TEXT]) {
	digest_end(&output->digest, hash);
	if (output->metric) {
		program_metric_end(output->metric);
	}
	if (output->spool >= 0 && lseek(output->spool, 0, SEEK_SET) != 0) {
		spool_failed(output, errno);
	}
}
