/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/program/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"

bool program_output_wanted(const struct program_output *output) {
	return output->hash || output->metric || output->spool >= 0;
}

static void spool_failed(struct program_output *output, int why) {
	snprintf(output->failure, sizeof output->failure, "its output cannot be kept for verify: %s", strerror(why));
}

void program_output_start(struct program_output *output) {
	output->bytes = 0;
	output->kept_size = 0;
	output->failure[0] = '\0';
	sha256_start(&output->sha);
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

/* A chunk that is longer than the memory replaces all of it. */
static void end_keep(struct program_output *output, const char *data, size_t size) {
	size_t left = size < PROGRAM_KEPT ? PROGRAM_KEPT - size : 0;
	left = left < output->kept_size ? left : output->kept_size;
	memmove(output->kept, output->kept + output->kept_size - left, left);
	if (size > PROGRAM_KEPT) {
		data += size - PROGRAM_KEPT;
		size = PROGRAM_KEPT;
	}
	memcpy(output->kept + left, data, size);
	output->kept_size = left + size;
}

void program_output_add(struct program_output *output, const char *data, size_t size) {
	output->bytes += size;
	end_keep(output, data, size);
	if (output->hash) {
		sha256_add(&output->sha, data, size);
	}
	if (output->metric) {
		program_metric_add(output->metric, data, size);
	}
	if (output->spool >= 0 && output->bytes > PROGRAM_SPOOL_MAX) {
		snprintf(output->failure, sizeof output->failure, "its output exceeds %d MiB, the most that verify gets",
		         PROGRAM_SPOOL_MAX >> 20);
	} else if (output->spool >= 0 && !output->failure[0]) {
		spool_write(output, data, size);
	}
}

void program_output_end(struct program_output *output, char hash[SHA256_TEXT]) {
	hash[0] = '\0';
	if (output->metric) {
		program_metric_end(output->metric);
	}
	if (output->hash) {
		sha256_end(&output->sha, hash);
	}
	if (output->spool >= 0 && lseek(output->spool, 0, SEEK_SET) != 0) {
		spool_failed(output, errno);
	}
}

char *program_output_end_text(const struct program_output *output) {
	char *text = mem_alloc(output->kept_size + 1, 1);
	for (size_t i = 0; i < output->kept_size; i++) {
		text[i] = output->kept[i] ? output->kept[i] : ' ';
	}
	return text;
}
