/* SPDX-License-Identifier: BSD-3-Clause */
/* The serialized graph (.sg) of the GAP Benchmark Suite: Beamer, Asanovic and Patterson, 2015, src/reader.h and
 * src/writer.h. One byte (directed or not), int64 edge ends, int64 vertices, an int64 offset for each row and for
 * the end of the last, an int32 for each neighbour, from 0; if directed, offsets and neighbours again for the
 * incoming edges. Everything is in the byte order of the machine that wrote it. */
#include <string.h>

#include "kernels/cc/cc.h"

enum { HEADER = 1 + 8 + 8 };

struct rows {
	int64_t n, ends;
	const char *first, *target;
};

static int64_t offset_at(const struct rows *rows, int64_t v) {
	int64_t offset;
	memcpy(&offset, rows->first + 8 * v, sizeof offset);
	return offset;
}

static bool sizes_fit(const struct rows *rows, size_t left) {
	if (rows->n < 0 || rows->n > CC_FILE_N_MAX || (uint64_t)rows->n + 1 > left / 8)
		return false;
	left -= 8 * ((size_t)rows->n + 1);
	return left % 4 == 0 && rows->ends >= 0 && (uint64_t)rows->ends == left / 4;
}

/* The file must be exactly as long as its header says. */
static enum ss_status header_read(const struct cc_text *text, struct rows *rows) {
	if (text->size < HEADER || (unsigned char)text->at[0] > 1)
		return cc_file_wrong(text, "no header of a serialized graph");
	size_t left = text->size - HEADER;
	bool directed = text->at[0] == 1;
	memcpy(&rows->ends, text->at + 1, sizeof rows->ends);
	memcpy(&rows->n, text->at + 9, sizeof rows->n);
	if ((directed && left % 2) || !sizes_fit(rows, directed ? left / 2 : left))
		return cc_file_wrong(text, "%lld vertices and %lld ends of edges do not make a file of %zu bytes",
		                     (long long)rows->n, (long long)rows->ends, text->size);
	rows->first = text->at + HEADER;
	rows->target = rows->first + 8 * (rows->n + 1);
	return SS_OK;
}

static enum ss_status offsets_check(const struct cc_text *text, const struct rows *rows) {
	int64_t before = 0;
	for (int64_t v = 0; v <= rows->n; v++) {
		int64_t offset = offset_at(rows, v);
		if (offset < before || offset > rows->ends || (v == 0 && offset != 0))
			return cc_file_wrong(text, "offset %lld of vertex %lld is out of order", (long long)offset, (long long)v);
		before = offset;
	}
	return before == rows->ends ? SS_OK : cc_file_wrong(text, "the last row ends before the file does");
}

static enum ss_status row_read(const struct cc_text *text, const struct rows *rows, int32_t v, struct cc_pairs *pairs) {
	int64_t end = offset_at(rows, v + 1);
	for (int64_t e = offset_at(rows, v); e < end; e++) {
		int32_t target;
		memcpy(&target, rows->target + 4 * e, sizeof target);
		if (target < 0 || target >= rows->n)
			return cc_file_wrong(text, "neighbour %d of vertex %d, but there are %lld vertices from 0", (int)target,
			                     (int)v, (long long)rows->n);
		if (!cc_pairs_add(pairs, v, target))
			return SS_NOMEM;
	}
	return SS_OK;
}

static enum ss_status serialized_read(struct cc_text *text, struct cc_pairs *pairs) {
	struct rows rows = {0};
	enum ss_status status = header_read(text, &rows);
	if (status == SS_OK)
		status = offsets_check(text, &rows);
	pairs->n = (int32_t)rows.n;
	for (int32_t v = 0; status == SS_OK && v < rows.n; v++)
		status = row_read(text, &rows, v, pairs);
	return status;
}

const struct cc_format cc_serialized = {.name = "GAP", .extension = ".sg", .read = serialized_read};
