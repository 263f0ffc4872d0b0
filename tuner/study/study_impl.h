/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this room. */
#ifndef TUNER_STUDY_STUDY_IMPL_H
#define TUNER_STUDY_STUDY_IMPL_H

#include "base/mem.h"
#include "tuner/study/contrast.h"

/* Only the trials of the highest grade of a row count. */
enum grade { GRADE_NONE, GRADE_OVER, GRADE_SHORT, GRADE_DISTURBED, GRADE_SEARCH, GRADE_DUEL };

struct gathered { /* a row while trials are added */
	char *key;
	json_t *problem, *config, *detail, *counted;
	enum grade grade;
	double *values, *samples;
	size_t value_count, sample_count, trials;
	double searched_log; /* sum over undisturbed trials of a search */
	size_t searched_count;
	size_t newest; /* number of its latest trial */
};

struct gathering {
	struct gathered *rows;
	size_t count, room;
	size_t *slots, slot_count; /* hash table over rows: 1 + index; 0 is empty */
};

struct study_named { /* by whoever adds trials */
	json_t *winner_problem, *winner_config, *baseline_config;
};

struct study {
	char *kernel, *device;
	struct arena *arena; /* of columns and rows */
	json_t *machine, *ceilings;
	const struct study_ceiling *ceiling; /* the members of `ceilings` */
	size_t ceiling_count;
	const char **counted; /* the names of all counters */
	size_t counted_count;
	double noise;
	char *rate; /* its name; NULL: values are seconds */
	double rate_scale;
	bool unitless; /* the unit of the values is not known */
	struct study_host host;
	struct gathering gathering;
	json_t *last_problem; /* of the latest trial */
	char *last_text;      /* its canonical text */
	size_t added, failures;
	struct study_named named;
	/* set by study_finish */
	struct study_row *rows;
	size_t row_count, left_out;
	size_t limit; /* 0: the default */
	struct study_column columns[STUDY_COLUMNS_MAX];
	size_t column_count;
	size_t winner, baseline;
};

struct gathered *study_gather(struct study *study, const struct study_trial *trial);
bool study_row_safe(const struct study_row *row); /* it is safe to use and was not cut short */
/* Drops rows before columns are made, or after that if there is a limit. These two rows stay; SIZE_MAX: none. */
void study_thin(struct study *study, size_t winner, size_t baseline);
/* Scales rows that were only searched to the speed that the machine had during races and duels. */
void study_drift(struct study *study);
void study_columns_make(struct study *study);
void study_facts_make(struct study *study); /* of the rows that stay */

/* Sorts rows so that those which agree in all columns but the skipped ones are neighbours, ascending in the skipped
 * ones. */
struct study_order {
	const struct study *study;
	bool skip[STUDY_COLUMNS_MAX];
};
int study_order_compare(const struct study_order *order, size_t a,
                        size_t b); /* 0: they agree in all columns that are not skipped */
void study_order_sort(const struct study_order *order, size_t *rows, size_t count, size_t by);
#endif
