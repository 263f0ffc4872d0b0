/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/counters/folder.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "base/tree.h"

const char *const folder_right[][2] = {
	{"events/generic.json",
     "{\"schema\": \"sweetspot-events/1\", \"source\": \"none\", \"events\": [\n"
     "{\"name\": \"a\", \"unit\": \"count\", \"summary\": \"s\", \"loop\": \"cycles\", \"never_zero\": true, "
     "\"sources\": [\"papi:A\", \"perf:a\"], \"guesses\": [\"papi:G\"]},\n"
     "{\"name\": \"b\", \"unit\": \"s\", \"summary\": \"s\", \"sources\": [], \"formula\": \"a + 1e3 * c\"},\n"
     "{\"name\": \"c\", \"unit\": \"J\", \"summary\": \"s\", \"sources\": [\"rapl:c\"], \"simulator\": "
     "\"cachegrind\"}]}"},
	{"events/cpu.json",
     "{\"schema\": \"sweetspot-cpu-events/1\", \"name\": \"x\", \"summary\": \"s\", \"source\": \"d\", "
     "\"names\": [\"y\"], \"line\": 128, \"cpus\": [\"Xx-1-?\", \"Xx-2-*\"], \"events\": [{\"event\": \"a\", "
     "\"code\": \"0xC2\", \"umask\": \"0x01\", \"perf\": \"r01c2\", \"vendor\": \"V\"},\n"
     "{\"event\": \"a\", \"code\": \"0xC3\", \"umask\": null, \"perf\": \"rc3\", \"vendor\": \"W\", \"pmu\": "
     "\"p_1\"},\n"
     "{\"event\": \"c\", \"code\": \"0x4\", \"umask\": null, \"perf\": \"r4\", \"vendor\": \"U\", \"pmu\": \"u\", "
     "\"scope\": \"uncore\"}]}"},
	{"groups/g.json",
     "{\"schema\": \"sweetspot-group/1\", \"name\": \"G\", \"summary\": \"s\", \"aliases\": [\"H\"], \"events\": "
     "[\"a\", \"b\", "
     "{\"name\": \"own\", \"unit\": \"count\", \"summary\": \"s\", \"sources\": [\"perf:r1\"]}], "
     "\"metrics\": [{\"name\": \"m\", \"unit\": \"u\", \"formula\": \"a / b / seconds\", \"summary\": \"\"}]}"},
};

void folder_put_right(const char *folder) {
	for (int i = 0; i < FOLDER_RIGHT; i++)
		folder_put(folder, folder_right[i][0], folder_right[i][1], strlen(folder_right[i][1]));
}

char *folder_new(void) {
	static const char shared[] = "/dev/shm";
	char name[64];
	snprintf(name, sizeof name, "%s/sweetspot-tables-XXXXXX", access(shared, W_OK) == 0 ? shared : "/tmp");
	if (!mkdtemp(name))
		return NULL;
	char *events = mem_printf("%s/events", name), *groups = mem_printf("%s/groups", name);
	sys_make_dirs(events, NULL);
	sys_make_dirs(groups, NULL);
	free(events);
	free(groups);
	return mem_strdup(name);
}

void folder_free(char *folder) {
	if (folder)
		tree_remove(folder);
	free(folder);
}

int folder_put(const char *folder, const char *file, const void *data, size_t size) {
	char *path = mem_printf("%s/%s", folder, file);
	FILE *out = fopen(path, "w");
	free(path);
	bool wrote = out && fwrite(data, 1, size, out) == size;
	return out && fclose(out) == 0 && wrote ? 0 : -1;
}
