/* SPDX-License-Identifier: BSD-3-Clause */
/* A stencil that chooses its tile while it runs: cc -O2 stencil.c -lsweetspot -lm && sweetspot tune -- ./a.out [SIZE]
 * [STEPS] The program's own tile, 4 x 4, has more loops than work. Wide tiles are the best, whatever their height. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sweetspot.h>

static void tile(const double *from, double *to, size_t size, size_t row, size_t column, size_t rows, size_t columns) {
	size_t last = row + rows < size - 1 ? row + rows : size - 1,
		   end = column + columns < size - 1 ? column + columns : size - 1;
	for (size_t i = row; i < last; i++)
		for (size_t k = column; k < end; k++)
			to[i * size + k] = 0.25 * (from[(i - 1) * size + k] + from[(i + 1) * size + k] + from[i * size + k - 1] +
			                           from[i * size + k + 1]);
}

static void step(const double *from, double *to, size_t size, size_t rows, size_t columns) {
	for (size_t i = 1; i < size - 1; i += rows)
		for (size_t k = 1; k < size - 1; k += columns)
			tile(from, to, size, i, k, rows, columns);
}

int main(int argc, char **argv) {
	static const long long sizes[] = {1, 2, 4, 16, 64, 256, 1024};
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 256;
	int steps = argc > 2 ? atoi(argv[2]) : 3000;
	double *grids[2] = {calloc(size * size, sizeof(double)), calloc(size * size, sizeof(double))};
	if (size < 3 || !grids[0] || !grids[1])
		return 1;
	sweetspot_context *context = sweetspot_context_open("stencil");
	sweetspot_context_int(context, "rows", sizes, 7, 4);
	sweetspot_context_int(context, "columns", sizes, 7, 4);
	for (size_t i = 0; i < size; i++)
		grids[0][i] = grids[1][i] = 1;
	for (int i = 0; i < steps; i++) {
		struct sweetspot_value n = {"n", (double)size, NULL};
		struct sweetspot_choice choice;
		sweetspot_choose(context, &n, 1, &choice);
		step(grids[i % 2], grids[1 - i % 2], size, (size_t)sweetspot_chosen_int(&choice, "rows"),
		     (size_t)sweetspot_chosen_int(&choice, "columns"));
		sweetspot_report(&choice, NAN);
	}
	printf("%.12g\n", grids[steps % 2][size + size / 2]);
	return 0;
}
