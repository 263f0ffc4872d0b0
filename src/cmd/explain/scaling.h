/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A series over threads, and the law (Amdahl's or the USL) that it follows. */
#ifndef SRC_CMD_EXPLAIN_SCALING_H
#define SRC_CMD_EXPLAIN_SCALING_H
#include "src/cmd/explain/explain.h"
#include "tuner/model/law/scaling.h"

/* src/cmd/explain/explain_series.c: the rows to fit. */
struct explain_series {
	size_t rows[SCALING_POINTS_MAX];
	size_t count, left_out; /* left_out: rows with more threads than the hardware has */
	bool envelope;          /* rows are the best at each count, and differ in more than threads */
};
/* Finds rows of the view's problem with this level of the column `split`; with -1, of all levels. */
void explain_series_find(const struct explain_view *view, size_t threads, int split, int level,
                         struct explain_series *series);
/* The hardware threads that limit a team: 0 if they are unknown, or if it is not one of threads, which may be on many
 * machines. */
int explain_hardware(const struct explain_view *view, size_t threads);
/* The unordered parameter that changes the times most; -1 if every parameter is a number. */
int explain_split(const struct explain_view *view);

#endif
