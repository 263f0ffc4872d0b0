/* SPDX-License-Identifier: BSD-3-Clause */
/* FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923). It gives the same value on every machine, but does not resist
 * deliberate collisions. */
#ifndef BASE_HASH_H
#define BASE_HASH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xCBF29CE484222325)
uint64_t hash_add(uint64_t hash, const void *data, size_t size);
uint64_t hash_text(const char *text); /* initial value */

/* SHA-256 (FIPS 180-4), for fingerprints and source hashes. */

enum { SHA256_TEXT = 7 + 64 + 1, SHA256_BLOCK = 64 };
/* Writes "sha256:" and 64 hexadecimal digits. */
void sha256_text(const void *data, size_t size, char out[SHA256_TEXT]);

/* The same in pieces: start, add any number of times, end. */
struct sha256 {
	uint32_t hash[8];
	uint64_t size; /* bytes so far; what does not fill a block is in rest */
	unsigned char rest[SHA256_BLOCK];
};
void sha256_start(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *data, size_t size);
void sha256_end(struct sha256 *sha, char out[SHA256_TEXT]);

/* Hashes the content of a regular file, in pieces. flags: more of those of open(2), such as O_NOFOLLOW. Returns false
 * with errno where it cannot be read, or is larger than `most` bytes (EFBIG). */
bool file_hash(const char *path, int flags, uint64_t most, char hash[SHA256_TEXT]);
#endif
