/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/regions/regions_impl.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "base/mem.h"
#include "base/sys.h"

enum { PROCESSES_MAX = 4096, PEERS_MAX = 15, RECORD_LEAST = 64 << 10 };
static const double CROWDED_LEAST = 0.1; /* share of the time in regions */
static const size_t SIZE_MOST = sizeof(struct omp_record) + OMP_CALLS * sizeof(struct omp_call);

static bool ends(const char *text, size_t size) {
	return memchr(text, '\0', size) != NULL;
}

/* The library never writes a module or a region twice. */
static bool is_doubled(const struct omp_record *raw) {
	for (uint32_t i = 0; i < raw->module_count; i++)
		for (uint32_t j = 0; j < i; j++)
			if (strcmp(raw->modules[i].path, raw->modules[j].path) == 0)
				return true;
	for (uint32_t i = 0; i < raw->region_count; i++)
		for (uint32_t j = 0; j < i; j++)
			if (raw->regions[i].offset == raw->regions[j].offset && raw->regions[i].module == raw->regions[j].module &&
			    raw->regions[i].size_class == raw->regions[j].size_class)
				return true;
	return false;
}

bool regions_raw_sound(const struct omp_record *raw, size_t size) {
	if (size < sizeof *raw || memcmp(raw->magic, OMP_RECORD_MAGIC, sizeof raw->magic) != 0 ||
	    raw->size != sizeof *raw || raw->module_count > OMP_MODULES || raw->region_count > OMP_REGIONS ||
	    raw->team_count > OMP_TEAMS || raw->event_count > OMP_EVENTS)
		return false;
	if (raw->call_room > OMP_CALLS || (size - sizeof *raw) / sizeof raw->calls[0] < raw->call_room)
		return false;
	for (uint32_t i = 0; i < raw->module_count; i++)
		if (!ends(raw->modules[i].path, OMP_PATH) || !ends(raw->modules[i].build_id, OMP_BUILD_ID))
			return false;
	for (uint32_t i = 0; i < raw->event_count; i++)
		if (!ends(raw->events[i].name, OMP_EVENT_NAME))
			return false;
	for (uint32_t i = 0; i < raw->region_count; i++)
		if (raw->regions[i].module >= raw->module_count || raw->regions[i].sharing > OMP_SECTIONS ||
		    raw->regions[i].size_class > OMP_CLASSES || raw->regions[i].measure >= OMP_MEASURES ||
		    (raw->regions[i].size_class && raw->regions[i].above >= raw->regions[i].upto) ||
		    !ends(raw->regions[i].place, OMP_PLACE))
			return false;
	if (is_doubled(raw))
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
	char *text = sys_is_plain_file(path) ? sys_read_file(path, SIZE_MOST, &size, &err) : NULL;
	if (text && size < sizeof(struct omp_record)) { /* the library needed less of it */
		text = mem_grow(text, sizeof(struct omp_record), 1);
		memset(text + size, 0, sizeof(struct omp_record) - size);
		size = sizeof(struct omp_record);
	}
	struct omp_record *raw = (struct omp_record *)text;
	if (raw && regions_raw_sound(raw, size))
		return raw;
	free(raw);
	return NULL;
}

static size_t calls_kept(const struct omp_record *raw) {
	return raw->call_count < raw->call_room ? raw->call_count : raw->call_room;
}

/* Records of runs that count, if there are any; then by time. */
static bool is_more(const struct omp_record *a, const struct omp_record *b) {
	bool counted_a = a->event_count > 0, counted_b = b->event_count > 0;
	return counted_a != counted_b ? counted_a : time_in(a) > time_in(b);
}

/* A run that counts is preceded by one that does not, which must not be added to it. */
static size_t of_one_run(struct omp_record **raws, size_t count) {
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if ((raws[i]->event_count > 0) == (raws[0]->event_count > 0))
			raws[kept++] = raws[i];
		else
			free(raws[i]);
	return kept;
}

/* The record of most time first, and at most PEERS_MAX others. */
static struct omp_record **folder_read(const char *folder, size_t *count, size_t *processes) {
	struct omp_record **raws = mem_alloc(PEERS_MAX + 2, sizeof(struct omp_record *));
	DIR *dir = opendir(folder);
	*processes = *count = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir)) && *processes < PROCESSES_MAX;) {
		if (entry->d_name[0] == '.')
			continue;
		mem_auto char *path = mem_printf("%s/%s", folder, entry->d_name);
		struct omp_record *raw = file_read(path);
		if (!raw || raw->region_count == 0) {
			free(raw);
			continue;
		}
		++*processes;
		size_t at = *count;
		while (at > 0 && is_more(raw, raws[at - 1])) {
			raws[at] = raws[at - 1];
			at--;
		}
		raws[at] = raw;
		if (++*count > PEERS_MAX + 1)
			free(raws[--*count]);
	}
	if (dir)
		closedir(dir);
	size_t all = *count;
	*count = all ? of_one_run(raws, all) : 0;
	*processes -= all - *count;
	return raws;
}

static uint32_t module_add(struct regions_record *record, const struct omp_module *module) {
	for (uint32_t i = 0; i < record->module_count; i++)
		if (strcmp(record->modules[i].path, module->path) == 0)
			return i;
	record->modules = mem_grow(record->modules, record->module_count + 1, sizeof *record->modules);
	record->modules[record->module_count] = (struct regions_module){module->path, module->build_id};
	return (uint32_t)record->module_count++;
}

size_t regions_record_find(const struct regions_record *record, const char *module, uint64_t offset,
                           uint32_t size_class) {
	for (size_t i = 0; i < record->count; i++)
		if (record->regions[i].offset == offset && record->regions[i].facts.size_class == size_class &&
		    strcmp(record->regions[i].module, module) == 0)
			return i;
	return SIZE_MAX;
}

static size_t region_add(struct regions_record *record, const struct omp_record *raw, uint32_t number) {
	const struct omp_region *facts = &raw->regions[number];
	uint32_t module = module_add(record, &raw->modules[facts->module]);
	size_t at = regions_record_find(record, record->modules[module].path, facts->offset, facts->size_class);
	if (at != SIZE_MAX) {
		if (facts->ns > record->regions[at].facts.ns)
			record->regions[at].facts = *facts;
		return at;
	}
	record->regions = mem_grow(record->regions, record->count + 1, sizeof *record->regions);
	record->regions[record->count] = (struct regions_region){.module = record->modules[module].path,
	                                                         .build_id = record->modules[module].build_id,
	                                                         .module_number = module,
	                                                         .offset = facts->offset,
	                                                         .facts = *facts};
	return record->count++;
}

struct regions_record *regions_raws_merge(struct omp_record *const *raws, size_t count, size_t processes) {
	struct regions_record *record = mem_alloc(1, sizeof *record);
	*record = (struct regions_record){.raw = raws[0],
	                                  .call_count = calls_kept(raws[0]),
	                                  .peers = mem_alloc(count, sizeof(struct regions_peer)),
	                                  .peer_count = count - 1,
	                                  .processes = processes};
	for (uint32_t i = 0; i < raws[0]->region_count; i++)
		region_add(record, raws[0], i);
	for (size_t k = 1; k < count; k++) {
		struct regions_peer *peer = &record->peers[k - 1];
		*peer = (struct regions_peer){.raw = raws[k],
		                              .region = mem_alloc(raws[k]->region_count, sizeof(size_t)),
		                              .call_count = calls_kept(raws[k])};
		for (uint32_t i = 0; i < raws[k]->region_count; i++)
			peer->region[i] = region_add(record, raws[k], i);
	}
	return record;
}

/* The library does without a file for which there is no room. */
static bool had_room(const char *folder) {
	struct statvfs disk;
	struct rlimit limit;
	return (statvfs(folder, &disk) != 0 || (double)disk.f_bavail * (double)disk.f_frsize >= RECORD_LEAST) &&
	       (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= RECORD_LEAST);
}

struct regions_record *regions_record_read(const char *folder, struct err *err) {
	size_t count, processes;
	mem_auto struct omp_record **raws = folder_read(folder, &count, &processes);
	struct regions_record *record = count ? regions_raws_merge(raws, count, processes) : NULL;
	if (record)
		regions_names_find(record->regions, record->count);
	else if (!had_room(folder))
		err_set(err, ERR_NOTHING, scratch_hint(ENOSPC), "there is no space in %s to record the program's regions",
		        folder);
	else
		err_set(err, ERR_NOTHING,
		        "give it an input that needs parallel work; regions in parts that are linked statically cannot be seen",
		        "the program entered no parallel region of OpenMP that could be seen");
	return record;
}

bool regions_record_asks(const struct regions_record *record) {
	bool any = record->raw->asks;
	for (size_t i = 0; i < record->peer_count; i++)
		any = any || record->peers[i].raw->asks;
	return any;
}

bool regions_record_is_crowded(const struct regions_record *record) {
	const struct omp_record *raw = record->raw;
	double crowded = 0, all = 0;
	if (raw->cpus == 0)
		return false;
	if (raw->default_threads > raw->cpus || raw->inner_threads > raw->cpus)
		return true;
	for (uint32_t i = 0; i < raw->region_count; i++) {
		const struct omp_region *region = &raw->regions[i];
		all += (double)region->ns;
		if ((double)region->threads_sum > (double)raw->cpus * (double)region->calls)
			crowded += (double)region->ns;
	}
	return crowded > CROWDED_LEAST * all;
}

double regions_record_waiting(const struct regions_record *record) {
	double ran = (double)record->raw->ran_ns, waited = (double)record->raw->waited_ns;
	if (record->raw->cpus == 0 || regions_record_is_crowded(record))
		return NAN;
	for (size_t i = 0; i < record->peer_count; i++) {
		ran += (double)record->peers[i].raw->ran_ns;
		waited += (double)record->peers[i].raw->waited_ns;
	}
	return ran > 0 ? waited / (ran + waited) : NAN;
}

void regions_record_free(struct regions_record *record) {
	if (!record)
		return;
	for (size_t i = 0; i < record->peer_count; i++) {
		free((void *)record->peers[i].raw);
		free(record->peers[i].region);
	}
	free(record->peers);
	free(record->modules);
	free(record->regions);
	free((void *)record->raw);
	free(record);
}
