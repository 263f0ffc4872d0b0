/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `sweep` shows to people. */
#ifndef SRC_SWEEP_TABLE_H
#define SRC_SWEEP_TABLE_H
#include <jansson.h>
#include <stddef.h>

#include "src/base/value.h"
#include "src/ui.h"

struct axis {
	const char *name;
	struct value *values;
	size_t count;
};

/* rows: as in `sweep --json`. A line a row: the swept values, the median, its interval, and a bar of its time. */
void sweep_table_print(struct ui *ui, const json_t *rows, const struct axis *axes, size_t axis_count);

#endif
