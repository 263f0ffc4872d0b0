/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tune --sizes: one kernel at several sizes under one budget. */
#ifndef SRC_CMD_TUNE_CMD_TUNE_SIZES_IMPL_H
#define SRC_CMD_TUNE_CMD_TUNE_SIZES_IMPL_H
#include "src/cmd/tune/session_impl.h"
#include "tuner/sizes/sizes.h"

struct tune_sizes {
	const struct kernel_desc *kernel;
	char *over;
	struct sizes_plan plan;
	double *list;
	double *of_item; /* the size of each item */
};

/* Reads --sizes and creates an item for each size of a list, or for both ends of a range. */
int tune_sizes_read(struct tune_session *session, struct err *err);
void tune_sizes_free(struct tune_sizes *sizes); /* NULL is allowed */
int tune_sizes_run(struct tuning *t, struct err *err);
#endif
