/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/regions/symbols_impl.h"

#include "base/mem.h"
#include "base/sys.h"

enum { FILE_MOST = 1 << 30 };

static bool is_within(const struct symbols *symbols, uint64_t at, uint64_t size) {
	return at <= symbols->size && size <= symbols->size - at;
}

static const Elf64_Ehdr *header_of(const struct symbols *symbols) {
	const Elf64_Ehdr *header = (const void *)symbols->data;
	bool good = symbols->size >= sizeof *header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	            header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_phentsize == sizeof(Elf64_Phdr) &&
	            header->e_phoff % 8 == 0 && header->e_shoff % 8 == 0 &&
	            is_within(symbols, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr));
	return good ? header : NULL;
}

static void note_read(struct symbols *symbols, const char *notes, size_t size) {
	for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
		Elf64_Nhdr note;
		memcpy(&note, notes + at, sizeof note);
		size_t name = at + sizeof note, text = name + (((size_t)note.n_namesz + 3) & ~(size_t)3);
		if (text > size || note.n_descsz > size - text)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0) {
			for (size_t i = 0; i < note.n_descsz && 2 * i + 2 < BUILD_ID_TEXT; i++)
				snprintf(symbols->build_id + 2 * i, 3, "%02x", (unsigned char)notes[text + i]);
			return;
		}
		at = text + (((size_t)note.n_descsz + 3) & ~(size_t)3);
	}
}

/* Offsets count from the first loaded byte, which a program that is not relocatable wants at a fixed place. */
static void parts_read(struct symbols *symbols, const Elf64_Ehdr *header) {
	const Elf64_Phdr *parts = (const void *)(symbols->data + header->e_phoff);
	symbols->parts = parts;
	symbols->part_count = header->e_phnum;
	symbols->base = UINT64_MAX;
	strcpy(symbols->build_id, "-");
	for (int i = 0; i < header->e_phnum; i++) {
		if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr < symbols->base)
			symbols->base = parts[i].p_vaddr & ~(uint64_t)4095;
		if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr + parts[i].p_memsz > symbols->end)
			symbols->end = parts[i].p_vaddr + parts[i].p_memsz;
		if (parts[i].p_type == PT_NOTE && is_within(symbols, parts[i].p_offset, parts[i].p_filesz))
			note_read(symbols, symbols->data + parts[i].p_offset, parts[i].p_filesz);
	}
	if (symbols->base == UINT64_MAX)
		symbols->base = 0;
}

/* The full table if the file was not stripped, else the one for the dynamic loader. */
static void table_read(struct symbols *symbols, const Elf64_Ehdr *header) {
	if (header->e_shentsize != sizeof(Elf64_Shdr) ||
	    !is_within(symbols, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
		return;
	const Elf64_Shdr *sections = (const void *)(symbols->data + header->e_shoff), *best = NULL;
	for (int i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !best))
			best = &sections[i];
	if (!best || best->sh_link >= header->e_shnum || best->sh_offset % 8 ||
	    !is_within(symbols, best->sh_offset, best->sh_size))
		return;
	const Elf64_Shdr *names = &sections[best->sh_link];
	if (names->sh_size == 0 || !is_within(symbols, names->sh_offset, names->sh_size) ||
	    symbols->data[names->sh_offset + names->sh_size - 1] != '\0')
		return;
	symbols->table = (const void *)(symbols->data + best->sh_offset);
	symbols->count = best->sh_size / sizeof(Elf64_Sym);
	symbols->names = symbols->data + names->sh_offset;
	symbols->names_size = names->sh_size;
}

struct symbols *symbols_parse(char *data, size_t size) {
	struct symbols *symbols = mem_alloc(1, sizeof *symbols);
	symbols->data = data;
	symbols->size = size;
	const Elf64_Ehdr *header = data ? header_of(symbols) : NULL;
	if (!header) {
		symbols_free(symbols);
		return NULL;
	}
	parts_read(symbols, header);
	table_read(symbols, header);
	return symbols;
}

struct symbols *symbols_read(const char *path) {
	struct err none = {0};
	size_t size = 0;
	char *data = sys_is_plain_file(path) ? sys_read_file(path, FILE_MOST, &size, &none) : NULL;
	return symbols_parse(data, size);
}

void symbols_free(struct symbols *symbols) {
	if (symbols)
		free(symbols->data);
	free(symbols);
}

const char *symbols_build_id(const struct symbols *symbols) {
	return symbols->build_id;
}

uint64_t symbols_base(const struct symbols *symbols) {
	return symbols->base;
}

static const char *function_name(const struct symbols *symbols, size_t number) {
	const Elf64_Sym *symbol = &symbols->table[number];
	bool good = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
	            symbol->st_name < symbols->names_size;
	return good ? symbols->names + symbol->st_name : NULL;
}

bool symbols_at(const struct symbols *symbols, uint64_t offset, const char **name, uint64_t *size) {
	uint64_t address = offset + symbols->base;
	for (size_t i = 0; i < symbols->count; i++) {
		const Elf64_Sym *symbol = &symbols->table[i];
		const char *text = function_name(symbols, i);
		if (!text || address < symbol->st_value || address - symbol->st_value >= symbol->st_size)
			continue;
		*name = text;
		*size = symbol->st_size;
		return true;
	}
	return false;
}

int symbols_named(const struct symbols *symbols, const char *name, uint64_t size, int *same, uint64_t *offset) {
	int count = 0;
	*same = 0;
	for (size_t i = 0; i < symbols->count; i++) {
		const char *text = function_name(symbols, i);
		if (!text || strcmp(text, name) != 0)
			continue;
		count++;
		if (symbols->table[i].st_size != size)
			continue;
		*offset = symbols->table[i].st_value - symbols->base;
		++*same;
	}
	return count;
}
