/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this room. */
#ifndef TUNER_STUDY_STUDY_IMPL_H
#define TUNER_STUDY_STUDY_IMPL_H
#include <stdint.h>

#include "src/base/mem.h"
#include "tuner/study/contrast.h"
#include "tuner/study/study.h"

/* The better ones count alone. */
enum grade { GRADE_NONE, GRADE_OVER, GRADE_SHORT, GRADE_DISTURBED, GRADE_SEARCH, GRADE_DUEL };

struct gathered { /* a row while trials come in */
	char *key;
	json_t *problem, *config, *detail, *counted;
	enum grade grade;
	double *values, *samples;
	size_t value_count, sample_count, trials;
	double searched_log; /* sum over undisturbed trials of a search */
	size_t searched_count;
	size_t newest; /* number of the last trial that was added to it */
};

struct study {
	char *kernel, *device;
	struct arena *arena; /* of columns and rows */
	json_t *machine, *ceilings;
	double noise;
	struct study_host host;
	struct gathered *gathered;
	size_t gathered_count, gathered_room;
	size_t *slots, slot_count; /* hash table over gathered: 1 + index, 0 is empty */
	json_t *last_problem;      /* of the trial that was added last */
	char *last_text;           /* its canonical text */
	size_t added, failures;
	json_t *winner_problem, *winner_config, *baseline_config;
	/* study_finish */
	struct study_row *rows;
	size_t row_count, left_out;
	size_t limit; /* 0: as many as is usual */
	struct study_column columns[STUDY_COLUMNS_MAX];
	size_t column_count;
	size_t winner, baseline;
};

struct gathered *study_gather(struct study *study, const struct study_trial *trial);
bool study_row_safe(const struct study_row *row); /* it may be used, and was not cut short */
/* Before columns are made, after that where there is a limit; these two rows stay, SIZE_MAX for none. */
void study_thin(struct study *study, size_t winner, size_t baseline);
/* Marks the rows with the least value of each pair of values, problem by problem, no more than `most`; returns how
 * many. order: rows by problem, then by value; first: whether a place in there begins a problem. */
size_t study_pairs_keep(const struct study *study, const size_t *order, const bool *first, size_t most, bool *keep);
/* Brings what was searched alone to the speed that the machine had while it raced and dueled. */
void study_drift(struct study *study);
void study_columns_make(struct study *study);

/* Rows sorted so that those which agree in all columns but `skip`ped ones are neighbours; ascending in the skipped
 * ones. */
struct study_order {
	const struct study *study;
	bool skip[STUDY_COLUMNS_MAX];
};
int study_order_compare(const struct study_order *order, size_t a, size_t b); /* 0: they agree in what is not skipped */
void study_order_sort(const struct study_order *order, size_t *rows, size_t count, size_t by);

#endif
