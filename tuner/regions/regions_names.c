/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/regions/regions_names_impl.h"

#include <inttypes.h>

#include "base/demangle.h"
#include "base/mem.h"
#include "base/proc/apart.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/regions/debug_impl.h"
#include "tuner/regions/symbols.h"

enum { CPU_SECONDS = 5 };

/* "tiny._omp_fn.0" and "main.omp_outlined_debug__.3" are what compilers make of a region in tiny and in main. Without a
 * place that end is kept, because it tells the regions of one function apart. */
static void name_clean(const char *symbol, bool has_place, char *name, size_t size) {
	static const char *const marks[] = {"._omp_fn", ".omp_outlined", "..omp_par", ".extracted"};
	char function[512];
	size_t length = strlen(symbol);
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const char *mark = strstr(symbol, marks[i]);
		if (mark && mark > symbol && (size_t)(mark - symbol) < length)
			length = (size_t)(mark - symbol);
	}
	snprintf(function, sizeof function, "%.*s", (int)length, symbol);
	demangle(function, name, size);
	size_t used = strlen(name);
	if (!has_place)
		snprintf(name + used, size - used, "%s", symbol + length);
}

void debug_place_set(struct regions_region *region, const char *file, int line) {
	if (!*region->place && line > 0)
		snprintf(region->place, sizeof region->place, "%s:%d", text_base_name(file), line);
}

/* ";file;function;line;column;;", with "unknown" where clang was not asked for debug information. */
static bool place_of_clang(struct regions_region *region) {
	char file[OMP_PLACE], function[OMP_PLACE];
	int line;
	if (sscanf(region->facts.place, ";%159[^;];%159[^;];%d;", file, function, &line) != 3 || line <= 0)
		return false;
	snprintf(region->place, sizeof region->place, "%s:%d", text_base_name(file), line);
	snprintf(region->name, sizeof region->name, "%s", function);
	return true;
}

/* Returns the address that debug information has for the first loaded byte. */
static uint64_t symbols_find(const char *module, struct regions_region *const *regions, size_t count) {
	struct symbols *symbols = symbols_read(module);
	uint64_t base = symbols ? symbols_base(symbols) : 0;
	for (size_t i = 0; symbols && i < count; i++) {
		const char *name;
		if (symbols_at(symbols, regions[i]->offset, &name, &regions[i]->code_size))
			snprintf(regions[i]->symbol, sizeof regions[i]->symbol, "%s", name);
		if (!symbols_code(symbols, regions[i]->offset, &regions[i]->code_bytes, &regions[i]->code_hash))
			regions[i]->code_bytes = regions[i]->code_hash = 0;
	}
	symbols_free(symbols);
	return base;
}

/* Opening a pipe would wait, and a device may have no end. */
static void module_ask(struct regions_region *regions, size_t count, const char *module) {
	struct regions_region **asked = mem_alloc(count, sizeof *asked);
	size_t many = 0;
	for (size_t i = 0; i < count; i++)
		if (regions[i].module == module)
			asked[many++] = &regions[i];
	if (sys_is_plain_file(module)) {
		uint64_t base = symbols_find(module, asked, many);
		if (!debug_libdw_find(module, base, asked, many))
			debug_addr2line_find(module, base, asked, many);
	}
	free(asked);
}

struct asked {
	struct regions_region *regions;
	size_t count;
};

/* Reads the files of the program, which may be made to break a reader of debug information or a demangler. */
static void modules_ask(void *ctx) {
	const struct asked *asked = ctx;
	struct regions_region *regions = asked->regions;
	for (size_t i = 0; i < asked->count; i++) {
		bool first = true;
		for (size_t j = 0; j < i && first; j++)
			first = regions[j].module != regions[i].module;
		if (first)
			module_ask(regions, asked->count, regions[i].module);
	}
	for (size_t i = 0; i < asked->count; i++)
		if (*regions[i].symbol && !*regions[i].name)
			name_clean(regions[i].symbol, *regions[i].place != '\0', regions[i].name, sizeof regions[i].name);
}

static void text_take(char *to, const char *from, size_t size) {
	memcpy(to, from, size);
	to[size - 1] = '\0';
	text_clean(to, false);
}

static void answer_take(struct regions_region *region, const struct regions_region *answer) {
	text_take(region->name, answer->name, sizeof region->name);
	text_take(region->place, answer->place, sizeof region->place);
	text_take(region->symbol, answer->symbol, sizeof region->symbol);
	region->code_size = answer->code_size;
	region->code_bytes = answer->code_bytes;
	region->code_hash = answer->code_hash;
}

static void size_add(struct regions_region *region) {
	const struct omp_region *facts = &region->facts;
	size_t used = strlen(region->name);
	char *end = region->name + used;
	if (!facts->size_class || (facts->above == INT64_MIN && facts->upto == INT64_MAX))
		return;
	if (facts->above == INT64_MIN)
		snprintf(end, sizeof region->name - used, " [<= %" PRId64 "]", facts->upto);
	else if (facts->upto == INT64_MAX)
		snprintf(end, sizeof region->name - used, " [> %" PRId64 "]", facts->above);
	else
		snprintf(end, sizeof region->name - used, " [%" PRId64 "..%" PRId64 "]", facts->above + 1, facts->upto);
}

static void fallback(struct regions_region *region) {
	if (!*region->name)
		snprintf(region->name, sizeof region->name, "%.159s", region->symbol);
	if (!*region->name || region->name[0] == '.')
		snprintf(region->name, sizeof region->name, "%.100s+0x%" PRIx64, text_base_name(region->module),
		         region->offset);
	size_add(region);
	text_clean(region->name, false);
	text_clean(region->place, false);
}

void regions_names_find(struct regions_region *regions, size_t count) {
	size_t size = (count + 1) * sizeof *regions;
	struct asked asked = {apart_memory(size), count};
	for (size_t i = 0; i < count; i++)
		place_of_clang(&regions[i]);
	if (asked.regions) {
		memcpy(asked.regions, regions, count * sizeof *regions);
		apart_run(modules_ask, &asked, CPU_SECONDS);
	}
	for (size_t i = 0; i < count; i++) {
		if (asked.regions)
			answer_take(&regions[i], &asked.regions[i]);
		fallback(&regions[i]);
	}
	apart_free(asked.regions, size);
}
