/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of a program's file: their names, sizes and places, and whether a rebuilt one still has them. Nothing in
 * the file is trusted. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct symbols;
/* NULL where the file cannot be read or is not a 64-bit ELF file. */
struct symbols *symbols_read(const char *path);
void symbols_free(struct symbols *symbols);

const char *symbols_build_id(const struct symbols *symbols); /* hexadecimal; "-": none */
uint64_t symbols_base(const struct symbols *symbols);        /* address of the first loaded byte */

/* The function that holds the byte at `offset` from the first loaded one. */
bool symbols_at(const struct symbols *symbols, uint64_t offset, const char **name, uint64_t *size);
/* Functions of that name: how many, and how many of them have that size, with the offset of the last of these. */
int symbols_named(const struct symbols *symbols, const char *name, uint64_t size, int *same, uint64_t *offset);

/* Size and hash of the code of the function that begins there, also in a stripped file. */
bool symbols_code(const struct symbols *symbols, uint64_t offset, uint64_t *size, uint64_t *hash);
/* Functions with such code: how many, with the offset of the last. */
int symbols_coded(const struct symbols *symbols, uint64_t size, uint64_t hash, uint64_t *offset);
