/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/mem.h"
#include "base/proc/apart.h"
#include "base/proc/proc.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/regions/debug_impl.h"
#include "tuner/regions/regions_names_impl.h"
#include "tuner/regions/rebuilt.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Offline, nothing has to be mapped, so the finder of loaded files is not needed. */
static Dwfl *file_open(const char *file, Dwfl_Module **module) {
	static char *no_path = NULL;
	static const Dwfl_Callbacks callbacks = {.find_debuginfo = dwfl_standard_find_debuginfo,
	                                         .section_address = dwfl_offline_section_address,
	                                         .debuginfo_path = &no_path};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	*module = dwfl ? dwfl_report_offline(dwfl, "", file, -1) : NULL;
	if (*module && dwfl_report_end(dwfl, NULL, NULL) == 0)
		return dwfl;
	if (dwfl)
		dwfl_end(dwfl);
	return NULL;
}

struct scope {
	Dwarf_Die die;
	const struct scope *outer; /* NULL: the unit */
};

struct found {
	Dwarf_Die parent;
	bool has_parent;
	const char *module; /* of Fortran; NULL: none */
};

static bool is_scope(int tag) {
	return tag == DW_TAG_subprogram || tag == DW_TAG_module || tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_lexical_block;
}

static void found_set(const struct scope *scope, struct found *found) {
	for (; scope; scope = scope->outer) {
		Dwarf_Die die = scope->die;
		if (!found->has_parent && dwarf_tag(&die) == DW_TAG_subprogram) {
			found->parent = die;
			found->has_parent = true;
		} else if (found->has_parent && dwarf_tag(&die) == DW_TAG_module) {
			found->module = dwarf_diename(&die);
		}
	}
}

/* Compilers put the outlined function into the function that has the region. That one may be abstract, without
 * addresses, so dwarf_getscopes does not find the way down. */
static bool outlined_find(const struct scope *outer, Dwarf_Die *die, Dwarf_Addr address, struct found *found) {
	Dwarf_Die child;
	Dwarf_Addr entry;
	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		const struct scope scope = {.die = child, .outer = outer};
		if (!is_scope(dwarf_tag(&child)))
			continue;
		if (dwarf_tag(&child) == DW_TAG_subprogram && dwarf_entrypc(&child, &entry) == 0 && entry == address) {
			found_set(outer, found);
			return true;
		}
		if (outlined_find(&scope, &child, address, found))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Fortran's linkage names (__solver_MOD_step, MAIN__, step_) are not the names that the program has. Those of C++ are
 * complete where DWARF has the last part alone. */
static void name_of_parent(Dwarf_Die *unit, struct found *found, struct regions_region *region) {
	int language = dwarf_srclang(unit);
	const char *name = dwarf_diename(&found->parent);
	bool is_fortran = language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
	                  language == DW_LANG_Fortran03 || language == DW_LANG_Fortran08;
	if (name && is_fortran && !*region->name)
		snprintf(region->name, sizeof region->name, "%.70s%s%.80s", found->module ? found->module : "",
		         found->module ? "::" : "", name);
}

static void debug_place_set(struct regions_region *region, const char *file, int line);

/* Link-time optimisation calls the file of code that it made "<artificial>". */
static void region_find(Dwfl_Module *module, Dwarf_Addr address, struct regions_region *region) {
	Dwarf_Addr bias;
	int number = 0;
	GElf_Off within = 1;
	GElf_Sym entry;
	const char *symbol = dwfl_module_addrinfo(module, address, &within, &entry, NULL, NULL, NULL);
	Dwfl_Line *line = dwfl_module_getsrc(module, address);
	const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias);
	struct found found = {.has_parent = false};
	if (symbol && within == 0 && !*region->symbol)
		snprintf(region->symbol, sizeof region->symbol, "%s", symbol);
	if (unit && outlined_find(NULL, unit, address - bias, &found) && found.has_parent) {
		name_of_parent(unit, &found, region);
		if (file && file[0] == '<')
			file = dwarf_decl_file(&found.parent);
	}
	if (file && file[0] != '<')
		debug_place_set(region, file, number);
}

/* Fill name, symbol and place where they are still empty. base: the address that the file has for its first loaded
 * byte. libdw reads separate debug files, too; false without it, or where it cannot read the file. */
static bool debug_libdw_find(const char *file, uint64_t base, struct regions_region *const *regions, size_t count) {
	Dwfl_Module *module;
	Dwfl *dwfl = file_open(file, &module);
	GElf_Addr bias;
	bool good = dwfl && dwfl_module_getelf(module, &bias);
	for (size_t i = 0; good && i < count; i++)
		region_find(module, regions[i]->offset + base + bias, regions[i]);
	if (dwfl)
		dwfl_end(dwfl);
	return good;
}

#else
bool debug_libdw_find(const char *file, uint64_t base, struct regions_region *const *regions, size_t count) {
	(void)file;
	(void)base;
	(void)regions;
	(void)count;
	return false;
}
#endif

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

/* Asks addr2line of binutils, elfutils or LLVM. */
static void debug_addr2line_find(const char *file, uint64_t base, struct regions_region *const *regions, size_t count) {
	static const char *const tools[] = {"addr2line", "eu-addr2line", "llvm-addr2line"};
	for (size_t i = 0; count > 0 && i < sizeof tools / sizeof *tools; i++)
		if (ask(tools[i], file, base, regions, count))
			return;
}

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

static const char *base_name(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void debug_place_set(struct regions_region *region, const char *file, int line) {
	if (!*region->place && line > 0)
		snprintf(region->place, sizeof region->place, "%s:%d", base_name(file), line);
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
		snprintf(region->name, sizeof region->name, "%.100s+0x%" PRIx64, base_name(region->module), region->offset);
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
