/* SPDX-License-Identifier: BSD-3-Clause */
/* Summarises a stream of bytes in bounded memory: its hash, the hash of its words without its numbers, and its ends.
 */
#ifndef WORKER_PROGRAM_DIGEST_IMPL_H
#define WORKER_PROGRAM_DIGEST_IMPL_H
#include <jansson.h>

#include "base/sha256.h"

enum { DIGEST_HEAD = 16 << 10, DIGEST_TAIL = 8 << 10 };

struct digest {
	struct sha256 sha;
	uint64_t bytes, lines, words; /* words: FNV-1a of the text with # for each number */
	uint64_t line, bag;           /* the same of the line so far as it is; the sum over lines, whatever their order */
	double sum;                   /* of the numbers */
	char head[DIGEST_HEAD], tail[DIGEST_TAIL], number[40];
	size_t head_size, tail_size, number_size;
};

void digest_start(struct digest *digest);
void digest_add(struct digest *digest, const char *data, size_t size);
void digest_end(struct digest *digest, char hash[SHA256_TEXT]);
/* {"bytes", "lines", "hash", "words", "bag", "sum", "text" or "binary" or "packed"}; of long text "text" is the first
 * part and "end" the last. New reference. */
json_t *digest_json(const struct digest *digest, const char *hash);
#endif
