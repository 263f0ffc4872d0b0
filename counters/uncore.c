/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts outside the cores: memory controllers, AMD's data fabric, Arm's mesh. Linux has a PMU for each of them, which
 * counts for its package, whatever runs there. Events are "PMU/rHEX/", and several with commas between them are added
 * up; PMU stands for all that have this name and a number. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "counters/perf/perf.h"

#ifndef DEVICES
#define DEVICES "/sys/bus/event_source/devices"
#endif
#define FORBIDDEN                                                                                                      \
	"counts for all programs, which perf_event_paranoid above 0 forbids; sudo sysctl kernel.perf_event_paranoid=0"

enum { FILES_MAX = 1024 };

/* One event of one PMU on one package. */
struct file {
	size_t of; /* the requested event */
	int fd, package;
	struct perf_sample begin, end;
};

struct uncore {
	const char *const *names;
	size_t count, file_count;
	struct file *files;
	char reason[COUNTER_REASON]; /* why something is missing */
	size_t at;                   /* the event that is being opened */
};

/* Is it "uncore_imc_3", or "uncore_imc" itself? */
static bool is_one_of(const char *device, const char *pmu) {
	size_t length = strlen(pmu);
	return strncmp(device, pmu, length) == 0 && (!device[length] || fnmatch("_[0-9]*", device + length, 0) == 0);
}

static int package_of(unsigned long cpu) {
	char path[120], line[32];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%lu/topology/physical_package_id", cpu);
	return sys_read_line(path, line, sizeof line) ? (int)strtol(line, NULL, 10) : 0;
}

static bool file_add(void *ctx, int fd, unsigned long cpu) {
	struct uncore *s = ctx;
	if (fd >= 0 && s->file_count < FILES_MAX) {
		s->files[s->file_count++] = (struct file){.of = s->at, .fd = fd, .package = package_of(cpu)};
		return true;
	}
	if (fd == -EACCES || fd == -EPERM)
		snprintf(s->reason, sizeof s->reason, "%s", FORBIDDEN);
	else
		snprintf(s->reason, sizeof s->reason, "%s", fd < 0 ? strerror(-fd) : "too many counters");
	if (fd >= 0)
		close(fd);
	return false;
}

static void device_open(struct uncore *s, const char *device, uint64_t config) {
	char path[400], type[32], mask[1024];
	snprintf(path, sizeof path, DEVICES "/%.200s/type", device);
	bool good = sys_read_line(path, type, sizeof type);
	snprintf(path, sizeof path, DEVICES "/%.200s/cpumask", device);
	if (good && sys_read_line(path, mask, sizeof mask))
		perf_packages_open((__u32)strtoul(type, NULL, 10), config, true, mask, file_add, s);
}

static void absent(struct uncore *s, const char *pmu) {
	const char *driver = strncmp(pmu, "amd_", 4) == 0   ? "amd_uncore"
	                     : strncmp(pmu, "arm_", 4) == 0 ? "arm-cmn"
	                     : strncmp(pmu, "nvi", 3) == 0  ? "nvidia_cspmu"
	                                                    : "intel_uncore";
	if (!s->reason[0])
		snprintf(s->reason, sizeof s->reason,
		         "this kernel lacks the PMU %.40s, as in virtual machines; elsewhere: sudo modprobe %s", pmu, driver);
}

static bool term_open(struct uncore *s, const struct perf_name *name) {
	size_t before = s->file_count;
	DIR *dir = opendir(DEVICES);
	for (const struct dirent *entry; dir && (entry = readdir(dir));)
		if (is_one_of(entry->d_name, name->pmu))
			device_open(s, entry->d_name, name->config);
	if (dir)
		closedir(dir);
	if (s->file_count == before)
		absent(s, name->pmu);
	return s->file_count > before;
}

/* All of its terms, or it counts nothing. */
static bool event_open(struct uncore *s, size_t i) {
	const char *text = s->names[i];
	struct perf_name name;
	s->at = i;
	while (*text)
		if (!perf_name_next(&text, &name) || !name.pmu[0] || !term_open(s, &name))
			return false;
	return true;
}

static int uncore_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct uncore *s = state;
	(void)site;
	s->names = names;
	s->count = count;
	s->files = mem_alloc(FILES_MAX, sizeof *s->files);
	for (size_t i = 0; i < count; i++) {
		size_t before = s->file_count;
		bool good = event_open(s, i);
		while (!good && s->file_count > before)
			close(s->files[--s->file_count].fd);
	}
	return s->file_count > 0 ? 0 : -1;
}

static int each_read(struct uncore *s, bool end) {
	for (size_t i = 0; i < s->file_count; i++) {
		struct perf_sample *value = end ? &s->files[i].end : &s->files[i].begin;
		if (read(s->files[i].fd, value, sizeof *value) != (ssize_t)sizeof *value)
			return -1;
	}
	return 0;
}

static int uncore_start(void *state) {
	return each_read(state, false);
}

static int uncore_stop(void *state) {
	return each_read(state, true);
}

/* The sums of one event. */
struct sums {
	double all, first; /* of all packages; of the first */
	double part;       /* of the time in which each had a counter; 0: one never had */
	bool any, several;
};

/* A PMU that has fewer counters than events shares them, and its counts are scaled to the whole time. */
static struct sums sums_of(const struct uncore *s, size_t event) {
	struct sums sums = {.part = 1};
	for (size_t i = 0; i < s->file_count; i++) {
		const struct file *file = &s->files[i];
		if (file->of != event)
			continue;
		double running = (double)(file->end.running - file->begin.running),
			   part = running / fmax((double)(file->end.enabled - file->begin.enabled), 1),
			   value = running > 0 ? (double)(file->end.value - file->begin.value) / part : 0;
		sums.part = fmin(sums.part, part);
		sums.all += value;
		sums.first += file->package == 0 ? value : 0;
		sums.several = sums.several || file->package != 0;
		sums.any = true;
	}
	return sums;
}

static int uncore_read(void *state, struct counter_value *values) {
	const struct uncore *s = state;
	for (size_t i = 0; i < s->count; i++) {
		const struct sums sums = sums_of(s, i);
		if (!sums.any || sums.part <= 0) {
			counter_value_miss(&values[i], s->names[i], "count", "%s",
			                   sums.any ? "the kernel never gave it a counter" : s->reason);
			continue;
		}
		char scaled[60] = "", socket[60] = "";
		counter_value_set(&values[i], s->names[i], "count", sums.all);
		if (sums.part < 1)
			snprintf(scaled, sizeof scaled, "scaled: counted for %.3g %% of the time; ", 100 * sums.part);
		if (sums.several && sums.all > 0)
			snprintf(socket, sizeof socket, "; %.0f %% in socket 0", 100 * sums.first / sums.all);
		values[i].status = sums.part < 1 ? COUNTER_SCALED : COUNTER_COUNTED;
		snprintf(values[i].reason, COUNTER_REASON, "%sfor all programs on the machine%s", scaled, socket);
	}
	return 0;
}

static void uncore_close(void *state) {
	struct uncore *s = state;
	while (s->file_count > 0)
		close(s->files[--s->file_count].fd);
	free(s->files);
	s->files = NULL;
}

static bool uncore_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	struct uncore s = {.count = 0};
	struct perf_name name;
	bool named = perf_name_find(event, &name) && name.pmu[0], can = named && uncore_open(&s, site, &event, 1) == 0;
	snprintf(reason, COUNTER_REASON, "%s",
	         can     ? ""
	         : named ? s.reason
	                 : "uncore wants an event such as amd_umc/r000a/");
	if (named)
		uncore_close(&s);
	return can;
}

/* The first PMU that exists decides. */
static void uncore_probe(struct counter_probe *probe) {
	static const char *const pmus[] = {"uncore_imc/r0/",  "uncore_imc_free_running_0/r20ff/",
	                                   "amd_umc/r0/",     "amd_df/r3807/",
	                                   "arm_cmn/rd0005/", "nvidia_scf_pmu/r01a5/"};
	*probe = (struct counter_probe){.usable = false};
	for (size_t i = 0; i < sizeof pmus / sizeof *pmus && !probe->usable && !strstr(probe->reason, "paranoid"); i++)
		probe->usable = probe->hardware = uncore_can(pmus[i], NULL, probe->reason);
	if (probe->usable)
		snprintf(probe->reason, sizeof probe->reason, "memory controllers, for all programs on the machine");
	else if (!strstr(probe->reason, "paranoid"))
		snprintf(probe->reason, sizeof probe->reason,
		         "this kernel lacks PMUs of memory controllers, as in virtual machines");
	else
		snprintf(probe->fix, sizeof probe->fix, "sudo sysctl kernel.perf_event_paranoid=0");
}

static const char *const events[] = {NULL};

const struct counter_backend counter_uncore = {
	.name = "uncore",
	.summary = "what memory controllers, fabric and mesh move, of the whole machine",
	.scope = COUNTER_MACHINE,
	.trees = true,
	.state_size = sizeof(struct uncore),
	.events = events,
	.probe = uncore_probe,
	.can = uncore_can,
	.open = uncore_open,
	.start = uncore_start,
	.stop = uncore_stop,
	.read = uncore_read,
	.close = uncore_close,
};
