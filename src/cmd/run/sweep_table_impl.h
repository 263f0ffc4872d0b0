/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of `sweep`. */
#ifndef SRC_CMD_RUN_SWEEP_TABLE_IMPL_H
#define SRC_CMD_RUN_SWEEP_TABLE_IMPL_H

#include "base/value.h"
#include "src/ui/ui.h"

struct axis {
	const char *name;
	struct value *values;
	size_t count;
};

enum { SWEEP_SHOW_MAX = 8 };

struct sweep_table {
	const json_t *rows, *serials; /* as in `sweep --json` */
	const struct axis *axes;
	size_t axis_count;
	const char *show[SWEEP_SHOW_MAX]; /* names of figures with a column of their own */
	size_t show_count;
	const char *weak; /* the size that grows with the team; NULL: none */
};

/* Prints one line for each row and for the serial code of each problem: the swept values, the median, its interval, the
 * speedups over the serial code and over one thread if that was swept, the efficiency, the figures, and a bar of the
 * time. */
void sweep_table_print(struct ui *ui, const struct sweep_table *table);
#endif
