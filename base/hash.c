/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t hash_add(uint64_t hash, const void *data, size_t size) {
	for (const unsigned char *byte = data; size--; byte++)
		hash = (hash ^ *byte) * UINT64_C(0x100000001B3);
	return hash;
}

uint64_t hash_text(const char *text) {
	return hash_add(HASH_START, text, strlen(text));
}

enum { BLOCK = SHA256_BLOCK };

static const uint32_t round_key[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int bits) {
	return x >> bits | x << (32 - bits);
}

static void schedule(uint32_t w[64], const unsigned char *block) {
	for (int i = 0; i < 16; i++, block += 4)
		w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
	for (int i = 16; i < 64; i++) {
		uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

/* FIPS 180-4, 6.2.2: a to h, which change places instead of moving in memory. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                               \
	do {                                                                                                               \
		uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + round_key[i] + w[i]; \
		d += t1;                                                                                                       \
		h = t1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));                       \
	} while (0)
static void compress(uint32_t hash[8], const unsigned char *block) {
	uint32_t w[64], a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4], f = hash[5], g = hash[6],
					h = hash[7];
	schedule(w, block);
	for (int i = 0; i < 64; i += 8) {
		ROUND(a, b, c, d, e, f, g, h, i);
		ROUND(h, a, b, c, d, e, f, g, i + 1);
		ROUND(g, h, a, b, c, d, e, f, i + 2);
		ROUND(f, g, h, a, b, c, d, e, i + 3);
		ROUND(e, f, g, h, a, b, c, d, i + 4);
		ROUND(d, e, f, g, h, a, b, c, i + 5);
		ROUND(c, d, e, f, g, h, a, b, i + 6);
		ROUND(b, c, d, e, f, g, h, a, i + 7);
	}
	const uint32_t more[8] = {a, b, c, d, e, f, g, h};
	for (int i = 0; i < 8; i++)
		hash[i] += more[i];
}
#undef ROUND

/* The end of the message, a one bit, zeros, and the length in bits: one block or two. */
static void finish(uint32_t hash[8], const unsigned char *rest, size_t size, uint64_t bits) {
	unsigned char tail[2 * BLOCK] = {0};
	size_t padded = size + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
	if (size)
		memcpy(tail, rest, size);
	tail[size] = 0x80;
	for (int i = 0; i < 8; i++)
		tail[padded - 1 - (size_t)i] = (unsigned char)(bits >> 8 * i);
	for (size_t i = 0; i < padded; i += BLOCK)
		compress(hash, tail + i);
}

void sha256_start(struct sha256 *sha) {
	static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	*sha = (struct sha256){.size = 0};
	memcpy(sha->hash, initial, sizeof(initial));
}

void sha256_add(struct sha256 *sha, const void *data, size_t size) {
	const unsigned char *from = data;
	size_t held = (size_t)(sha->size % BLOCK);
	sha->size += size;
	if (held) {
		size_t part = size < BLOCK - held ? size : BLOCK - held;
		memcpy(sha->rest + held, from, part);
		from += part;
		size -= part;
		if (held + part < BLOCK)
			return;
		compress(sha->hash, sha->rest);
	}
	for (; size >= BLOCK; size -= BLOCK, from += BLOCK)
		compress(sha->hash, from);
	if (size)
		memcpy(sha->rest, from, size);
}

void sha256_end(struct sha256 *sha, char out[SHA256_TEXT]) {
	finish(sha->hash, sha->rest, (size_t)(sha->size % BLOCK), sha->size * 8);
	memcpy(out, "sha256:", 7);
	for (int i = 0; i < 8; i++)
		snprintf(out + 7 + 8 * i, 9, "%08x", sha->hash[i]);
}

void sha256_text(const void *data, size_t size, char out[SHA256_TEXT]) {
	struct sha256 sha;
	sha256_start(&sha);
	if (size)
		sha256_add(&sha, data, size);
	sha256_end(&sha, out);
}

enum { PIECE = 1 << 16 };

static int regular_open(const char *path, int flags) {
	struct stat info;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
	if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

bool file_hash(const char *path, int flags, uint64_t most, char hash[SHA256_TEXT]) {
	int fd = regular_open(path, flags);
	if (fd < 0)
		return false;
	char piece[PIECE];
	struct sha256 sha;
	uint64_t size = 0;
	ssize_t got;
	sha256_start(&sha);
	while ((got = read(fd, piece, sizeof piece)) > 0 && (size += (uint64_t)got) <= most)
		sha256_add(&sha, piece, (size_t)got);
	int failed = got > 0 ? EFBIG : got < 0 ? errno : 0;
	sha256_end(&sha, hash);
	close(fd);
	errno = failed;
	return !failed;
}
