/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that lib/omp reads (lib/omp/table.c has the format). */
#ifndef TUNER_REGIONS_REGIONS_TABLE_IMPL_H
#define TUNER_REGIONS_REGIONS_TABLE_IMPL_H

#include "tuner/regions/regions_sizes_impl.h"

struct regions_setting {
	unsigned threads; /* 0: as it is */
	int kind;         /* enum omp_kind */
	unsigned chunk;
};

struct regions_table {
	double stretch_s;              /* 0: the first column always */
	double pause_s;                /* between blocks of stretches, with the first column */
	unsigned long long calls_most; /* in one stretch; 0: any number */
	unsigned seed;
	bool trace, busy, force, learn;
	const unsigned *teams; /* whose changes are timed */
	size_t team_count;
	const struct regions_setting *any;  /* columns of every region; NULL: the rows below */
	const struct regions_setting *rows; /* record's regions x columns */
	size_t columns;
	const struct regions_sizes *sizes; /* their modules are those of the record */
	size_t sizes_count;
};

/* Text of the table. Caller frees. record may be NULL where `any` is given without sizes. */
char *regions_table_text(const struct regions_table *table, const struct regions_record *record);
#endif
