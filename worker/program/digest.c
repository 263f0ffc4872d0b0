/* SPDX-License-Identifier: BSD-3-Clause */
/* The digest of a stream of any length: of a program's output, and of the files that it writes. */
#include <ctype.h>
#include <math.h>

#include "worker/program/program_impl.h"

enum { DIGEST_READ = 4 << 20 }; /* beyond that, words and numbers are not looked at */

void digest_start(struct digest *digest) {
	digest->bytes = digest->lines = 0;
	digest->words = digest->line = HASH_START;
	digest->bag = 0;
	digest->sum = 0;
	digest->head_size = digest->tail_size = digest->number_size = 0;
	sha256_start(&digest->sha);
}

static void letter_add(uint64_t *hash, char c) {
	*hash = hash_add(*hash, &c, 1);
}

static void number_end(struct digest *digest) {
	if (digest->number_size == 0)
		return;
	digest->number[digest->number_size] = '\0';
	double value = strtod(digest->number, NULL);
	digest->sum += isfinite(value) ? value : 0;
	digest->number_size = 0;
	letter_add(&digest->words, '#');
}

static void text_read(struct digest *digest, const char *data, size_t size) {
	for (size_t i = 0; i < size; i++) {
		char c = data[i];
		bool inside = isdigit((unsigned char)c) || (c == '.' && digest->number_size > 0);
		if (inside && digest->number_size + 1 < sizeof digest->number) {
			digest->number[digest->number_size++] = c;
		} else if (!inside) {
			number_end(digest);
			letter_add(&digest->words, c);
		}
		letter_add(&digest->line, c);
		if (c == '\n') {
			digest->lines++;
			digest->bag += digest->line;
			digest->line = HASH_START;
		}
	}
}

/* A chunk that is longer than the memory replaces all of it. */
static void tail_add(struct digest *digest, const char *data, size_t size) {
	size_t left = size < DIGEST_TAIL ? DIGEST_TAIL - size : 0;
	left = left < digest->tail_size ? left : digest->tail_size;
	memmove(digest->tail, digest->tail + digest->tail_size - left, left);
	if (size > DIGEST_TAIL) {
		data += size - DIGEST_TAIL;
		size = DIGEST_TAIL;
	}
	memcpy(digest->tail + left, data, size);
	digest->tail_size = left + size;
}

void digest_add(struct digest *digest, const char *data, size_t size) {
	size_t room = DIGEST_HEAD - digest->head_size, more = size < room ? size : room;
	memcpy(digest->head + digest->head_size, data, more);
	digest->head_size += more;
	tail_add(digest, data, size);
	sha256_add(&digest->sha, data, size);
	if (digest->bytes < DIGEST_READ)
		text_read(digest, data, size < DIGEST_READ - digest->bytes ? size : DIGEST_READ - digest->bytes);
	digest->bytes += size;
}

void digest_end(struct digest *digest, char hash[SHA256_TEXT]) {
	number_end(digest);
	digest->bag += digest->line;
	sha256_end(&digest->sha, hash);
}
