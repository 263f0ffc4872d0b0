/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/perf/pmus.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/sys.h"

/* The PMU is "cpu" if all cores are of one kind; with several kinds, and on ARM, each PMU has a file `cpus` (Linux,
 * tools/perf/Documentation/intel-hybrid.txt). PMUs outside cores have `cpumask` instead. */
static bool pmu_read(const char *folder, const char *name, struct perf_pmu *pmu) {
	char path[512], line[32], *end;
	snprintf(path, sizeof path, "%s/%s/cpus", folder, name);
	if (name[0] == '.' || strlen(name) >= sizeof pmu->name || (strcmp(name, "cpu") != 0 && access(path, F_OK) != 0))
		return false;
	snprintf(path, sizeof path, "%s/%s/type", folder, name);
	if (!sys_read_line(path, line, sizeof line))
		return false;
	unsigned long type = strtoul(line, &end, 10);
	snprintf(pmu->name, sizeof pmu->name, "%s", name);
	pmu->type = (__u32)type;
	return end > line && type <= UINT32_MAX;
}

static int pmu_compare(const void *a, const void *b) {
	const struct perf_pmu *x = a, *y = b;
	bool raw_x = x->type == PERF_TYPE_RAW, raw_y = y->type == PERF_TYPE_RAW;
	return raw_x != raw_y ? raw_y - raw_x : (x->type > y->type) - (x->type < y->type);
}

void perf_pmus_find_in(const char *folder, struct perf_pmus *pmus) {
	DIR *dir = opendir(folder);
	pmus->count = 0;
	for (const struct dirent *entry; dir && pmus->count < PERF_PMUS_MAX && (entry = readdir(dir));)
		pmus->count += pmu_read(folder, entry->d_name, &pmus->at[pmus->count]);
	if (dir)
		closedir(dir);
	qsort(pmus->at, pmus->count, sizeof *pmus->at, pmu_compare);
}

/* This machine's, found once, because every event that is tried needs them. */
struct found {
	pthread_once_t once;
	struct perf_pmus pmus;
};

static struct found *found(void) {
	static struct found only = {.once = PTHREAD_ONCE_INIT};
	return &only;
}

static void found_read(void) {
	perf_pmus_find_in("/sys/bus/event_source/devices", &found()->pmus);
}

void perf_pmus_find(struct perf_pmus *pmus) {
	pthread_once(&found()->once, found_read);
	*pmus = found()->pmus;
}

/* With several PMUs the upper half of the number selects one: since Linux 5.13, on ARM since 6.6 (intel-hybrid.txt,
 * "PMU aware type"). Raw numbers belong to the first PMU. */
void perf_pmus_address(const struct perf_pmus *pmus, size_t pmu, const struct perf_name *event, __u32 *type,
                       __u64 *config) {
	bool several = pmus->count > 1, generic = event->type == PERF_TYPE_HARDWARE || event->type == PERF_TYPE_HW_CACHE;
	*type = several && event->type == PERF_TYPE_RAW ? pmus->at[0].type : event->type;
	*config = event->config | (several && generic ? (__u64)pmus->at[pmu].type << 32 : 0);
}
