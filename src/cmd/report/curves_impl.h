/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The curves of one parameter, with the charts and the table made from them. */
#ifndef SRC_CMD_REPORT_CURVES_IMPL_H
#define SRC_CMD_REPORT_CURVES_IMPL_H
#include "src/cmd/report/curves_table_impl.h"

enum { CURVES_LINES = 12, CURVES_POINTS = 200 };

struct curves {
	struct report *report;
	const struct report_section *section;
	const struct study *study;
	size_t column, split, serial; /* serial: the row of the serial code, or SIZE_MAX */
	const char *name;             /* of the column */
	struct slice *slices;
	size_t count;
	struct report_scale scale;
	double least, most;
	double serial_time; /* of that row, or on the CPU for a kernel of a GPU; NAN: it was not measured */
	bool threads;       /* or another team */
	const char *one;    /* "one thread", or "ranks=1" */
};

/* False if nothing was measured. */
bool curves_make(struct curves *curves, struct report *report, const struct report_section *section, size_t column);
double curves_number(const struct curves *curves, size_t row); /* of the parameter */
/* The reference time of a speedup: that of the serial code, or over threads the line's own time with one thread; for
 * other parameters the baseline's. NAN if it was not measured. */
double curves_base(const struct curves *curves, const struct slice *slice);
/* The index of point i of a line after thinning to at most CURVES_POINTS points. */
size_t curves_thinned(size_t count, size_t i);

/* The line's own time with one thread; NAN if it was not measured. */
double curves_one(const struct curves *curves, const struct slice *slice);

/* curves_table.c */
void curves_table(const struct curves *curves);
#endif
