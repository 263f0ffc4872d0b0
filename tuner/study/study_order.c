/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/study/study_impl.h"

struct by_place {
	const struct study_order *order;
	size_t by; /* SIZE_MAX: none */
};

int study_order_compare(const struct study_order *order, size_t a, size_t b) {
	const struct study *study = order->study;
	for (size_t c = 0; c < study->column_count; c++) {
		int x = study->rows[a].level[c], y = study->rows[b].level[c];
		if (!order->skip[c] && x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static int by_place(const void *a, const void *b, void *ctx) {
	const struct by_place *by = ctx;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order = study_order_compare(by->order, x, y);
	if (order || by->by == SIZE_MAX)
		return order ? order : (x > y) - (x < y);
	int p = by->order->study->rows[x].level[by->by], q = by->order->study->rows[y].level[by->by];
	return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

void study_order_sort(const struct study_order *order, size_t *rows, size_t count, size_t by) {
	struct by_place ctx = {order, by};
	qsort_r(rows, count, sizeof *rows, by_place, &ctx);
}

void study_dependent(const struct study *study, size_t column, bool *dependent) {
	size_t levels = study->columns[column].levels, columns = study->column_count;
	bool *met = mem_alloc(levels + 1, sizeof *met), *present = mem_alloc(columns * levels + 1, sizeof *present);
	for (size_t r = 0; r < study->row_count; r++) {
		const int *level = study->rows[r].level;
		if (level[column] == STUDY_ABSENT)
			continue;
		met[level[column]] = true;
		for (size_t c = 0; c < columns; c++)
			if (level[c] != STUDY_ABSENT)
				present[c * levels + (size_t)level[column]] = true;
	}
	for (size_t c = 0; c < columns; c++) {
		bool somewhere = false, nowhere = false;
		for (size_t l = 0; l < levels; l++) {
			somewhere = somewhere || present[c * levels + l];
			nowhere = nowhere || (met[l] && !present[c * levels + l]);
		}
		dependent[c] = c != column && somewhere && nowhere;
	}
	free(met);
	free(present);
}
