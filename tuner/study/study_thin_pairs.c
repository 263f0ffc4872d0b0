/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves and maps show the smallest value over everything else, so that the rows that have it must stay. */
#include <config.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/study/study_impl.h"

enum { CELLS_MOST = 16 << 20, PAIR_MOST = 1 << 16 };

struct pairs {
	const struct study *study;
	size_t *at;          /* of columns a < b, at a * columns + b: the first cell, SIZE_MAX for none */
	unsigned char *seen; /* of all cells */
	size_t cells;
};

static bool is_kept_pair(const struct study *study, size_t a, size_t b) {
	const struct study_column *x = study_column(study, a), *y = study_column(study, b);
	return !x->is_problem && !y->is_problem && x->levels * y->levels <= PAIR_MOST;
}

static void pairs_make(struct pairs *pairs, const struct study *study) {
	size_t columns = study_columns(study);
	*pairs = (struct pairs){.study = study, .at = mem_alloc(columns * columns + 1, sizeof *pairs->at)};
	for (size_t a = 0; a < columns; a++)
		for (size_t b = a; b < columns; b++) {
			size_t size = study_column(study, a)->levels * study_column(study, b)->levels;
			bool fits = is_kept_pair(study, a, b) && pairs->cells + size <= CELLS_MOST;
			pairs->at[a * columns + b] = fits ? pairs->cells : SIZE_MAX;
			pairs->cells += fits ? size : 0;
		}
	pairs->seen = mem_alloc(pairs->cells + 1, 1);
}

/* Does the row have a pair of values that no earlier row has? */
static bool is_new(struct pairs *pairs, const int *level) {
	size_t columns = study_columns(pairs->study);
	bool any = false;
	for (size_t a = 0; a < columns; a++)
		for (size_t b = a; b < columns; b++) {
			size_t at = pairs->at[a * columns + b];
			if (at == SIZE_MAX || level[a] == STUDY_ABSENT || level[b] == STUDY_ABSENT)
				continue;
			at += (size_t)level[a] * study_column(pairs->study, b)->levels + (size_t)level[b];
			any = any || !pairs->seen[at];
			pairs->seen[at] = 1;
		}
	return any;
}

size_t study_pairs_keep(const struct study *study, const size_t *order, const bool *first, size_t most, bool *keep) {
	struct pairs pairs;
	size_t problems = 0, kept = 0, of_problem = 0;
	pairs_make(&pairs, study);
	for (size_t i = 0; i < study_rows(study); i++)
		problems += first[i];
	for (size_t i = 0; i < study_rows(study); i++) {
		const struct study_row *row = study_row(study, order[i]);
		if (first[i]) {
			memset(pairs.seen, 0, pairs.cells);
			of_problem = 0;
		}
		if (row->over || of_problem >= most / problems || !is_new(&pairs, row->level))
			continue;
		of_problem++;
		kept += !keep[order[i]];
		keep[order[i]] = true;
	}
	free(pairs.at);
	free(pairs.seen);
	return kept;
}
