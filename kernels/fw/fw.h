/* SPDX-License-Identifier: BSD-3-Clause */
/* Floyd-Warshall: shortest paths between all pairs of vertices. Shared by the variants; nothing outside kernels/fw and
 * its test includes it.
 *
 * Distances are int32 or float. Weights are positive whole numbers.
 * int32: "no path" is FW_INF. Twice FW_INF still fits, and because a cell starts at FW_INF or below and is only ever
 * lowered by min, no sum overflows, and one with FW_INF in it never replaces anything. Every shortest path must stay
 * below FW_INF.
 * float: "no path" is infinity. Lengths up to FW_FLOAT_EXACT are exact, so both types give the same distances.
 *
 * The matrix is kept in tiles; inside a tile the columns are kept in panels, one after the other; a panel is row-major.
 * Tiles are one after the other in memory, or parts of the row-major matrix (then one panel wide, and none is padded).
 * The lines of the naive variant are tiles of 1 x n. Padding at the edge of the others means "no path". */
#ifndef KERNELS_FW_FW_H
#define KERNELS_FW_FW_H
#include <stdbool.h>
#include <string.h>

#include "kernels/count.h"

#define FW_INF ((int32_t)(INT32_MAX / 2))

enum { FW_N_MAX = 32768, FW_DEGREE_MAX = 64, FW_WEIGHT_MAX = 100 };
enum { FW_BLOCK_MIN = 4, FW_BLOCK_MAX = 4096, FW_PANEL = 16, FW_CELL = 4, FW_FLOAT_EXACT = 1 << 24 };
_Static_assert(sizeof(int32_t) == FW_CELL && sizeof(float) == FW_CELL, "both types take the same room");
_Static_assert((FW_N_MAX - 1) * FW_WEIGHT_MAX <= FW_FLOAT_EXACT, "every shortest path is exact in a float");

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

/* Lines are row-major, 1 x n; rows are row-major, tiled. */
enum fw_form { FW_LINES, FW_ROWS, FW_TILES, FW_PANELS };
enum fw_type { FW_INT32, FW_FLOAT, FW_TYPES };

/* The order is that of the kernel's events. */
enum { FW_TILE_UPDATES, FW_RELAXATIONS };

struct fw_state;

struct fw_variant {
	const char *name;
	enum fw_form form; /* FW_TILES: or FW_ROWS, as the user likes */
	void (*run)(const struct fw_state *s);
};

/* Operands of a plain tile update; `own`: c is among its sources row by row. */
struct fw_extents {
	size_t pitch; /* from a row to the next, in cells */
	int rows, columns, inner, own;
};

/* The inner loops for one type, compiled for one instruction set. */
struct fw_ops {
	/* A row through one vertex: c = min(c, a + b), where a is one cell. The rows must differ. */
	void (*row)(void *c, const void *b, const void *a, int count);
	/* c = min(c, a (x) b), in plain C. Right in place: on the diagonal, row and column. */
	void (*tile)(void *c, const void *a, const void *b, const struct fw_extents *e);
	/* The same on tiles in panels, where extents are multiples of FW_PANEL; c may be a or b when the other is closed.
	 */
	void (*relax)(void *c, const void *a, const void *b, int block, int rows, int columns, int inner);
	void (*close)(void *d, int block, int size); /* shortest paths inside a diagonal tile in panels */
};

struct fw_isa {
	const char *name;
	int lanes; /* cells in a vector */
	bool (*usable)(void);
	const struct fw_ops *ops; /* by type */
};

struct fw_state {
	struct fw_input *input;
	const struct fw_variant *variant;
	const struct fw_isa *isa;
	const struct fw_ops *ops;
	enum fw_type type;
	enum fw_form form;
	void *d;
	size_t bytes;
	int n;
	int rows, columns;                         /* of a tile; equal but for FW_LINES */
	int down, across;                          /* tiles */
	int panel;                                 /* columns of a panel; divides `columns` */
	size_t pitch;                              /* from a row of a panel to the next, in cells, as are the following */
	size_t panel_step, down_step, across_step; /* from a panel or a tile to the next */
	int64_t *events;                           /* ss_call's */
};

static inline void *fw_at(const struct fw_state *s, size_t cell) {
	return (char *)s->d + cell * FW_CELL;
}

static inline void *fw_tile(const struct fw_state *s, int i, int j) {
	return fw_at(s, (size_t)i * s->down_step + (size_t)j * s->across_step);
}

static inline void *fw_cell(const struct fw_state *s, int i, int j) {
	int r = i % s->rows, c = j % s->columns;
	return fw_at(s, (size_t)(i / s->rows) * s->down_step + (size_t)(j / s->columns) * s->across_step +
	                    (size_t)(c / s->panel) * s->panel_step + (size_t)r * s->pitch + (size_t)(c % s->panel));
}

/* Vertices in tile t of a square tiling, without the padding. */
static inline int fw_extent(const struct fw_state *s, int t) {
	int left = s->n - t * s->rows;
	return left < s->rows ? left : s->rows;
}

/* Deterministic in (n, degree, seed). What it allocates belongs to the input; fw_graph_free takes a half-built
 * one, too. */
enum ss_status fw_graph_random(struct fw_input *input, int n, int degree, uint64_t seed);
void fw_graph_free(void *input);

/* Fills input->distances unless it is there. call: NULL computes it in any case. */
enum ss_status fw_oracle(struct fw_input *input, const struct ss_call *call);
/* Row i of `distances`: from sources[i], or from i where sources is NULL. */
enum ss_status fw_oracle_rows(const struct fw_input *input, const int *sources, int count, int32_t *distances);

/* tile.c: tile (i, j) through the vertices of tile k, in plain C. Right in place: on the diagonal, row and column. */
void fw_tile_update(const struct fw_state *s, int i, int j, int k);

void fw_tile_update_counted(const struct fw_state *s, int i, int j, int k);
/* The blocked algorithm over any tile update. */
typedef void fw_update(const struct fw_state *s, int i, int j, int k);
void fw_blocks_run(const struct fw_state *s, fw_update *update);

/* isa.c: best first, the last one usable everywhere, ends with a NULL name. */
extern const struct fw_isa fw_isas[];
/* The set of that name, or the best for "auto"; NULL when this CPU has none of that name. */
static inline const struct fw_isa *fw_isa_find(const char *name) {
	int any = strcmp(name, "auto") == 0;
	for (const struct fw_isa *isa = fw_isas; isa->name; isa++)
		if ((any || strcmp(isa->name, name) == 0) && isa->usable())
			return isa;
	return NULL;
}

extern const struct fw_variant fw_naive, fw_tiled, fw_tasks, fw_tasks_inner, fw_simd, fw_inner_loops, fw_serial;
extern const struct fw_variant fw_naive_counted, fw_tiled_counted, fw_tasks_counted, fw_tasks_inner_counted,
	fw_simd_counted, fw_inner_loops_counted, fw_serial_counted;
#endif
