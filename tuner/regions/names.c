/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/regions/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/proc/proc.h"
#include "src/base/text.h"
#include "tuner/regions/symbols.h"

static const double PATIENCE_SECONDS = 20;

/* "tiny._omp_fn.0" and "main.omp_outlined_debug__.3" are what compilers make of a region in tiny and in main. */
static void name_clean(const char *symbol, char *name, size_t size) {
	static const char *const marks[] = {"._omp_fn", ".omp_outlined", "..omp_par", ".extracted"};
	size_t length = strlen(symbol);
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const char *mark = strstr(symbol, marks[i]);
		if (mark && mark > symbol && (size_t)(mark - symbol) < length)
			length = (size_t)(mark - symbol);
	}
	snprintf(name, size, "%.*s", (int)length, symbol);
}

static const char *base_name(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* ";file;function;line;column;;", with "unknown" where clang was not asked for debug information. */
static bool place_of_clang(struct regions_region *region) {
	char file[OMP_PLACE], function[OMP_PLACE];
	int line;
	if (sscanf(region->facts.place, ";%159[^;];%159[^;];%d;", file, function, &line) != 3 || line <= 0)
		return false;
	snprintf(region->place, sizeof region->place, "%s:%d", base_name(file), line);
	snprintf(region->name, sizeof region->name, "%s", function);
	return true;
}

static void fallback(struct regions_region *region) {
	if (*region->symbol && !*region->name)
		name_clean(region->symbol, region->name, sizeof region->name);
	if (!*region->name || region->name[0] == '.')
		snprintf(region->name, sizeof region->name, "%.100s+0x%" PRIx64, base_name(region->module), region->offset);
	text_clean(region->name, false);
	text_clean(region->place, false);
	text_clean(region->symbol, false);
}

/* Two lines for each address: the function, and "file:line (discriminator 2)" or "??:0". */
static void answer_read(struct regions_region *region, const char *function, const char *place) {
	if (!*region->symbol && strcmp(function, "??") != 0)
		snprintf(region->symbol, sizeof region->symbol, "%s", function);
	const char *colon = strrchr(place, ':');
	if (*region->place || strncmp(place, "??", 2) == 0 || !colon || atoi(colon + 1) <= 0)
		return;
	snprintf(region->place, sizeof region->place, "%.*s:%d", (int)(colon - base_name(place)), base_name(place),
	         atoi(colon + 1));
}

static bool ask(const char *tool, const char *module, uint64_t base, struct regions_region *const *regions,
                size_t count) {
	struct err none = {0};
	const char **argv = mem_alloc(count + 6, sizeof *argv);
	char(*addresses)[24] = mem_alloc(count, sizeof *addresses);
	size_t words = 0, answered = 0;
	argv[words++] = tool;
	argv[words++] = "-f";
	argv[words++] = "-e";
	argv[words++] = module;
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

/* Returns the address that debug information has for the first loaded byte. */
static uint64_t symbols_find(const char *module, struct regions_region *const *regions, size_t count) {
	struct symbols *symbols = symbols_read(module);
	uint64_t base = symbols ? symbols_base(symbols) : 0;
	for (size_t i = 0; symbols && i < count; i++) {
		const char *name;
		if (symbols_at(symbols, regions[i]->offset, &name, &regions[i]->code_size))
			snprintf(regions[i]->symbol, sizeof regions[i]->symbol, "%s", name);
	}
	symbols_free(symbols);
	return base;
}

static void module_ask(struct regions_region *regions, size_t count, const char *module) {
	static const char *const tools[] = {"addr2line", "eu-addr2line", "llvm-addr2line"};
	struct regions_region **asked = mem_alloc(count, sizeof *asked);
	size_t many = 0;
	for (size_t i = 0; i < count; i++)
		if (regions[i].module == module)
			asked[many++] = &regions[i];
	uint64_t base = symbols_find(module, asked, many);
	for (size_t i = 0; many > 0 && i < sizeof tools / sizeof *tools; i++)
		if (ask(tools[i], module, base, asked, many))
			break;
	free(asked);
}

void regions_names_find(struct regions_region *regions, size_t count) {
	for (size_t i = 0; i < count; i++)
		place_of_clang(&regions[i]);
	for (size_t i = 0; i < count; i++) {
		bool first = true;
		for (size_t j = 0; j < i && first; j++)
			first = regions[j].module != regions[i].module;
		if (first)
			module_ask(regions, count, regions[i].module);
	}
	for (size_t i = 0; i < count; i++)
		fallback(&regions[i]);
}
