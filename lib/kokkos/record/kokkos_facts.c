/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts that a run which was not asked leaves for the next ones in the file $SWEETSPOT_KOKKOS_FACTS: Kokkos tells its
 * version, and whether there are tiles to choose, only after it has looked for the function by which it would ask.
 * Lines:
 *
 *     sweetspot-kokkos 1
 *     exe 1a2b3c              of the files of the program and its Kokkos: what was built again is looked at again
 *     version 4.6.1
 *     tile                    there are tiles to choose
 */
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/kokkos/record/kokkos_record.h"

/* Up to this version, the count of a default tile is multiplied by that of the chosen one instead of replaced. */
enum { BROKEN_MAJOR = 4, BROKEN_MINOR = 6, VERSION_MOST = 64 };
static const char HEAD[] = "sweetspot-kokkos 1\n";

static struct {
	char version[VERSION_MOST];
	bool has_tiles, written;
} facts;

static const char *path_of(void) {
	const char *set = getenv("SWEETSPOT_KOKKOS_FACTS");
	return set && *set == '/' ? set : NULL;
}

static bool is_broken(const char *version) {
	int major, minor;
	return sscanf(version, "%d.%d", &major, &minor) != 2 || major < BROKEN_MAJOR ||
	       (major == BROKEN_MAJOR && minor <= BROKEN_MINOR);
}

void kokkos_facts_version(const char *version) {
	snprintf(facts.version, sizeof facts.version, "%.*s", (int)strcspn(version, "\n"), version);
}

void kokkos_facts_tile(void) {
	facts.has_tiles = true;
}

bool kokkos_facts_broken(void) {
	return is_broken(facts.version);
}

static uint64_t mix(uint64_t sum, const char *path) {
	struct stat file = {0};
	if (stat(path, &file) == 0)
		sum = (sum ^ (uint64_t)file.st_size ^ (uint64_t)file.st_mtime << 20) * 1099511628211u;
	return sum;
}

static int object_look(struct dl_phdr_info *info, size_t size, void *ctx) {
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	uint64_t *sum = ctx;
	(void)size;
	if (base && strstr(base, "kokkos") && !strstr(base, "libsweetspot"))
		*sum = mix(*sum, info->dlpi_name);
	return 0;
}

static void exe_line(char *line, size_t size) {
	uint64_t sum = mix(14695981039346656037u, "/proc/self/exe");
	dl_iterate_phdr(object_look, &sum);
	snprintf(line, size, "exe %016llx\n", (unsigned long long)sum);
}

bool kokkos_facts_allow(bool can_withdraw) {
	char line[256], exe[64], version[VERSION_MOST] = "";
	bool same = false, tiles = false;
	const char *path = path_of();
	FILE *file = path ? fopen(path, "re") : NULL;
	if (!path)
		return true;
	exe_line(exe, sizeof exe);
	bool known = file && fgets(line, sizeof line, file) && strcmp(line, HEAD) == 0;
	while (known && fgets(line, sizeof line, file)) {
		same = same || strcmp(line, exe) == 0;
		tiles = tiles || strcmp(line, "tile\n") == 0;
		if (strncmp(line, "version ", 8) == 0)
			snprintf(version, sizeof version, "%.60s", line + 8);
	}
	if (file)
		fclose(file);
	return known && same && (can_withdraw || !tiles || !is_broken(version));
}

/* Ranks may write it at the same time, and each writes the same. */
void kokkos_facts_write(void) {
	char exe[64], new[4096];
	const char *path = path_of();
	if (!path || facts.written || !*facts.version ||
	    snprintf(new, sizeof new, "%s.%ld", path, (long)getpid()) >= (int)sizeof new)
		return;
	facts.written = true;
	int fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!file)
		return;
	exe_line(exe, sizeof exe);
	fprintf(file, "%s%sversion %s\n%s", HEAD, exe, facts.version, facts.has_tiles ? "tile\n" : "");
	if (fclose(file) != 0 || rename(new, path) != 0)
		unlink(new);
}
