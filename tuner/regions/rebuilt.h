/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of a program that was built again: those of regions that are still the same are used. */
#ifndef TUNER_REGIONS_REBUILT_H
#define TUNER_REGIONS_REBUILT_H
#include <jansson.h>
#include <stdbool.h>
#include "base/err.h"
#include <stdint.h>

struct regions_rebuilt {
	char *table;       /* the text of a table for the program as it is now; NULL: the kept one holds */
	char *build_id;    /* of the first file that was built again; NULL with table */
	size_t used, lost; /* regions with a setting */
	char *names;       /* "wide (app.c:12), ..": those that were lost; at most a few */
};

/* settings: a document as `tune --regions` keeps it. always: make a table even if the program is as it was. A region is
 * the same if the file has one function of its code (without the addresses in it, which change with everything around
 * it), or of its symbol and its size. ERR_NOTHING where no region is left. */
int regions_rebuilt_find(const json_t *settings, bool always, struct regions_rebuilt *rebuilt, struct err *err);
void regions_rebuilt_clear(struct regions_rebuilt *rebuilt);

/* Functions of a program's file: their names, sizes and places, and whether a rebuilt one still has them. Nothing in
 * the file is trusted. */
struct symbols;
void symbols_free(struct symbols *symbols);

const char *symbols_build_id(const struct symbols *symbols); /* hexadecimal; "-": none */

/* The function that holds the byte at `offset` from the first loaded one. */
bool symbols_at(const struct symbols *symbols, uint64_t offset, const char **name, uint64_t *size);
/* Functions of that name: how many, and how many of them have that size, with the offset of the last of these. */
int symbols_named(const struct symbols *symbols, const char *name, uint64_t size, int *same, uint64_t *offset);

/* Size and hash of the code of the function that begins there, also in a stripped file. */
bool symbols_code(const struct symbols *symbols, uint64_t offset, uint64_t *size, uint64_t *hash);
/* Functions with such code: how many, with the offset of the last. */
int symbols_coded(const struct symbols *symbols, uint64_t size, uint64_t hash, uint64_t *offset);
#endif
