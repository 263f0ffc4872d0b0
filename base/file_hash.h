/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_FILE_HASH_H
#define BASE_FILE_HASH_H
#include <stdbool.h>

#include "base/sha256.h"

/* Hashes the content of a regular file, in pieces. flags: more of those of open(2), such as O_NOFOLLOW. Returns false
 * with errno where it cannot be read, or is larger than `most` bytes (EFBIG). */
bool file_hash(const char *path, int flags, uint64_t most, char hash[SHA256_TEXT]);
#endif
