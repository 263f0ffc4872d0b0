/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "base/mem.h"
#include "base/proc/proc.h"
#include "tuner/regions/regions_impl.h"

static const double PATIENCE_SECONDS = 20;

/* Two lines for each address: the function, and "file:line (discriminator 2)" or "??:0". */
static void answer_read(struct regions_region *region, const char *function, char *place) {
	if (!*region->symbol && strcmp(function, "??") != 0)
		snprintf(region->symbol, sizeof region->symbol, "%s", function);
	char *colon = strrchr(place, ':');
	if (strncmp(place, "??", 2) == 0 || !colon)
		return;
	*colon = '\0';
	debug_place_set(region, place, atoi(colon + 1));
}

static bool ask(const char *tool, const char *file, uint64_t base, struct regions_region *const *regions,
                size_t count) {
	struct err none = {0};
	const char **argv = mem_alloc(count + 6, sizeof *argv);
	char(*addresses)[24] = mem_alloc(count, sizeof *addresses);
	size_t words = 0, answered = 0;
	argv[words++] = tool;
	argv[words++] = "-f";
	argv[words++] = "-e";
	argv[words++] = file;
	for (size_t i = 0; i < count; i++) {
		snprintf(addresses[i], sizeof addresses[i], "0x%" PRIx64, regions[i]->offset + base);
		argv[words++] = addresses[i];
	}
	struct proc *proc = proc_start(&(struct proc_spec){.argv = argv, .line_max = 1 << 16}, &none);
	char *line, function[160];
	size_t size;
	while (proc && answered < count && proc_read(proc, PATIENCE_SECONDS, NULL, &line, &size) == PROC_LINE) {
		snprintf(function, sizeof function, "%.159s", line);
		if (proc_read(proc, PATIENCE_SECONDS, NULL, &line, &size) != PROC_LINE)
			break;
		answer_read(regions[answered++], function, line);
	}
	if (proc)
		proc_stop(proc, 0.1);
	free(addresses);
	free(argv);
	return answered == count;
}

void debug_addr2line_find(const char *file, uint64_t base, struct regions_region *const *regions, size_t count) {
	static const char *const tools[] = {"addr2line", "eu-addr2line", "llvm-addr2line"};
	for (size_t i = 0; count > 0 && i < sizeof tools / sizeof *tools; i++)
		if (ask(tools[i], file, base, regions, count))
			return;
}
