/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 (FIPS 180-4), for fingerprints and source hashes. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H
#include <stddef.h>
#include <stdint.h>

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
#endif
