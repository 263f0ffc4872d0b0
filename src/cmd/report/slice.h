/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a study: the least time at each value of a parameter, what else may be, for each value of another one. */
#ifndef SRC_CMD_REPORT_SLICE_H
#define SRC_CMD_REPORT_SLICE_H
#include "src/cmd/report/report.h"

struct slice {
	const char *name; /* of the other parameter's value; NULL where there is none */
	size_t *rows, count;
	double least;
};
/* In the arena, those with the least time first; how many. split: SIZE_MAX for none. */
size_t slice_make(struct report *report, const struct report_section *section, size_t column, size_t split,
                  struct slice **slices);
/* The parameter to draw a line each of, but `column`: words before numbers; SIZE_MAX: none. */
size_t slice_split(const struct report_section *section, size_t column);
/* Parameters of the case that have several values on this problem, what mattered most first; how many. */
size_t slice_params(const struct report_section *section, size_t columns[STUDY_COLUMNS_MAX]);
/* How many levels of the column are there on this problem. */
size_t slice_levels(const struct report_section *section, size_t column);
/* Of a level, as text; in the arena. */
const char *slice_level(struct report *report, const struct study_column *column, int level);

#endif
