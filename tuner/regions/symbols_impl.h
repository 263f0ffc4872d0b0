/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by symbols.c, code.c and their fuzz target. */
#ifndef TUNER_REGIONS_SYMBOLS_IMPL_H
#define TUNER_REGIONS_SYMBOLS_IMPL_H
#include <elf.h>
#include <stddef.h>

#include "tuner/regions/rebuilt.h"

enum { BUILD_ID_TEXT = 41 };

struct symbols {
	char *data;
	size_t size;
	const Elf64_Phdr *parts;
	size_t part_count;
	const Elf64_Sym *table;
	size_t count;
	const char *names;
	size_t names_size;
	uint64_t base, end; /* addresses that are loaded */
	char build_id[BUILD_ID_TEXT];
};

/* The bytes of a file, which are taken over; NULL where they are not a 64-bit ELF file. */
struct symbols *symbols_parse(char *data, size_t size);
#endif
