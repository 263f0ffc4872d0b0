/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/marks/marks.h"

/* FNV-1a (Fowler, Noll, Vo; RFC 9923). */
uint32_t ssr_name_hash(const char *text, size_t length) {
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

static struct ssr_name *name_new(struct ssr_state *state, const char *text, size_t length, uint32_t hash) {
	struct ssr_name **bucket = &state->buckets[hash % MARK_NAMES];
	struct ssr_name *name = state->name_count < MARK_NAMES ? malloc(sizeof *name + length + 1) : NULL;
	if (!name)
		return NULL;
	*name = (struct ssr_name){.chain = *bucket, .hash = hash, .length = length};
	memcpy(name->text, text, length);
	name->text[length] = '\0';
	*bucket = *state->last_name = name;
	state->last_name = &name->next;
	state->name_count++;
	return name;
}

struct ssr_name *ssr_name_find(struct ssr_state *state, const char *text, size_t length, uint32_t hash) {
	struct ssr_name *name = state->buckets[hash % MARK_NAMES];
	while (name && (name->hash != hash || name->length != length || memcmp(name->text, text, length) != 0))
		name = name->chain;
	return name ? name : name_new(state, text, length, hash);
}
