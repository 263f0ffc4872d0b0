/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/sha256.h"
#include "tuner/store_merge_impl.h"

struct key {
	char text[SHA256_TEXT];
	int64_t id;
	size_t next; /* of the first of equal ones: the first that is not taken */
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

/* Type, size and bytes of each cell: SQLite gives a real in its 8 bytes only as a number. */
static void row_key(sqlite3_stmt *row, int from, int count, char text[SHA256_TEXT]) {
	struct sha256 sha;
	sha256_start(&sha);
	for (int c = from; c < from + count; c++) {
		int type = sqlite3_column_type(row, c);
		double real = sqlite3_column_double(row, c);
		int64_t whole = sqlite3_column_int64(row, c);
		const void *bytes = type == SQLITE_FLOAT ? &real : type == SQLITE_INTEGER ? (const void *)&whole : NULL;
		int size = bytes ? 8 : 0;
		if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
			bytes = sqlite3_column_blob(row, c);
			size = sqlite3_column_bytes(row, c);
		}
		sha256_add(&sha, &type, sizeof type);
		sha256_add(&sha, &size, sizeof size);
		sha256_add(&sha, bytes ? bytes : "", (size_t)size);
	}
	sha256_end(&sha, text);
}

void merge_keys_add(struct merge_keys *keys, sqlite3_stmt *row, int from, int count, int64_t id) {
	if (keys->count == keys->room) {
		keys->room = keys->room ? 2 * keys->room : 16;
		keys->keys = mem_grow(keys->keys, keys->room, sizeof *keys->keys);
	}
	struct key *key = &keys->keys[keys->count++];
	row_key(row, from, count, key->text);
	key->id = id;
	keys->sorted = false;
}

static int by_text(const void *a, const void *b) {
	const struct key *x = a, *y = b;
	int order = strcmp(x->text, y->text);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

static void sort(struct merge_keys *keys) {
	if (keys->count)
		qsort(keys->keys, keys->count, sizeof *keys->keys, by_text);
	for (size_t i = 0; i < keys->count; i++)
		keys->keys[i].next = i;
	keys->sorted = true;
}

int64_t merge_keys_take(struct merge_keys *keys, sqlite3_stmt *row, int from, int count) {
	char text[SHA256_TEXT];
	size_t low = 0, high = keys->count;
	if (!keys->count)
		return 0;
	if (!keys->sorted)
		sort(keys);
	row_key(row, from, count, text);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(keys->keys[middle].text, text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == keys->count || strcmp(keys->keys[low].text, text) != 0)
		return 0;
	size_t at = keys->keys[low].next;
	if (at == keys->count || strcmp(keys->keys[at].text, text) != 0)
		return 0;
	keys->keys[low].next++;
	return keys->keys[at].id;
}
