/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record of one run: what lib/omp wrote, checked, and with names. */
#ifndef TUNER_REGIONS_RECORD_H
#define TUNER_REGIONS_RECORD_H
#include "lib/omp/format.h"
#include "src/base/err.h"

struct regions_region {
	const char *module, *build_id; /* absolute path of the program or library; "-": it has no build ID */
	uint64_t offset;
	char name[160];  /* function, or "app+0x1a2b" */
	char place[320]; /* "file.c:12"; empty where there is no debug information */
	char symbol[160];
	struct omp_region facts;
};

struct regions_record {
	const struct omp_record *raw; /* every index in it is valid */
	size_t size;
	struct regions_region *regions;
	size_t count;      /* of regions */
	size_t call_count; /* that were kept */
	size_t processes;  /* that left a record; this is the one that spent most time in regions */
};

/* The records in a folder, each PREFIX.PID. NULL with ERR_NOTHING where no process entered a region. */
struct regions_record *regions_record_read(const char *folder, struct err *err);
void regions_record_free(struct regions_record *record);

#endif
