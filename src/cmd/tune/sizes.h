/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tune --sizes: one kernel at several sizes under one budget. */
#ifndef SRC_CMD_TUNE_SIZES_H
#define SRC_CMD_TUNE_SIZES_H
#include "src/cmd/tune/session_impl.h"
#include "tuner/sizes/sizes.h"

struct tune_sizes {
	const struct kernel_desc *kernel;
	char *over;
	struct sizes_plan plan;
	double *list;
	double *of_item; /* the size of each item */
};

/* From --sizes: the items are all sizes of a list, or both ends. */
int tune_sizes_read(struct tune_session *session, struct err *err);
void tune_sizes_free(struct tune_sizes *sizes); /* NULL is fine */
int tune_sizes_run(struct tuning *t, struct err *err);
/* "n=512"; caller frees. */
char *tune_sizes_word(const struct tune_sizes *sizes, double n);

#endif
