/* SPDX-License-Identifier: BSD-3-Clause */
/* A sparse product that chooses its format while it runs: cc -O2 sparse.c -lsweetspot -lm && sweetspot tune -- ./a.out
 * [ROWS] [STEPS] The same matrix is kept as a list of entries, one diagonal after the other, and by rows. The list,
 * which is the default, reads and writes the whole result for each diagonal; by rows, a sum stays in a register. By
 * rows is the best for every size. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sweetspot.h>

enum { BAND = 7 };

static void by_entries(const double *x, double *y, size_t rows, const size_t *row, const size_t *column) {
	memset(y, 0, rows * sizeof *y);
	for (size_t i = 0; i < rows * BAND; i++)
		y[row[i]] += x[column[i]] / BAND;
}

static void by_rows(const double *x, double *y, size_t rows, const size_t *column) {
	for (size_t i = 0; i < rows; i++) {
		double sum = 0;
		for (size_t k = 0; k < BAND; k++)
			sum += x[column[i * BAND + k]] / BAND;
		y[i] = sum;
	}
}

int main(int argc, char **argv) {
	static const char *const formats[] = {"entries", "rows"};
	size_t rows = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	int steps = argc > 2 ? atoi(argv[2]) : 2000;
	size_t *row = calloc(rows * BAND + 1, sizeof *row), *column = calloc(rows * BAND + 1, sizeof *column);
	size_t *listed = calloc(rows * BAND + 1, sizeof *listed);
	double *x[2] = {calloc(rows + 1, sizeof(double)), calloc(rows + 1, sizeof(double))};
	if (rows == 0 || !row || !column || !listed || !x[0] || !x[1])
		return 1;
	for (size_t i = 0; i < rows * BAND; i++) {
		row[i] = i % rows; /* of the list; the columns of both are beside each other */
		listed[i] = (i % rows + i / rows + rows - BAND / 2) % rows;
		column[i] = (i / BAND + i % BAND + rows - BAND / 2) % rows;
	}
	x[0][0] = 1;
	sweetspot_context *context = sweetspot_context_open("sparse");
	sweetspot_context_word(context, "format", formats, 2, "entries");
	for (int i = 0; i < steps; i++) {
		struct sweetspot_value n = {"rows", (double)rows, NULL};
		struct sweetspot_choice choice;
		sweetspot_choose(context, &n, 1, &choice);
		if (strcmp(sweetspot_chosen_word(&choice, "format"), "rows") == 0)
			by_rows(x[i % 2], x[1 - i % 2], rows, column);
		else
			by_entries(x[i % 2], x[1 - i % 2], rows, row, listed);
		sweetspot_report(&choice, NAN);
	}
	printf("%.12g\n", x[steps % 2][0]);
	return 0;
}
