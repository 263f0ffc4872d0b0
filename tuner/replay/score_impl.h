/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the score: a table has one column for each quantity and one row for each run. */
#ifndef TUNER_REPLAY_SCORE_IMPL_H
#define TUNER_REPLAY_SCORE_IMPL_H
#include "tuner/replay/score.h"

enum {
	COLUMN_TIME,                              /* the best at each point of the time axis */
	COLUMN_EVALS = COLUMN_TIME + SCORE_CURVE, /* the same for the axis of evaluations */
	COLUMN_RATIO = COLUMN_EVALS + SCORE_CURVE,
	COLUMN_TO = COLUMN_RATIO + SCORE_POINTS,
	COLUMNS = COLUMN_TO + SCORE_TARGETS
};

struct score_table {
	const struct score_axis *axis;
	size_t runs;
	bool *set;
	double *columns[COLUMNS];
	size_t *order[COLUMNS]; /* runs that were set, smallest first; made by score_table_sort */
	double *asking;
	size_t count; /* runs in `order` */
};
#endif
