/* SPDX-License-Identifier: BSD-3-Clause */
/* FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923). It gives the same value on every machine, but does not resist
 * deliberate collisions. */
#ifndef BASE_HASH_H
#define BASE_HASH_H
#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xCBF29CE484222325)
uint64_t hash_add(uint64_t hash, const void *data, size_t size);
uint64_t hash_text(const char *text); /* initial value */
#endif
