/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/regions/record.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/sys.h"
#include "tuner/regions/names.h"

enum { PROCESSES_MAX = 4096 };
static const size_t SIZE_MOST = sizeof(struct omp_record) + OMP_CALLS * sizeof(struct omp_call);

static bool ends(const char *text, size_t size) {
	return memchr(text, '\0', size) != NULL;
}

/* The program was able to write into its record, so nothing in it can be trusted. */
static bool is_sound(const struct omp_record *raw, size_t size) {
	if (size < sizeof *raw || memcmp(raw->magic, OMP_RECORD_MAGIC, sizeof raw->magic) != 0 ||
	    raw->size != sizeof *raw || raw->module_count > OMP_MODULES || raw->region_count > OMP_REGIONS ||
	    raw->team_count > OMP_TEAMS)
		return false;
	if (raw->call_room > OMP_CALLS || (size - sizeof *raw) / sizeof raw->calls[0] < raw->call_room)
		return false;
	for (uint32_t i = 0; i < raw->module_count; i++)
		if (!ends(raw->modules[i].path, OMP_PATH) || !ends(raw->modules[i].build_id, OMP_BUILD_ID))
			return false;
	for (uint32_t i = 0; i < raw->region_count; i++)
		if (raw->regions[i].module >= raw->module_count || raw->regions[i].sharing > OMP_SECTIONS ||
		    !ends(raw->regions[i].place, OMP_PLACE))
			return false;
	size_t calls = raw->call_count < raw->call_room ? raw->call_count : raw->call_room;
	for (size_t i = 0; i < calls; i++)
		if (raw->calls[i].region >= raw->region_count || raw->calls[i].setting >= OMP_SETTINGS ||
		    !(raw->calls[i].seconds >= 0))
			return false;
	return true;
}

static uint64_t time_in(const struct omp_record *raw) {
	uint64_t sum = 0;
	for (uint32_t i = 0; i < raw->region_count; i++)
		sum += raw->regions[i].ns;
	return sum;
}

static struct omp_record *file_read(const char *path) {
	size_t size;
	struct err err = {0};
	struct omp_record *raw = (struct omp_record *)sys_read_file(path, SIZE_MOST, &size, &err);
	if (raw && is_sound(raw, size))
		return raw;
	free(raw);
	return NULL;
}

static struct omp_record *folder_read(const char *folder, size_t *processes) {
	struct omp_record *best = NULL;
	DIR *dir = opendir(folder);
	*processes = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir)) && *processes < PROCESSES_MAX;) {
		if (entry->d_name[0] == '.')
			continue;
		char *path = mem_printf("%s/%s", folder, entry->d_name);
		struct omp_record *raw = file_read(path);
		free(path);
		if (!raw)
			continue;
		++*processes;
		if (!best || time_in(raw) > time_in(best)) {
			free(best);
			best = raw;
		} else {
			free(raw);
		}
	}
	if (dir)
		closedir(dir);
	return best;
}

struct regions_record *regions_record_read(const char *folder, struct err *err) {
	size_t processes;
	struct omp_record *raw = folder_read(folder, &processes);
	if (!raw || raw->region_count == 0) {
		free(raw);
		err_set(err, ERR_NOTHING,
		        "it must be linked dynamically with libgomp or libomp; `sweetspot tune --openmp` tunes it as a whole",
		        "the program entered no parallel region of OpenMP that could be seen");
		return NULL;
	}
	struct regions_record *record = mem_alloc(1, sizeof *record);
	record->raw = raw;
	record->processes = processes;
	record->count = raw->region_count;
	record->call_count = raw->call_count < raw->call_room ? raw->call_count : raw->call_room;
	record->regions = mem_alloc(record->count, sizeof *record->regions);
	for (size_t i = 0; i < record->count; i++) {
		const struct omp_region *facts = &raw->regions[i];
		record->regions[i] = (struct regions_region){.module = raw->modules[facts->module].path,
		                                             .build_id = raw->modules[facts->module].build_id,
		                                             .offset = facts->offset,
		                                             .facts = *facts};
	}
	regions_names_find(record->regions, record->count);
	return record;
}

void regions_record_free(struct regions_record *record) {
	if (!record)
		return;
	free(record->regions);
	free((void *)record->raw);
	free(record);
}
