/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "tuner/regions/regions_impl.h"

/* Functions by their code: the unwind tables that stripped files keep, too, say where each begins and ends
 * (.eh_frame_hdr of the Linux Standard Base). Nothing in the file is trusted. */
enum { HEADER = 12, ENTRY = 8, FDE = 16, CODE_LEAST = 16 /* less is a jump to anywhere */ };
/* DW_EH_PE_pcrel | sdata4, udata4 and datarel | sdata4, which compilers and linkers write. */
static const unsigned char ENCODINGS[4] = {1, 0x1b, 0x03, 0x3b};

/* The bytes of the file at an address; NULL where the file does not have all of them. */
static const unsigned char *at_address(const struct symbols *symbols, uint64_t address, uint64_t size) {
	for (size_t i = 0; i < symbols->part_count; i++) {
		const Elf64_Phdr *part = &symbols->parts[i];
		if (part->p_type == PT_LOAD && address >= part->p_vaddr && address - part->p_vaddr <= part->p_filesz &&
		    size <= part->p_filesz - (address - part->p_vaddr) && part->p_offset <= symbols->size &&
		    part->p_filesz <= symbols->size - part->p_offset)
			return (const unsigned char *)symbols->data + part->p_offset + (address - part->p_vaddr);
	}
	return NULL;
}

static int32_t number_at(const unsigned char *bytes) {
	int32_t number;
	memcpy(&number, bytes, sizeof number);
	return number;
}

struct unwind {
	uint64_t address; /* of the header */
	const unsigned char *entries;
	size_t count;
};

static bool unwind_find(const struct symbols *symbols, struct unwind *unwind) {
	for (size_t i = 0; i < symbols->part_count; i++) {
		const Elf64_Phdr *part = &symbols->parts[i];
		const unsigned char *header =
			part->p_type == PT_GNU_EH_FRAME ? at_address(symbols, part->p_vaddr, part->p_filesz) : NULL;
		if (!header || part->p_filesz < HEADER || memcmp(header, ENCODINGS, sizeof ENCODINGS) != 0)
			continue;
		*unwind = (struct unwind){part->p_vaddr, header + HEADER, (uint32_t)number_at(header + 8)};
		return unwind->count <= (part->p_filesz - HEADER) / ENTRY;
	}
	return false;
}

/* The function that an entry is about. */
static bool entry_read(const struct symbols *symbols, const struct unwind *unwind, size_t number, uint64_t *address,
                       uint64_t *size) {
	const unsigned char *entry = unwind->entries + number * ENTRY;
	*address = unwind->address + (uint64_t)(int64_t)number_at(entry);
	uint64_t place = unwind->address + (uint64_t)(int64_t)number_at(entry + 4);
	const unsigned char *fde = at_address(symbols, place, FDE);
	if (!fde || place + 8 + (uint64_t)(int64_t)number_at(fde + 8) != *address)
		return false;
	*size = (uint32_t)number_at(fde + 12);
	return *size > 0;
}

/* FNV-1a (Fowler, Noll, Vo). Four bytes that reach from here to another place of the file are left out, because they
 * change when anything between moves: calls, data and constants are addressed so on x86-64. A number that looks like
 * such a distance is left out as well, which the exact size and the rest of the code make up for. */
static uint64_t code_hash(const struct symbols *symbols, uint64_t address, uint64_t size) {
	const unsigned char *code = at_address(symbols, address, size);
	uint64_t hash = 0xcbf29ce484222325u;
	for (uint64_t i = 0; code && i < size; i++) {
		uint64_t target = i + 4 <= size ? address + i + 4 + (uint64_t)(int64_t)number_at(code + i) : address;
		bool is_within = target >= address && target < address + size;
		if (!is_within && target >= symbols->base && target < symbols->end) {
			i += 3;
			hash ^= 0x100;
		} else {
			hash ^= code[i];
		}
		hash *= 0x100000001b3u;
	}
	return code ? hash >> 1 : 0;
}

bool symbols_code(const struct symbols *symbols, uint64_t offset, uint64_t *size, uint64_t *hash) {
	struct unwind unwind;
	uint64_t address;
	for (size_t i = 0; unwind_find(symbols, &unwind) && i < unwind.count; i++) {
		if (!entry_read(symbols, &unwind, i, &address, size) || address != symbols->base + offset)
			continue;
		*hash = *size >= CODE_LEAST ? code_hash(symbols, address, *size) : 0;
		return *hash != 0;
	}
	return false;
}

int symbols_coded(const struct symbols *symbols, uint64_t size, uint64_t hash, uint64_t *offset) {
	struct unwind unwind;
	uint64_t address, here;
	int count = 0;
	for (size_t i = 0; unwind_find(symbols, &unwind) && i < unwind.count; i++) {
		if (!entry_read(symbols, &unwind, i, &address, &here) || here != size ||
		    code_hash(symbols, address, here) != hash)
			continue;
		*offset = address - symbols->base;
		count++;
	}
	return count;
}

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/text.h"

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

static void debug_place_set(struct regions_region *region, const char *file, int line) {
	if (!*region->place && line > 0)
		snprintf(region->place, sizeof region->place, "%s:%d", text_base_name(file), line);
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
