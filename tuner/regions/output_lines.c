/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of processes or threads that print at the same time come in any order. */
#include <config.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tuner/regions/output.h"
#include "tuner/regions/output_impl.h"

struct line {
	const char *text;
	size_t length, number;
	uint64_t hash; /* of its words and numbers without times */
};

struct lines {
	struct line *of;
	size_t count;
};

static uint64_t word_mix(uint64_t hash, const struct words *words, size_t i) {
	const struct word *word = &words->of[i];
	if (regions_words_timing(words, i))
		return hash_add(hash, "t", 1);
	hash = hash_add(hash, word->is_number ? "n" : "w", 1);
	return word->is_number ? hash_add(hash, &word->value, sizeof word->value)
	                       : hash_add(hash, word->text, word->length);
}

static struct lines lines_read(const struct words *words) {
	struct lines lines = {.of = mem_alloc(words->count + 1, sizeof *lines.of)};
	for (size_t i = 0; i < words->count; i++) {
		const struct word *word = &words->of[i];
		if (i == 0 || word->begins_line) {
			lines.of[lines.count] = (struct line){.text = word->text, .number = lines.count, .hash = HASH_START};
			lines.count++;
		}
		struct line *line = &lines.of[lines.count - 1];
		line->length = (size_t)(word->text + word->length - line->text);
		line->hash = word_mix(line->hash, words, i);
	}
	return lines;
}

static int by_hash(const void *a, const void *b) {
	const struct line *x = a, *y = b;
	int order = (x->hash > y->hash) - (x->hash < y->hash);
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* For each line of `first` the same one of `now`, each once; then the others in their order. */
static void places_find(const struct lines *first, const struct lines *now, const struct line **places) {
	struct line *a = mem_alloc(first->count + 1, sizeof *a), *b = mem_alloc(now->count + 1, sizeof *b);
	bool *is_used = mem_alloc(now->count + 1, sizeof *is_used);
	memcpy(a, first->of, first->count * sizeof *a);
	memcpy(b, now->of, now->count * sizeof *b);
	qsort(a, first->count, sizeof *a, by_hash);
	qsort(b, now->count, sizeof *b, by_hash);
	for (size_t i = 0, k = 0; i < first->count && k < now->count;) {
		if (a[i].hash == b[k].hash) {
			places[a[i++].number] = &now->of[b[k].number];
			is_used[b[k++].number] = true;
		} else if (a[i].hash < b[k].hash) {
			i++;
		} else {
			k++;
		}
	}
	for (size_t i = 0, k = 0; i < first->count; i++) {
		while (k < now->count && is_used[k])
			k++;
		if (!places[i] && k < now->count)
			places[i] = &now->of[k++];
	}
	free(is_used);
	free(a);
	free(b);
}

static size_t lines_write(const struct line *const *places, size_t count, char *text) {
	size_t size = 0;
	for (size_t i = 0; i < count; i++) {
		memcpy(text + size, places[i]->text, places[i]->length);
		size += places[i]->length;
		text[size++] = '\n';
	}
	text[size] = '\0';
	return size;
}

bool regions_lines_align(const struct words *first, char *text, size_t *size) {
	char *copy = mem_alloc(*size + 1, 1);
	memcpy(copy, text, *size);
	struct words words = regions_words_read(copy, *size);
	struct lines before = lines_read(first), now = lines_read(&words);
	const struct line **places = mem_alloc(before.count + 1, sizeof *places);
	bool moved = false, fits = before.count == now.count && !first->is_cut && !words.is_cut;
	if (fits)
		places_find(&before, &now, places);
	for (size_t i = 0; fits && i < now.count; i++)
		moved = moved || places[i] != &now.of[i];
	if (moved)
		*size = lines_write(places, now.count, text);
	bool same = moved;
	for (size_t i = 0; same && i < now.count; i++)
		same = places[i]->hash == before.of[i].hash;
	free(places);
	free(before.of);
	free(now.of);
	free(words.of);
	free(copy);
	return same;
}
