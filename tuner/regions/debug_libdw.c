/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/regions/regions_impl.h"

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

void debug_libdw_find(const char *file, uint64_t base, struct regions_region *const *regions, size_t count) {
	Dwfl_Module *module;
	Dwfl *dwfl = file_open(file, &module);
	GElf_Addr bias;
	bool good = dwfl && dwfl_module_getelf(module, &bias);
	for (size_t i = 0; good && i < count; i++)
		region_find(module, regions[i]->offset + base + bias, regions[i]);
	if (dwfl)
		dwfl_end(dwfl);
}

#else
void debug_libdw_find(const char *file, uint64_t base, struct regions_region *const *regions, size_t count) {
	(void)file;
	(void)base;
	(void)regions;
	(void)count;
}
#endif
