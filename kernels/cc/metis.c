/* SPDX-License-Identifier: BSD-3-Clause */
/* METIS (also Chaco, KaHIP, DIMACS 10): the header `n m [fmt [ncon]]`, then a line for each vertex with its neighbours,
 * numbered from 1; '%' begins a comment line, a blank line is a vertex without neighbours. The digits of fmt say
 * whether vertices have sizes and weights (ncon of them) and edges weights; those are skipped. "METIS: a software
 * package for partitioning unstructured graphs", manual, 4.1.1. */
#include "kernels/cc/cc.h"

struct header {
	int64_t n, m;
	int64_t skipped; /* numbers before the neighbours: size and weights of the vertex */
	bool weighted;   /* a number after each neighbour */
};

static bool comments_skip(struct cc_text *text) {
	while (text->at < text->end && cc_text_comment(text, "%"))
		cc_text_next(text);
	return text->at < text->end;
}

static enum ss_status format_read(struct cc_text *text, struct header *h) {
	int64_t format = 0, weights = 0;
	enum ss_status status = cc_text_number(text, "fmt", 111, &format);
	if (status != SS_OK)
		return status;
	if (format % 10 > 1 || format / 10 % 10 > 1)
		return cc_text_wrong(text, "fmt is %d; its digits must be 0 or 1", (int)format);
	weights = format / 10 % 10;
	if (!cc_text_blank(text)) {
		status = cc_text_number(text, "number of weights", 1000, &weights);
		weights = format / 10 % 10 ? weights : 0;
	}
	h->skipped = format / 100 + weights;
	h->weighted = format % 10;
	return status == SS_OK ? cc_text_end(text) : status;
}

static enum ss_status header_read(struct cc_text *text, struct header *h) {
	if (!comments_skip(text))
		return cc_file_wrong(text, "no line with the numbers of vertices and edges");
	enum ss_status status = cc_text_number(text, "number of vertices", CC_FILE_N_MAX, &h->n);
	if (status == SS_OK)
		status = cc_text_number(text, "number of edges", INT64_MAX / 4, &h->m);
	if (status == SS_OK && !cc_text_blank(text))
		status = format_read(text, h);
	cc_text_next(text);
	return status;
}

static enum ss_status neighbour_read(struct cc_text *text, const struct header *h, int64_t *neighbour) {
	enum ss_status status = cc_text_number(text, "neighbour", INT64_MAX, neighbour);
	if (status == SS_OK && (*neighbour < 1 || *neighbour > h->n))
		return cc_text_wrong(text, "neighbour %lld, but there are %lld vertices", (long long)*neighbour,
		                     (long long)h->n);
	return status == SS_OK && h->weighted ? cc_text_real(text, "weight of an edge") : status;
}

static enum ss_status vertex_read(struct cc_text *text, const struct header *h, int32_t v, struct cc_pairs *pairs) {
	enum ss_status status = SS_OK;
	int64_t neighbour = 0;
	for (int64_t i = 0; status == SS_OK && i < h->skipped; i++)
		status = cc_text_real(text, "size or weight of a vertex");
	while (status == SS_OK && !cc_text_blank(text)) {
		status = neighbour_read(text, h, &neighbour);
		if (status == SS_OK && !cc_pairs_add(pairs, v, (int32_t)(neighbour - 1)))
			status = SS_NOMEM;
	}
	return status;
}

static enum ss_status rest_check(struct cc_text *text, const struct header *h, const struct cc_pairs *pairs) {
	for (; text->at < text->end; cc_text_next(text))
		if (!cc_text_comment(text, "%") && !cc_text_blank(text))
			return cc_text_wrong(text, "more lines than the %lld vertices of the header", (long long)h->n);
	if ((int64_t)pairs->count != 2 * h->m)
		return cc_file_wrong(text, "the header has %lld edges, so %lld neighbours, but %zu are listed", (long long)h->m,
		                     (long long)(2 * h->m), pairs->count);
	return SS_OK;
}

static enum ss_status metis_read(struct cc_text *text, struct cc_pairs *pairs) {
	struct header h = {0};
	enum ss_status status = header_read(text, &h);
	for (int64_t v = 0; status == SS_OK && v < h.n; v++) {
		if (!comments_skip(text))
			return cc_file_wrong(text, "ends after vertex %lld of %lld", (long long)v, (long long)h.n);
		status = vertex_read(text, &h, (int32_t)v, pairs);
		cc_text_next(text);
	}
	pairs->n = (int32_t)h.n;
	return status == SS_OK ? rest_check(text, &h, pairs) : status;
}

const struct cc_format cc_metis = {.name = "METIS", .extension = ".graph", .read = metis_read};
