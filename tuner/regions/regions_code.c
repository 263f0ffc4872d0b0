/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions by their code: the unwind tables that stripped files keep, too, say where each begins and ends
 * (.eh_frame_hdr of the Linux Standard Base). Nothing in the file is trusted. */
#include <string.h>

#include "tuner/regions/regions_impl.h"

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
