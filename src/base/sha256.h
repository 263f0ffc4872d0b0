/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 (FIPS 180-4), for fingerprints and source hashes. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H
#include <stddef.h>

enum { SHA256_TEXT = 7 + 64 + 1 };
/* Writes "sha256:" and 64 hexadecimal digits. */
void sha256_text(const void *data, size_t size, char out[SHA256_TEXT]);

#endif
