/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a study: the least time at each value of a parameter over all other parameters, perhaps with one line for
 * each value of a second parameter. */
#ifndef SRC_CMD_REPORT_CURVES_TABLE_IMPL_H
#define SRC_CMD_REPORT_CURVES_TABLE_IMPL_H
#include "src/cmd/report/report_impl.h"

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
