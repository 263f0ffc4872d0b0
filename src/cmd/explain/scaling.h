/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A series over threads, and the law that it follows. */
#ifndef SRC_CMD_EXPLAIN_SCALING_H
#define SRC_CMD_EXPLAIN_SCALING_H
#include "src/cmd/explain/explain.h"
#include "tuner/model/law/scaling.h"

/* src/cmd/explain/series.c: which rows to fit. */
struct explain_series {
	size_t rows[SCALING_POINTS_MAX];
	size_t count, left_out; /* left out: more threads than the hardware has */
	bool envelope;          /* the best at each count: they differ in more than threads */
};
/* Rows of the view's problem with this level of `split`, -1: of all. */
void explain_series_find(const struct explain_view *view, size_t threads, int split, int level,
                         struct explain_series *series);
/* The unordered parameter that changes times most; -1: there is none. */
int explain_split(const struct explain_view *view);

/* src/cmd/explain/law.c: the entry of "scaling". */
json_t *explain_law(const struct explain_view *view, size_t threads, const struct explain_series *series);

#endif
