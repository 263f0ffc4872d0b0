/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "src/cmd/explain/scaling.h"

enum { SERIES_LEAST = 3, POINTS_ENOUGH = 6 };

struct seek {
	const struct explain_view *view;
	size_t threads;
	int split, level, hardware;
	struct explain_series *best;
	double least; /* least time of the best series */
};

static bool in_split(void *ctx, const struct study *study, size_t row) {
	const struct seek *seek = ctx;
	if (study_row(study, row)->over || study_row(study, row)->doubted ||
	    !explain_of_problem((void *)seek->view, study, row))
		return false;
	return seek->split < 0 || study_row(study, row)->level[seek->split] == seek->level;
}

static bool in_hardware(void *ctx, const struct study *study, size_t row) {
	const struct seek *seek = ctx;
	double threads = study_number(study, row, seek->threads);
	return in_split(ctx, study, row) && threads >= 1 && (seek->hardware < 1 || threads <= seek->hardware);
}

static double least_of(const struct study *study, const size_t *rows, size_t count) {
	double least = INFINITY;
	for (size_t i = 0; i < count; i++)
		least = fmin(least, study_row(study, rows[i])->value);
	return least;
}

static size_t enough(size_t count) {
	return count < POINTS_ENOUGH ? count : POINTS_ENOUGH;
}

/* Prefers more points, because they decide whether a law can be fitted at all; then the series with the fastest row. */
static bool series_consider(void *ctx, const size_t *rows, size_t count) {
	struct seek *seek = ctx;
	double least = least_of(seek->view->study, rows, count);
	count = count < SCALING_POINTS_MAX ? count : SCALING_POINTS_MAX;
	if (enough(count) < enough(seek->best->count) ||
	    (enough(count) == enough(seek->best->count) && least >= seek->least))
		return true;
	memcpy(seek->best->rows, rows, count * sizeof *rows);
	seek->best->count = count;
	seek->least = least;
	return true;
}

static size_t oversubscribed(const struct seek *seek) {
	const struct study *study = seek->view->study;
	size_t count = 0;
	for (size_t row = 0; row < study_rows(study) && seek->hardware > 0; row++)
		count += in_split((void *)seek, study, row) && study_number(study, row, seek->threads) > seek->hardware;
	return count;
}

int explain_hardware(const struct explain_view *view, size_t threads) {
	bool own = strcmp(study_column(view->study, threads)->name, "threads") == 0;
	return own ? study_host(view->study)->threads : 0;
}

void explain_series_find(const struct explain_view *view, size_t threads, int split, int level,
                         struct explain_series *series) {
	const struct study *study = view->study;
	struct seek seek = {.view = view,
	                    .threads = threads,
	                    .split = split,
	                    .level = level,
	                    .hardware = explain_hardware(view, threads),
	                    .best = series,
	                    .least = INFINITY};
	*series = (struct explain_series){.left_out = oversubscribed(&seek)};
	study_series_each(study, threads, SERIES_LEAST, in_hardware, &seek, series_consider, &seek);
	if (series->count)
		return;
	size_t *rows = mem_alloc(study_column(study, threads)->levels + 1, sizeof *rows);
	size_t count = study_envelope(study, threads, in_hardware, &seek, rows);
	series->count = count < SCALING_POINTS_MAX ? count : SCALING_POINTS_MAX;
	memcpy(series->rows, rows, series->count * sizeof *rows);
	series->envelope = true;
	free(rows);
}

/* The best time of the worst level over the best time of all. */
static double spread_of(const struct explain_view *view, size_t column) {
	const struct study *study = view->study;
	size_t levels = study_column(study, column)->levels;
	double best = INFINITY, worst = 0, *least = mem_alloc(levels + 1, sizeof *least); /* 0: no row */
	for (size_t row = 0; row < study_rows(study); row++) {
		const struct study_row *one = study_row(study, row);
		int level = one->level[column];
		if (level == STUDY_ABSENT || one->over || !explain_of_problem((void *)view, study, row))
			continue;
		least[level] = least[level] > 0 ? fmin(least[level], one->value) : one->value;
	}
	for (size_t level = 0; level < levels; level++) {
		best = least[level] > 0 ? fmin(best, least[level]) : best;
		worst = fmax(worst, least[level]);
	}
	free(least);
	return worst / best;
}

/* A parameter that selects the code is always preferred to one that selects how the code is run. */
static double weight_of(const char *name) {
	static const char *const words[] = {"variant", "lock", "sync"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(name, words[i]) == 0)
			return 1e6;
	return 1;
}

int explain_split(const struct explain_view *view) {
	const struct study *study = view->study;
	int chosen = -1;
	double most = 0;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->is_problem || column->numeric)
			continue;
		double spread = weight_of(column->name) * spread_of(view, c);
		if (spread > most) {
			most = spread;
			chosen = (int)c;
		}
	}
	return chosen;
}
