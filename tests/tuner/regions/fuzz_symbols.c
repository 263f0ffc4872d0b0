/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the file of a program: functions are looked up by place, name and code, and every name that comes back
 * ends within the file. `make fuzz` runs this as a target of libFuzzer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/regions/regions_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FEW = 40 };

static void require(bool condition) {
	if (!condition)
		abort();
}

static void check_place(const struct symbols *symbols, uint64_t offset) {
	const char *name = NULL;
	uint64_t size = 0, bytes, hash, found;
	int same;
	if (symbols_at(symbols, offset, &name, &size)) {
		require(name >= symbols->names && name + strlen(name) < symbols->names + symbols->names_size);
		require(symbols_named(symbols, name, size, &same, &found) >= same && same >= 1);
	}
	if (symbols_code(symbols, offset, &bytes, &hash))
		require(bytes > 0 && symbols_coded(symbols, bytes, hash, &found) >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *copy = mem_alloc(size + 1, 1);
	memcpy(copy, data, size);
	struct symbols *symbols = symbols_parse(copy, size);
	if (!symbols)
		return 0;
	require(strlen(symbols->build_id) < BUILD_ID_TEXT);
	for (size_t i = 0; i < symbols->count && i < FEW; i++)
		check_place(symbols, symbols->table[i].st_value - symbols->base);
	check_place(symbols, 0);
	check_place(symbols, UINT64_MAX);
	symbols_free(symbols);
	return 0;
}
