/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer of an oracle, kept outside the process, so that the worker that replaces one that was ended need not find
 * it out again. */
#ifndef KERNELS_ANSWER_H
#define KERNELS_ANSWER_H
#include <stdbool.h>

#include "kernels/kernel.h"

/* The worker's, one for each input. */
struct kernel_answers {
	int fd;          /* of a memory file; -1: nothing is kept */
	const char *key; /* the problem */
	double asked_s;  /* when nothing was found; the monotonic clock */
	double took_s;   /* what the oracle then took */
};

struct kernel_part {
	void *data;
	size_t bytes;
};

/* Fills in the parts of the answer as an earlier worker has kept them; false if there is none with these sizes. */
bool kernel_answer_recall(const struct ss_call *call, const struct kernel_part *parts, size_t count);
/* Keeps the answer that was computed because there was none. */
void kernel_answer_keep(const struct ss_call *call, const struct kernel_part *parts, size_t count);
#endif
