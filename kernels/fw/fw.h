/* SPDX-License-Identifier: BSD-3-Clause */
/* Floyd-Warshall: shortest paths between all pairs of vertices. Shared by the variants; nothing outside kernels/fw and
 * its test includes it.
 *
 * Distances are int32. "No path" is FW_INF: twice FW_INF still fits, and because a cell starts at FW_INF or below and
 * is only ever lowered by min, a sum with FW_INF in it never replaces it. Weights must be positive and so small that
 * every shortest path stays below FW_INF.
 *
 * The matrix is kept in tiles, one after the other; inside a tile the columns are kept in panels, one after the other;
 * a panel is row-major. Rows of the whole matrix (tile 1 x n, one panel), plain tiles (one panel) and the panels of the
 * SIMD variant are the same formula. Tiles at the edge are padded with FW_INF. */
#ifndef KERNELS_FW_FW_H
#define KERNELS_FW_FW_H
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernel.h"

#define FW_INF ((int32_t)(INT32_MAX / 2))

enum { FW_N_MAX = 32768, FW_DEGREE_MAX = 64, FW_WEIGHT_MAX = 100 };
enum { FW_BLOCK_MIN = 4, FW_BLOCK_MAX = 4096, FW_PANEL = 16 };

struct fw_edge {
	int32_t target, weight;
};

/* A directed graph in compressed rows, and the answer: computed at the first verification, then kept. */
struct fw_input {
	int n;
	size_t *first; /* n + 1: the edges of i are first[i] .. first[i + 1] - 1 */
	struct fw_edge *edges;
	int32_t *distances; /* n * n, row-major; NULL until needed */
};

enum fw_form { FW_ROWS, FW_TILES, FW_PANELS };

struct fw_state;

struct fw_variant {
	const char *name, *summary;
	enum fw_form form;
	void (*run)(const struct fw_state *s);
};

/* The tile kernels of one instruction set, on tiles in panels; extents are multiples of FW_PANEL. */
struct fw_isa {
	const char *name;
	int (*usable)(void);
	/* c = min(c, a (x) b) over rows x columns x inner; c may be a or b when the other one is closed */
	void (*relax)(int32_t *c, const int32_t *a, const int32_t *b, int block, int rows, int columns, int inner);
	void (*close)(int32_t *d, int block, int size); /* shortest paths inside a diagonal tile */
};

struct fw_state {
	struct fw_input *input;
	const struct fw_variant *variant;
	const struct fw_isa *isa; /* FW_PANELS only */
	int32_t *d;
	size_t bytes;
	int n;
	int rows, columns; /* of a tile; equal but for FW_ROWS */
	int panel;         /* columns of a panel; divides `columns` */
	int down, across;  /* tiles */
};

static inline int32_t *fw_tile(const struct fw_state *s, int i, int j) {
	return s->d + ((size_t)i * (size_t)s->across + (size_t)j) * (size_t)s->rows * (size_t)s->columns;
}

/* Where row r, column c of a tile is. */
static inline size_t fw_offset(const struct fw_state *s, int r, int c) {
	return (size_t)(c - c % s->panel) * (size_t)s->rows + (size_t)r * (size_t)s->panel + (size_t)(c % s->panel);
}

static inline int32_t *fw_cell(const struct fw_state *s, int i, int j) {
	return fw_tile(s, i / s->rows, j / s->columns) + fw_offset(s, i % s->rows, j % s->columns);
}

/* Vertices in tile t of a square tiling, without the padding. */
static inline int fw_extent(const struct fw_state *s, int t) {
	int left = s->n - t * s->rows;
	return left < s->rows ? left : s->rows;
}

/* One row through one vertex: c = min(c, a + b). The rows must differ. */
static inline void fw_row_relax(int32_t *restrict c, const int32_t *restrict b, int32_t a, int count) {
	for (int j = 0; j < count; j++) {
		int32_t through = a + b[j];
		c[j] = through < c[j] ? through : c[j];
	}
}

/* graph.c: deterministic in (n, degree, seed). What it allocates belongs to the input; fw_graph_free takes a half-built
 * one, too. */
enum ss_status fw_graph_random(struct fw_input *input, int n, int degree, uint64_t seed);
void fw_graph_free(struct fw_input *input);
/* Writes the graph into the matrix, each tile by the thread that schedule(runtime) gives it. */
void fw_graph_fill(const struct fw_state *s);

/* dijkstra.c: fills input->distances unless it is there. */
enum ss_status fw_oracle(struct fw_input *input);

/* layout.c: the matrix of a variant. SS_NOMEM, or SS_INVALID for a block that the variant does not take. */
enum ss_status fw_layout_new(struct fw_state *s, const struct fw_variant *variant, int n, int block);
void fw_layout_free(struct fw_state *s);

/* tile.c: tile (i, j) through the vertices of tile k, in plain C. Right in place: on the diagonal, row and column. */
void fw_tile_update(const struct fw_state *s, int i, int j, int k);

/* blocks.c: the blocked algorithm over any tile update. */
typedef void fw_update(const struct fw_state *s, int i, int j, int k);
void fw_blocks_run(const struct fw_state *s, fw_update *update);

/* cube.c: the recursion. A cube is tiles i.., j.., k.. of `size` (a power of two) each way; parts outside the matrix
 * are left out. */
struct fw_cube {
	int i, j, k, size;
};
enum { FW_CUBE_STEPS = 6, FW_CUBE_PARTS = 4 };
struct fw_cube fw_cube_whole(const struct fw_state *s);
/* The parts that step 0 .. FW_CUBE_STEPS - 1 works on: they may run at the same time, the steps run in order. */
int fw_cube_split(const struct fw_state *s, struct fw_cube cube, int step, struct fw_cube part[FW_CUBE_PARTS]);

/* simd.c: best first, the last one usable everywhere, ends with a NULL name. */
extern const struct fw_isa fw_isas[];
const struct fw_isa *fw_isa_best(void);

extern const struct fw_variant fw_naive, fw_tiled, fw_tasks, fw_tasks_inner, fw_simd;

#endif
