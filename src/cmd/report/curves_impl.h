/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The curves of one parameter, with the charts and the table made from them. */
#ifndef SRC_CMD_REPORT_CURVES_IMPL_H
#define SRC_CMD_REPORT_CURVES_IMPL_H
#include "src/cmd/report/report_impl.h"

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

/* Lines of a study: the least time at each value of a parameter over all other parameters, perhaps with one line for
 * each value of a second parameter. */

struct slice {
	const char *name; /* the value of the second parameter, with its name if it is a number; or NULL */
	size_t *rows, count;
	double least;
};
/* Makes the lines in the arena, least time first, and returns their number. split: the second parameter, SIZE_MAX for
 * none. */
size_t slice_make(struct report *report, const struct report_section *section, size_t column, size_t split,
                  struct slice **slices);
/* Stores the parameters with several values on this problem, largest effect first, and returns their number. */
size_t slice_params(const struct report_section *section, size_t columns[STUDY_COLUMNS_MAX]);
/* The number in which most problems differ from the section's own, and in nothing else; SIZE_MAX: there is none. */
size_t slice_size(const struct report_section *section);
/* Calls for the section; for the only one of a table in which each problem has a row, once for each problem. */
void slice_each_problem(struct report *report, const struct report_section *section,
                        void (*fn)(struct report *report, const struct report_section *section));
/* The text of a level, in the arena. */
const char *slice_level(struct report *report, const struct study_column *column, int level);
/* The row of the configuration that `tune` proved faster than the baseline; SIZE_MAX: there is none. */
size_t slice_winner(const struct report_section *section);
#endif
