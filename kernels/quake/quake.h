/* SPDX-License-Identifier: BSD-3-Clause */
/* Earthquakes as a cellular automaton: n x n cells that hold energy (Burridge and Knopoff, "Model and theoretical
 * seismicity", 1967), in the form of a course project of the University of Bologna (High Performance Computing,
 * 2018/19). A step, all of it in float:
 *     1. every cell gets QUAKE_EDELTA;
 *     2. the cells above QUAKE_EMAX are counted: they fire;
 *     3. a cell gets QUAKE_FDELTA from each of its four neighbours that fires; is it above QUAKE_EMAX then, it loses
 *        QUAKE_EMAX, once;
 *     4. the mean energy is taken.
 * The result of 3. depends on how many neighbours fire, not on the order in which they are added, and adding 0 changes
 * nothing: so all variants give the same bits. The mean is a sum in another order and only close. */
#ifndef KERNELS_QUAKE_QUAKE_H
#define KERNELS_QUAKE_QUAKE_H
#include <stdbool.h>

#include "kernels/count.h"

#define QUAKE_EMAX      4.0f
#define QUAKE_EDELTA    1e-4f
#define QUAKE_FDELTA    (QUAKE_EMAX / 4)
#define QUAKE_TOLERANCE 1e-5 /* of the mean, relative */

enum { QUAKE_N_MAX = 16384, QUAKE_STEPS_MAX = 1000000, QUAKE_ENERGY_MAX = 1000 };
enum { QUAKE_DEPTH_MAX = 16, QUAKE_BLOCK_MAX = QUAKE_N_MAX };
enum { QUAKE_CHUNK = 64 /* cells */, QUAKE_LINE = 64 /* bytes */ };

/* The order is that of the kernel's events. */
enum { QUAKE_CELL_UPDATES, QUAKE_CHUNKS_SKIPPED };

/* The expected result of a run: computed at the first verification, then kept. */
struct quake_answer {
	float *cells;
	double *counts, *means;    /* of each step */
	double released, received; /* how often QUAKE_EMAX was lost and QUAKE_FDELTA was got, in all steps */
};

struct quake_input {
	size_t n;
	int64_t steps;
	float *cells; /* n * n, at the start */
	struct quake_answer answer;
};

enum quake_border { QUAKE_BRANCHES, QUAKE_HALO };
enum quake_reduction { QUAKE_CLAUSE, QUAKE_ATOMIC, QUAKE_CRITICAL };

/* Result of one step, or a part of it. */
struct quake_tally {
	int64_t count;
	double energy;
};

/* Two grids with a border of zeros, as rows of whole cache lines: a line that ends with the left border, the cells,
 * padded with zeros to whole chunks, and at least one line that begins with the right border and holds the row's
 * alarms: a byte for each chunk, not 0 if a cell of the chunk fires in the coming step. Alarms before the first and
 * after the last chunk are 0. */
struct quake_state {
	const struct quake_variant *variant;
	const struct quake_isa *isa; /* of the variants that have alarms */
	struct quake_input *input;   /* not owned */
	enum quake_border border;
	enum quake_reduction reduction;
	bool skip;           /* chunks without an alarm around are only charged */
	size_t depth, block; /* temporal: steps in a pass, rows in a band */
	int threads;
	size_t columns, stride; /* of a row: cells with the padding; bytes from one to the next */
	unsigned char *grid[2]; /* the first cell of each */
	unsigned char *rings;   /* temporal: the rows between the first and the last step of a pass, for each thread */
	unsigned char *memory;
	size_t bytes, ring_bytes;
	int now;                        /* the grid with the result */
	int32_t valid[2 * QUAKE_CHUNK]; /* all bits of the cells that are in the grid, in a full and in the last chunk */
	double *counts, *means;         /* of each step */
	int64_t *events;                /* ss_call's */
};

struct quake_variant {
	const char *name;
	bool bands; /* works on `block` rows at a time */
	void (*run)(struct quake_state *s);
};
extern const struct quake_variant quake_serial, quake_rows, quake_collapse, quake_fused, quake_temporal;
extern const struct quake_variant quake_serial_counted, quake_rows_counted, quake_collapse_counted;

/* A row of one step, for one instruction set. Rows hold energies after 1., so the step is 2. to 4. and the 1. of the
 * step to come, with `delta`, which is 0 in the last. */
struct quake_isa {
	const char *name;
	bool (*usable)(void);
	void (*charge)(const struct quake_state *s, float *row); /* the first 1. */
	void (*step)(const struct quake_state *s, const float *const from[3], float *to, float delta,
	             struct quake_tally *tally);
};
/* simd.c: best first, the last one usable everywhere, ends with a NULL name. */
extern const struct quake_isa quake_isas[], quake_isas_counted[];
static inline const struct quake_isa *quake_isa_best(void) {
	const struct quake_isa *isa = quake_isas;
	while (!isa->usable())
		isa++;
	return isa;
}

/* row may be -1 and n: zeros */
static inline float *quake_row(const struct quake_state *s, int64_t grid, ptrdiff_t row) {
	return (float *)(void *)(s->grid[grid & 1] + row * (ptrdiff_t)s->stride);
}

static inline uint8_t *quake_alarms(const struct quake_state *s, const float *row) {
	return (uint8_t *)(uintptr_t)(row + s->columns) + 8;
}

/* The new value of cell j of a row; the rows of the neighbours may be the border, or NULL beyond it. */
static inline float quake_cell_halo(const float *above, const float *row, const float *below, ptrdiff_t j) {
	float energy = row[j];
	energy += row[j - 1] > QUAKE_EMAX ? QUAKE_FDELTA : 0;
	energy += row[j + 1] > QUAKE_EMAX ? QUAKE_FDELTA : 0;
	energy += above[j] > QUAKE_EMAX ? QUAKE_FDELTA : 0;
	energy += below[j] > QUAKE_EMAX ? QUAKE_FDELTA : 0;
	return energy - (energy > QUAKE_EMAX ? QUAKE_EMAX : 0);
}

static inline float quake_cell_branches(const float *above, const float *row, const float *below, ptrdiff_t j,
                                        ptrdiff_t n) {
	float energy = row[j];
	if (j > 0 && row[j - 1] > QUAKE_EMAX)
		energy += QUAKE_FDELTA;
	if (j < n - 1 && row[j + 1] > QUAKE_EMAX)
		energy += QUAKE_FDELTA;
	if (above && above[j] > QUAKE_EMAX)
		energy += QUAKE_FDELTA;
	if (below && below[j] > QUAKE_EMAX)
		energy += QUAKE_FDELTA;
	return energy > QUAKE_EMAX ? energy - QUAKE_EMAX : energy;
}

/* quake.c: shared with the table of another device. The state that verify, figures and series get begins with a
 * struct quake_state, of which they read input, counts, means, now, grid and stride. */
enum { QUAKE_N, QUAKE_STEPS, QUAKE_ENERGY }; /* places in the problem */
extern const struct ss_param quake_problem[];
enum ss_status quake_open(void *input, const struct ss_call *call);
enum ss_status quake_verify(void *state, const struct ss_call *call);
struct ss_work quake_work(const struct ss_call *call);
size_t quake_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out, size_t most);
size_t quake_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most);
void quake_close(void *input);

/* quake.c: adds a thread's part of a step; others may be adding theirs. */
void quake_tally_add(const struct quake_state *s, int64_t step, const struct quake_tally *tally);

/* The answer by another method, serially; false without memory. call: NULL computes it in any case. */
bool quake_oracle(struct quake_input *input, const struct ss_call *call);
#endif
