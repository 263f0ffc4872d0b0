/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market, coordinate format: Boisvert, Pozo and Remington, "The Matrix Market exchange formats: initial design",
 * 1996. The pattern of a square matrix is the graph: rows and columns are vertices from 1, values are skipped, and both
 * triangles count. */
#include <string.h>
#include <strings.h>

#include "kernels/cc/cc.h"

struct header {
	int64_t n, entries;
	int values; /* numbers after row and column */
};

struct word {
	const char *name;
	int values;
};

/* Reads one of the words; `numbers` gets its values. */
static enum ss_status word_read(struct cc_text *text, const char *what, const struct word *words, int *values) {
	cc_text_blank(text);
	size_t size = strcspn(text->at, " \t\r\n");
	for (const struct word *word = words; word->name; word++)
		if (strlen(word->name) == size && strncasecmp(word->name, text->at, size) == 0) {
			text->at += size;
			*values = word->values;
			return SS_OK;
		}
	return cc_text_wrong(text, "%s must be %s%s", what, words->name, words[1].name ? " or another known word" : "");
}

static enum ss_status banner_read(struct cc_text *text, struct header *h) {
	static const struct word banner[] = {{"%%MatrixMarket", 0}, {NULL, 0}}, object[] = {{"matrix", 0}, {NULL, 0}};
	static const struct word format[] = {{"coordinate", 0}, {NULL, 0}};
	static const struct word field[] = {{"pattern", 0}, {"real", 1},    {"integer", 1},
	                                    {"double", 1},  {"complex", 2}, {NULL, 0}};
	static const struct word symmetry[] = {
		{"general", 0}, {"symmetric", 0}, {"skew-symmetric", 0}, {"hermitian", 0}, {NULL, 0}};
	int none;
	enum ss_status status = word_read(text, "the first word", banner, &none);
	status = status == SS_OK ? word_read(text, "the object", object, &none) : status;
	status = status == SS_OK ? word_read(text, "the format", format, &none) : status;
	status = status == SS_OK ? word_read(text, "the field", field, &h->values) : status;
	status = status == SS_OK ? word_read(text, "the symmetry", symmetry, &none) : status;
	return status == SS_OK ? cc_text_end(text) : status;
}

/* The first line from here on that is neither blank nor a comment. */
static bool line_find(struct cc_text *text) {
	for (; text->at < text->end; cc_text_next(text))
		if (!cc_text_comment(text, "%") && !cc_text_blank(text))
			return true;
	return false;
}

/* Vertices without edges cost no bytes, so a few more vertices than bytes are believed. */
enum { VERTICES_PER_BYTE = 64 };

static enum ss_status size_read(struct cc_text *text, struct header *h) {
	int64_t columns = 0;
	cc_text_next(text);
	if (!line_find(text))
		return cc_file_wrong(text, "no line with the numbers of rows, columns and entries");
	enum ss_status status = cc_text_number(text, "number of rows", CC_FILE_N_MAX, &h->n);
	status = status == SS_OK ? cc_text_number(text, "number of columns", CC_FILE_N_MAX, &columns) : status;
	status = status == SS_OK ? cc_text_number(text, "number of entries", INT64_MAX, &h->entries) : status;
	status = status == SS_OK ? cc_text_end(text) : status;
	if (status == SS_OK && h->n != columns)
		return cc_text_wrong(text, "%lld rows and %lld columns: the matrix of a graph is square", (long long)h->n,
		                     (long long)columns);
	if (status == SS_OK && (uint64_t)h->n / VERTICES_PER_BYTE > text->size)
		return cc_text_wrong(text, "%lld vertices in a file of %zu bytes", (long long)h->n, text->size);
	return status;
}

static enum ss_status vertex_read(struct cc_text *text, const struct header *h, const char *what, int32_t *vertex) {
	int64_t number = 0;
	enum ss_status status = cc_text_number(text, what, INT64_MAX, &number);
	if (status == SS_OK && (number < 1 || number > h->n))
		return cc_text_wrong(text, "%s %lld, but there are %lld", what, (long long)number, (long long)h->n);
	*vertex = (int32_t)(number - 1);
	return status;
}

static enum ss_status entry_read(struct cc_text *text, const struct header *h, struct cc_pairs *pairs) {
	int32_t row = 0, column = 0;
	enum ss_status status = vertex_read(text, h, "row", &row);
	status = status == SS_OK ? vertex_read(text, h, "column", &column) : status;
	for (int i = 0; status == SS_OK && i < h->values; i++)
		status = cc_text_real(text, "value");
	status = status == SS_OK ? cc_text_end(text) : status;
	if (status == SS_OK && !cc_pairs_add(pairs, row, column))
		return SS_NOMEM;
	return status;
}

static enum ss_status matrix_read(struct cc_text *text, struct cc_pairs *pairs) {
	struct header h = {0};
	enum ss_status status = banner_read(text, &h);
	if (status == SS_OK)
		status = size_read(text, &h);
	pairs->n = (int32_t)h.n;
	for (cc_text_next(text); status == SS_OK && line_find(text); cc_text_next(text))
		status = (int64_t)pairs->count < h.entries
		             ? entry_read(text, &h, pairs)
		             : cc_text_wrong(text, "more than the %lld entries of the header", (long long)h.entries);
	if (status == SS_OK && (int64_t)pairs->count != h.entries)
		return cc_file_wrong(text, "ends after entry %zu of %lld", pairs->count, (long long)h.entries);
	return status;
}

const struct cc_format cc_matrix_market = {
	.name = "Matrix Market", .extension = ".mtx", .magic = "%%MatrixMarket", .read = matrix_read};
