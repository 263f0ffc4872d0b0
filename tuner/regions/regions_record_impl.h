/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record of one run: what lib/omp wrote, checked, and with names. */
#ifndef TUNER_REGIONS_REGIONS_RECORD_IMPL_H
#define TUNER_REGIONS_REGIONS_RECORD_IMPL_H
#include <stdbool.h>

#include "lib/omp/format.h"
#include "base/err.h"

struct regions_module {
	const char *path, *build_id; /* absolute path of the program or library; "-": it has no build ID */
};

struct regions_region {
	const char *module, *build_id;
	uint32_t module_number; /* in the record's list */
	uint64_t offset;
	uint64_t code_size;             /* of the function, 0 if the symbol table does not have it */
	uint64_t code_bytes, code_hash; /* of its code, by the unwind table; 0: unknown */
	char name[192];                 /* function, or "app+0x1a2b"; "smooth [<= 32]" for calls of a size */
	char place[320];                /* "file.c:12"; empty where there is no debug information */
	char symbol[512];
	struct omp_region facts;
};

/* Another process of the same run: a rank, or a program that a script started. */
struct regions_peer {
	const struct omp_record *raw;
	size_t *region; /* index in the record of each of its regions */
	size_t call_count;
};

struct regions_record {
	const struct omp_record *raw;   /* of the process that spent most time in regions; every index in it is valid */
	struct regions_region *regions; /* those of raw come first, in its order */
	size_t count;                   /* of regions */
	size_t call_count;              /* that were kept, of raw */
	struct regions_module *modules;
	size_t module_count;
	struct regions_peer *peers;
	size_t peer_count;
	size_t processes; /* that left a record */
};

/* The records in a folder, each PREFIX.HOST.PID. Facts of a region are those of the process that spent most time in it.
 * NULL with ERR_NOTHING where no process entered a region. */
struct regions_record *regions_record_read(const char *folder, struct err *err);
/* Share of their time that runnable threads waited for a processor; NAN where that is unknown, or the program's own
 * doing because it has more threads than processors. */
double regions_record_waiting(const struct regions_record *record);
/* A good part of its time in regions has more threads than processors: by default, by num_threads or by nested teams.
 */
bool regions_record_is_crowded(const struct regions_record *record);
/* A process asked how many threads or processors there are, perhaps to divide its work by that. */
bool regions_record_asks(const struct regions_record *record);
void regions_record_free(struct regions_record *record);
/* The number of the same region in another run; SIZE_MAX: it was not entered. */
size_t regions_record_find(const struct regions_record *record, const char *module, uint64_t offset,
                           uint32_t size_class);
#endif
