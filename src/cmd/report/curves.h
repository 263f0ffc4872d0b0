/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A parameter's curves: what they are made of, and what is drawn and listed of them. */
#ifndef SRC_CMD_REPORT_CURVES_H
#define SRC_CMD_REPORT_CURVES_H
#include "src/cmd/report/slice.h"

enum { CURVES_LINES = 12, CURVES_POINTS = 200 };

struct curves {
	struct report *report;
	const struct report_section *section;
	const struct study *study;
	size_t column, split;
	const char *name; /* of the column */
	struct slice *slices;
	size_t count;
	struct report_scale scale;
	double least, most;
	bool threads;
};

/* curves_make.c: false where nothing was measured. */
bool curves_make(struct curves *curves, struct report *report, const struct report_section *section, size_t column);
double curves_number(const struct curves *curves, size_t row); /* of the parameter */
double curves_shown(const struct curves *curves, size_t row);  /* the value, as it is shown */
/* What a speedup is over: the line's own time with one thread, or the baseline's. NAN: there is none. */
double curves_base(const struct curves *curves, const struct slice *slice);
/* Place i of a line of at most CURVES_POINTS. */
size_t curves_thinned(size_t count, size_t i);

/* curves_draw.c */
void curves_times(const struct curves *curves);
void curves_speedups(const struct curves *curves);
void curves_bars(const struct curves *curves); /* of words: the best first, which sorts the line */
/* curves_table.c */
void curves_table(const struct curves *curves);

#endif
