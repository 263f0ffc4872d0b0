/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hash.h"

#include <string.h>

uint64_t hash_add(uint64_t hash, const void *data, size_t size) {
	for (const unsigned char *byte = data; size--; byte++)
		hash = (hash ^ *byte) * UINT64_C(0x100000001B3);
	return hash;
}

uint64_t hash_text(const char *text) {
	return hash_add(HASH_START, text, strlen(text));
}
