/* SPDX-License-Identifier: BSD-3-Clause */
/* Packages, cores and caches according to Documentation/admin-guide/cputopology.rst and
 * Documentation/ABI/testing/sysfs-devices-system-cpu of the kernel, restricted to the control group as hwloc does. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/profile/profile_impl.h"

static const struct {
	const char *name;
	size_t at;
} amounts[] = {
	{"hardware threads", offsetof(struct ssp_machine, threads)},
	{"cores", offsetof(struct ssp_machine, cores)},
	{"packages", offsetof(struct ssp_machine, packages)},
	{"NUMA nodes", offsetof(struct ssp_machine, numa_nodes)},
	{"bytes of L1 data cache", offsetof(struct ssp_machine, l1d)},
	{"bytes of L2 cache", offsetof(struct ssp_machine, l2)},
	{"bytes of L3 cache", offsetof(struct ssp_machine, l3)},
};

/* Processor names differ in their blanks; the profile's has ? for characters that are not ASCII. */
static bool same_words(const char *a, const char *b) {
	for (;;) {
		a += strspn(a, " \t");
		b += strspn(b, " \t");
		while (*a && *a != ' ' && *a != '\t') {
			unsigned char seen = (unsigned char)*b;
			if (*a != *b && !(*a == '?' && (seen < ' ' || seen >= 127) && seen))
				return false;
			a++;
			b++;
		}
		if (*b && *b != ' ' && *b != '\t')
			return false;
		if (!*a && !b[strspn(b, " \t")])
			return true;
	}
}

static bool has_line(const char *lines, const char *line) {
	char one[256];
	while (lines && *lines) {
		size_t length = strcspn(lines, "\n");
		snprintf(one, sizeof one, "%.*s", length < sizeof one ? (int)length : 0, lines);
		if (same_words(line, one))
			return true;
		lines += length + (lines[length] == '\n');
	}
	return false;
}

static const char *reason(struct ssp_arena *arena, const char *text) {
	const char *copy = ssp_arena_text(arena, text);
	return copy ? copy : "out of memory";
}

static uint64_t amount(const struct ssp_machine *machine, size_t i) {
	return *(const uint64_t *)((const char *)machine + amounts[i].at);
}

static const char *amounts_differ(const struct ssp_machine *there, const struct ssp_machine *here,
                                  struct ssp_arena *arena, bool *agrees) {
	char text[160];
	for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
		uint64_t a = amount(there, i), b = amount(here, i);
		if (!a || !b)
			continue;
		snprintf(text, sizeof text, "%" PRIu64 " %s there, %" PRIu64 " here", a, amounts[i].name, b);
		if (a != b)
			return reason(arena, text);
		*agrees = true;
	}
	return NULL;
}

const char *ssp_machine_differs(const struct ssp_machine *there, const struct ssp_machine *here,
                                struct ssp_arena *arena) {
	char text[400];
	bool agrees = false;
	if (there->synthetic)
		return "it describes a machine that was not measured";
	if (there->cpu && here->cpu && !same_words(there->cpu, here->cpu)) {
		snprintf(text, sizeof text, "the profile's processor is %.128s, this one %.128s", there->cpu, here->cpu);
		return reason(arena, text);
	}
	if (there->gpu && !has_line(here->gpu, there->gpu)) {
		snprintf(text, sizeof text, "the profile's GPU is %.128s, which this machine lacks",
		         *there->gpu ? there->gpu : "unknown");
		return reason(arena, text);
	}
	const char *differs = amounts_differ(there, here, arena, &agrees);
	return differs || agrees ? differs : "it does not describe its machine, so nothing can be compared";
}

bool ssp_line_read(const char *root, char *line, size_t size, const char *format, ...) {
	char path[PATH_MAX];
	int used = snprintf(path, sizeof path, "%s", root);
	va_list ap;
	if (used < 0 || (size_t)used >= sizeof path)
		return false;
	va_start(ap, format);
	int more = vsnprintf(path + used, sizeof path - (size_t)used, format, ap);
	va_end(ap);
	FILE *in = more >= 0 && (size_t)more < sizeof path - (size_t)used ? fopen(path, "re") : NULL;
	bool read = in && fgets(line, (int)size, in);
	if (in)
		fclose(in);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

/* One "A" or "A-B"; *end: the rest. */
static const char *range_parse(const char *text, size_t *from, size_t *to) {
	char *end;
	if (!isdigit((unsigned char)*text))
		return NULL;
	*from = *to = strtoul(text, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*to = strtoul(end + 1, &end, 10);
	if (*end && *end != ',')
		return NULL;
	return *from <= *to ? end + (*end == ',') : NULL;
}

bool ssp_set_parse(const char *text, struct ssp_set *set) {
	size_t from, to;
	memset(set, 0, sizeof *set);
	while (*text) {
		text = range_parse(text, &from, &to);
		if (!text)
			return false;
		for (size_t i = from; i <= to && i < SSP_CPUS_MAX; i++) {
			set->count += !set->has[i];
			set->has[i] = true;
		}
	}
	return set->count > 0;
}

/* the lowest number in both */
static bool ssp_set_meets(const char *text, const struct ssp_set *set, size_t *lowest) {
	size_t from, to;
	*lowest = SSP_CPUS_MAX;
	while (*text) {
		text = range_parse(text, &from, &to);
		if (!text)
			return false;
		for (size_t i = from; i <= to && i < *lowest; i++)
			if (set->has[i])
				*lowest = i;
	}
	return *lowest < SSP_CPUS_MAX;
}

/* The group's path in a hierarchy ("0::" or ":cpuset:") of /proc/self/cgroup. */
static bool group_path(const char *root, const char *hierarchy, char *path, size_t size) {
	char name[PATH_MAX], line[PATH_MAX];
	bool found = false;
	FILE *in = snprintf(name, sizeof name, "%s/proc/self/cgroup", root) < (int)sizeof name ? fopen(name, "re") : NULL;
	while (in && !found && fgets(line, sizeof line, in)) {
		const char *at = strstr(line, hierarchy);
		line[strcspn(line, "\n")] = '\0';
		found = at && (*hierarchy == ':' || at == line) && at[strlen(hierarchy)] == '/' && !strstr(line, "/..") &&
		        snprintf(path, size, "%s", at + strlen(hierarchy)) < (int)size;
	}
	if (in)
		fclose(in);
	return found;
}

/* The file of the group itself, or of its nearest ancestor that has it. */
static bool group_walk(const char *root, const char *mount, char *group, const char *file, char *line, size_t size) {
	for (;;) {
		char *slash = strrchr(group, '/');
		if (ssp_line_read(root, line, size, "%s%s/%s", mount, group, file) && *line)
			return true;
		if (!slash)
			return false;
		*slash = '\0';
	}
}

/* The part of "cpus" or "mems" that the control group allows; false: it sets no limit. */
/* Control groups, version 2 and 1 (cgroups(7), "/proc/[pid]/cgroup"; cpuset(7)). */
static bool ssp_group_read(const char *root, const char *what, char *line, size_t size) {
	char group[PATH_MAX], file[64];
	snprintf(file, sizeof file, "cpuset.%s.effective", what);
	if (group_path(root, "0::", group, sizeof group) && group_walk(root, "/sys/fs/cgroup", group, file, line, size))
		return true;
	snprintf(file, sizeof file, "cpuset.%s", what);
	return group_path(root, ":cpuset:", group, sizeof group) &&
	       group_walk(root, "/sys/fs/cgroup/cpuset", group, file, line, size);
}

enum { LINE = 32 << 10, GPUS_MAX = 64 };
#define CPUS "/sys/devices/system/cpu"

/* The value of "key : value" in a file, in the arena. */
static char *field_read(const char *root, const char *path, const char *key, struct ssp_arena *arena) {
	char name[PATH_MAX], line[1024], *found = NULL;
	if (snprintf(name, sizeof name, "%s%s", root, path) >= (int)sizeof name)
		return NULL;
	FILE *in = fopen(name, "re");
	while (in && !found && fgets(line, sizeof line, in)) {
		char *colon = strchr(line, ':');
		size_t length = strlen(key);
		if (!colon || strncmp(line, key, length) != 0 || line + length + strspn(line + length, " \t") != colon)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		colon[strcspn(colon, "\n")] = '\0';
		found = ssp_arena_text(arena, colon);
	}
	if (in)
		fclose(in);
	return found;
}

static void allowed_cut(const char *root, const char *what, struct ssp_set *set, char *line) {
	static const struct ssp_set none;
	struct ssp_set allowed = none;
	if (!ssp_group_read(root, what, line, LINE) || !ssp_set_parse(line, &allowed))
		return;
	for (size_t i = 0; i < SSP_CPUS_MAX; i++) {
		set->count -= set->has[i] && !allowed.has[i];
		set->has[i] = set->has[i] && allowed.has[i];
	}
}

/* Counts the CPUs that are the lowest among those that share an object with them. */
static uint64_t groups_count(const char *root, const char *list, const struct ssp_set *cpus, char *line) {
	uint64_t count = 0;
	size_t lowest;
	for (size_t cpu = 0; cpu < SSP_CPUS_MAX; cpu++) {
		if (!cpus->has[cpu])
			continue;
		if (!ssp_line_read(root, line, LINE, CPUS "/cpu%zu/topology/%s", cpu, list) ||
		    !ssp_set_meets(line, cpus, &lowest))
			return 0;
		count += lowest == cpu;
	}
	return count;
}

static uint64_t size_parse(const char *text) {
	char *end;
	uint64_t size = strtoull(text, &end, 10), unit = *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : 1;
	return size <= UINT64_MAX / unit ? size * unit : 0;
}

/* The first CPU's model, as in the fingerprint. */
static void caches_read(const char *root, size_t cpu, struct ssp_machine *machine, char *line) {
	for (int i = 0; i < 16; i++) {
		if (!ssp_line_read(root, line, LINE, CPUS "/cpu%zu/cache/index%d/level", cpu, i))
			return;
		uint64_t *size = *line == '1'   ? &machine->l1d
		                 : *line == '2' ? &machine->l2
		                 : *line == '3' ? &machine->l3
		                                : NULL;
		if (!ssp_line_read(root, line, LINE, CPUS "/cpu%zu/cache/index%d/type", cpu, i) || *line == 'I')
			continue;
		if (size && ssp_line_read(root, line, LINE, CPUS "/cpu%zu/cache/index%d/size", cpu, i))
			*size = size_parse(line);
	}
}

static size_t first_of(const struct ssp_set *set) {
	size_t i = 0;
	while (i < SSP_CPUS_MAX && !set->has[i])
		i++;
	return i;
}

static void cpus_read(const char *root, struct ssp_machine *machine, struct ssp_set *set, char *line) {
	if (!ssp_line_read(root, line, LINE, CPUS "/online") || !ssp_set_parse(line, set))
		return;
	allowed_cut(root, "cpus", set, line);
	machine->threads = set->count;
	machine->cores = groups_count(root, "thread_siblings_list", set, line);
	machine->packages = groups_count(root, "core_siblings_list", set, line);
	caches_read(root, first_of(set), machine, line);
	/* nodes of HBM, CXL or a GPU's memory have no processors */
	if ((!ssp_line_read(root, line, LINE, "/sys/devices/system/node/has_cpu") &&
	     !ssp_line_read(root, line, LINE, "/sys/devices/system/node/online")) ||
	    !ssp_set_parse(line, set))
		return;
	allowed_cut(root, "mems", set, line);
	machine->numa_nodes = set->count;
}

/* /proc/driver/nvidia/gpus/<PCI address>/information, "Model: ..", one line each. */
static const char *gpus_read(const char *root, struct ssp_arena *arena) {
	char path[PATH_MAX], models[4096] = "";
	size_t used = 0;
	struct dirent *one;
	DIR *folder =
		snprintf(path, sizeof path, "%s/proc/driver/nvidia/gpus", root) < (int)sizeof path ? opendir(path) : NULL;
	for (int i = 0; folder && i < GPUS_MAX && (one = readdir(folder));) {
		if (one->d_name[0] == '.')
			continue;
		i++;
		if (snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%s/information", one->d_name) >= (int)sizeof path)
			continue;
		const char *model = field_read(root, path, "Model", arena);
		if (model && used + strlen(model) + 2 < sizeof models)
			used += (size_t)snprintf(models + used, sizeof models - used, "%s\n", model);
	}
	if (folder)
		closedir(folder);
	return used ? ssp_arena_text(arena, models) : NULL;
}

void ssp_machine_read(const char *root, struct ssp_arena *arena, struct ssp_machine *machine) {
	char *line = ssp_arena_alloc(arena, LINE, 1);
	struct ssp_set *set = ssp_arena_alloc(arena, 1, sizeof *set);
	*machine = (struct ssp_machine){.cpu = NULL};
	if (!line || !set)
		return;
	machine->cpu = field_read(root, "/proc/cpuinfo", "model name", arena);
	machine->gpu = gpus_read(root, arena);
	cpus_read(root, machine, set, line);
}
