/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of the same configuration on the same problem come together. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "tuner/study/study_impl.h"

static uint64_t hash_of(const char *key) { /* FNV-1a, Fowler, Noll and Vo */
	uint64_t hash = 14695981039346656037u;
	for (; *key; key++)
		hash = (hash ^ (unsigned char)*key) * 1099511628211u;
	return hash;
}

static size_t *slot_find(const struct study *study, const char *key) {
	size_t i = hash_of(key) & (study->slot_count - 1);
	while (study->slots[i] && strcmp(study->gathered[study->slots[i] - 1].key, key) != 0)
		i = (i + 1) & (study->slot_count - 1);
	return &study->slots[i];
}

static void slots_grow(struct study *study) {
	study->slot_count = study->slot_count ? 4 * study->slot_count : 64;
	free(study->slots);
	study->slots = mem_alloc(study->slot_count, sizeof *study->slots);
	for (size_t i = 0; i < study->gathered_count; i++)
		*slot_find(study, study->gathered[i].key) = i + 1;
}

static char *key_of(const json_t *problem, const json_t *config) {
	json_t *both = json_pack("[O,O]", problem, config);
	char *key = js_canonical(both);
	json_decref(both);
	return key;
}

struct gathered *study_gather(struct study *study, const json_t *problem, const json_t *config) {
	if (2 * (study->gathered_count + 1) > study->slot_count)
		slots_grow(study);
	char *key = key_of(problem, config);
	size_t *slot = slot_find(study, key);
	if (*slot) {
		free(key);
		return &study->gathered[*slot - 1];
	}
	if (study->gathered_count == study->gathered_room) {
		study->gathered_room = study->gathered_room ? 2 * study->gathered_room : 64;
		study->gathered = mem_grow(study->gathered, study->gathered_room, sizeof *study->gathered);
	}
	struct gathered *one = &study->gathered[study->gathered_count++];
	*one = (struct gathered){
		.key = key, .problem = json_incref((json_t *)problem), .config = json_incref((json_t *)config)};
	*slot = study->gathered_count;
	return one;
}
