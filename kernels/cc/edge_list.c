/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of edges, as the Stanford Network Analysis Project (SNAP) keeps them: two numbers a line, any numbers, with
 * gaps; '#' or '%' begins a comment line. Further numbers in a line (weights, times) are skipped. Vertices are what
 * occurs, in ascending order. */
#include <stdlib.h>

#include "kernels/cc/cc.h"

struct ids {
	int64_t *id; /* two for each edge */
	size_t count, room;
};

static bool id_add(struct ids *ids, int64_t id) {
	if (ids->count == ids->room) {
		size_t room = ids->room ? 2 * ids->room : 1024, bytes;
		void *larger = __builtin_mul_overflow(room, sizeof *ids->id, &bytes) ? NULL : realloc(ids->id, bytes);
		if (!larger)
			return false;
		ids->id = larger;
		ids->room = room;
	}
	ids->id[ids->count++] = id;
	return true;
}

static enum ss_status line_read(struct cc_text *text, struct ids *ids) {
	enum ss_status status = SS_OK;
	for (int end = 0; status == SS_OK && end < 2; end++) {
		int64_t id = 0;
		status = cc_text_number(text, "vertex", INT64_MAX - 1, &id);
		if (status == SS_OK && !id_add(ids, id))
			status = SS_NOMEM;
	}
	while (status == SS_OK && !cc_text_blank(text))
		status = cc_text_real(text, "the text after the edge");
	return status;
}

static int ids_compare(const void *a, const void *b) {
	const int64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Sorts and drops duplicates; returns the number left. */
static size_t ids_unique(int64_t *id, size_t count) {
	size_t kept = 0;
	qsort(id, count, sizeof *id, ids_compare);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || id[kept - 1] != id[i])
			id[kept++] = id[i];
	return kept;
}

static int32_t id_rank(const int64_t *id, size_t count, int64_t wanted) {
	size_t low = 0, high = count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (id[middle] <= wanted)
			low = middle;
		else
			high = middle;
	}
	return (int32_t)low;
}

static enum ss_status sparse_number(const struct cc_text *text, const struct ids *ids, struct cc_pairs *pairs) {
	enum ss_status status = SS_OK;
	int64_t *known = malloc((ids->count + 1) * sizeof *known);
	if (!known)
		return SS_NOMEM;
	for (size_t i = 0; i < ids->count; i++)
		known[i] = ids->id[i];
	size_t count = ids_unique(known, ids->count);
	if (count > CC_FILE_N_MAX)
		status = cc_file_wrong(text, "%zu vertices are too many", count);
	for (size_t i = 0; status == SS_OK && i < ids->count; i += 2)
		if (!cc_pairs_add(pairs, id_rank(known, count, ids->id[i]), id_rank(known, count, ids->id[i + 1])))
			status = SS_NOMEM;
	pairs->n = (int32_t)count;
	free(known);
	return status;
}

/* If the numbers are at most a few times the number of edges, a table is faster than sorting. */
static enum ss_status dense_number(const struct ids *ids, int64_t largest, struct cc_pairs *pairs) {
	enum ss_status status = SS_OK;
	int32_t *name = calloc((size_t)largest + 1, sizeof *name);
	if (!name)
		return SS_NOMEM;
	for (size_t i = 0; i < ids->count; i++)
		name[ids->id[i]] = 1;
	for (int64_t id = 0; id <= largest; id++)
		if (name[id])
			name[id] = pairs->n++;
	for (size_t i = 0; status == SS_OK && i < ids->count; i += 2)
		if (!cc_pairs_add(pairs, name[ids->id[i]], name[ids->id[i + 1]]))
			status = SS_NOMEM;
	free(name);
	return status;
}

static enum ss_status ids_number(const struct cc_text *text, const struct ids *ids, struct cc_pairs *pairs) {
	int64_t largest = 0;
	for (size_t i = 0; i < ids->count; i++)
		largest = ids->id[i] > largest ? ids->id[i] : largest;
	if (largest < CC_FILE_N_MAX && (uint64_t)largest < 8 * ids->count)
		return dense_number(ids, largest, pairs);
	return sparse_number(text, ids, pairs);
}

static enum ss_status list_read(struct cc_text *text, struct cc_pairs *pairs) {
	struct ids ids = {0};
	enum ss_status status = SS_OK;
	for (; status == SS_OK && text->at < text->end; cc_text_next(text))
		if (!cc_text_comment(text, "#%") && !cc_text_blank(text))
			status = line_read(text, &ids);
	if (status == SS_OK && ids.count == 0)
		status = cc_file_wrong(text, "no edges");
	if (status == SS_OK)
		status = ids_number(text, &ids, pairs);
	free(ids.id);
	return status;
}

const struct cc_format cc_edge_list = {.name = "edge list", .extension = "", .read = list_read};
