/* SPDX-License-Identifier: BSD-3-Clause */
/* Packages, cores and caches according to Documentation/admin-guide/cputopology.rst and
 * Documentation/ABI/testing/sysfs-devices-system-cpu of the kernel, restricted to the control group as hwloc does. */
#include <config.h>

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/profile/machine_impl.h"

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
