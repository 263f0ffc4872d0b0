/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/store/merge_impl.h"

struct digest {
	uint64_t a, b;
};

struct key {
	struct digest digest;
	int64_t id;
	size_t next; /* in the first of equal keys: the first that was not claimed */
};

struct merge_keys {
	struct key *keys;
	size_t count, room;
	bool sorted;
};

struct merge_keys *merge_keys_new(void) {
	return mem_alloc(1, sizeof(struct merge_keys));
}

void merge_keys_free(struct merge_keys *keys) {
	if (keys)
		free(keys->keys);
	free(keys);
}

/* The finalizer of SplitMix64 (G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, 2014), over
 * two states. Someone who constructs rows that collide only keeps rows of their own store out. */
static uint64_t mix(uint64_t x) {
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void digest_word(struct digest *digest, uint64_t word) {
	digest->a = mix(digest->a ^ word);
	digest->b = mix(digest->b + word + 0x9e3779b97f4a7c15u);
}

static void digest_bytes(struct digest *digest, const unsigned char *bytes, size_t size) {
	uint64_t word;
	for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
		memcpy(&word, bytes, sizeof word);
		digest_word(digest, word);
	}
	word = 0;
	if (size)
		memcpy(&word, bytes, size);
	digest_word(digest, word);
}

/* The digest covers type, size and content of each cell. */
static struct digest row_digest(sqlite3_stmt *row, int from, int count) {
	struct digest digest = {1, 2};
	for (int c = from; c < from + count; c++) {
		int type = sqlite3_column_type(row, c);
		double real = type == SQLITE_FLOAT ? sqlite3_column_double(row, c) : 0;
		uint64_t word = type == SQLITE_INTEGER ? (uint64_t)sqlite3_column_int64(row, c) : 0;
		digest_word(&digest, (uint64_t)type);
		if (type == SQLITE_FLOAT)
			memcpy(&word, &real, sizeof word);
		digest_word(&digest, word);
		if (type != SQLITE_TEXT && type != SQLITE_BLOB)
			continue;
		const void *bytes = sqlite3_column_blob(row, c);
		size_t size = (size_t)sqlite3_column_bytes(row, c);
		digest_word(&digest, size);
		digest_bytes(&digest, bytes, size);
	}
	return digest;
}

static int compare(const struct digest *x, const struct digest *y) {
	return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static void key_add(struct merge_keys *keys, sqlite3_stmt *row, int from, int count, int64_t id) {
	if (keys->count == keys->room) {
		keys->room = keys->room ? 2 * keys->room : 16;
		keys->keys = mem_grow(keys->keys, keys->room, sizeof *keys->keys);
	}
	struct key *key = &keys->keys[keys->count++];
	key->digest = row_digest(row, from, count);
	key->id = id;
	keys->sorted = false;
}

struct merge_keys *merge_keys_read(const struct merge *merge, sqlite3_stmt *rows, int from, int count, int id) {
	struct merge_keys *keys = merge_keys_new();
	int more;
	while ((more = store_step(merge->target, rows, merge->err)) > 0)
		key_add(keys, rows, from, count, sqlite3_column_int64(rows, id));
	sqlite3_finalize(rows);
	if (more == 0)
		return keys;
	merge_keys_free(keys);
	return NULL;
}

static int by_digest(const void *a, const void *b) {
	const struct key *x = a, *y = b;
	int order = compare(&x->digest, &y->digest);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

static void sort(struct merge_keys *keys) {
	if (keys->count)
		qsort(keys->keys, keys->count, sizeof *keys->keys, by_digest);
	for (size_t i = 0; i < keys->count; i++)
		keys->keys[i].next = i;
	keys->sorted = true;
}

int64_t merge_keys_claim(struct merge_keys *keys, sqlite3_stmt *row, int from, int count) {
	size_t low = 0, high = keys->count;
	if (!keys->count)
		return 0;
	if (!keys->sorted)
		sort(keys);
	const struct digest digest = row_digest(row, from, count);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(&keys->keys[middle].digest, &digest) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == keys->count || compare(&keys->keys[low].digest, &digest) != 0)
		return 0;
	size_t at = keys->keys[low].next;
	if (at == keys->count || compare(&keys->keys[at].digest, &digest) != 0)
		return 0;
	keys->keys[low].next++;
	return keys->keys[at].id;
}
