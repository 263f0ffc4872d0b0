/* SPDX-License-Identifier: BSD-3-Clause */
/* One sweep of a five-point stencil (Jacobi) over an n by n grid, in blocks. stencil.json says what is tried; the
 * macros come as -DBLOCK_ROWS=.. from there. What is not given has the value of an untuned program. */
#ifndef BLOCK_ROWS
#define BLOCK_ROWS 1024
#endif
#ifndef BLOCK_COLUMNS
#define BLOCK_COLUMNS 1024
#endif
#ifndef UNROLL
#define UNROLL 1
#endif

#define TEXT(x)   #x
#define PRAGMA(x) _Pragma(TEXT(x))

static inline int min(int a, int b) {
	return a < b ? a : b;
}

void stencil(double *restrict out, const double *restrict in, int n) {
#pragma omp parallel for collapse(2) schedule(static)
	for (int rows = 1; rows < n - 1; rows += BLOCK_ROWS) {
		for (int columns = 1; columns < n - 1; columns += BLOCK_COLUMNS) {
			for (int i = rows; i < min(rows + BLOCK_ROWS, n - 1); i++) {
				const double *row = in + (long)i * n;
				int end = min(columns + BLOCK_COLUMNS, n - 1);
				PRAGMA(GCC unroll UNROLL)
				for (int j = columns; j < end; j++)
					out[(long)i * n + j] = 0.25 * (row[j - 1] + row[j + 1] + row[j - n] + row[j + n]);
			}
		}
	}
}
