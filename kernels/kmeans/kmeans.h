/* SPDX-License-Identifier: BSD-3-Clause */
/* k-means: Lloyd, "Least squares quantization in PCM", 1982. In every loop each object goes to the nearest centre (of
 * equals the first), and each centre to the mean of its objects; one without objects stays. Shared by the variants;
 * nothing outside kernels/kmeans and its test includes it.
 *
 * Numbers are doubles on a grid: coordinates are multiples of 2^-12 in [0, 1), and a mean is rounded to the nearest
 * multiple of 2^-21. So every sum, product and distance has at most 53 bits and is exact, whatever the order, with and
 * without fused operations, as sum (x - c)^2 or as |c|^2 / 2 - xc; all variants must agree in every bit. Of the points
 * of the grid the rounded mean is the best, so the sum of squared distances still never rises. */
#ifndef KERNELS_KMEANS_KMEANS_H
#define KERNELS_KMEANS_KMEANS_H

#include "kernels/count.h"
#include "kernels/locks/lock.h"

/* (x - c)^2 is a multiple of 2^-42 below 1: 1024 of them have 52 bits. |c|^2 / 2 - xc has one bit more, and a sign. */
enum { KMEANS_OBJECT_BITS = 12, KMEANS_CENTRE_BITS = 21, KMEANS_COORDS_MAX = 1024 };
enum { KMEANS_N_MAX = 1 << 30, KMEANS_CLUSTERS_MAX = 4096, KMEANS_LOOPS_MAX = 1000000 };
enum { KMEANS_SIZE_MAX = 1 << 20 /* MiB */, KMEANS_BLOCK_MAX = 4096, KMEANS_THREADS_MAX = 1 << 16 };
enum { KMEANS_LINE = LOCK_LINE, KMEANS_PAGE = 4096, KMEANS_PANEL = 8 /* clusters */ };

struct kmeans_pages {
	void *at;
	size_t bytes;
};

/* The objects, row-major, and the answer: computed at the first verification, then kept. */
struct kmeans_input {
	size_t n, coords, clusters, loops;
	struct kmeans_pages pages;
	double *objects;
	int32_t *membership; /* NULL until needed */
	double *centres;     /* clusters x coords */
	int64_t *changed;    /* of each loop */
};

/* The order is that of their words in kmeans.c. */
enum kmeans_touch { KMEANS_TOUCH_SERIAL, KMEANS_TOUCH_PARALLEL, KMEANS_TOUCH_OBJECTS };
enum kmeans_pad { KMEANS_PAD_NONE, KMEANS_PAD_LINE, KMEANS_PAD_PAGE };
enum kmeans_reduction { KMEANS_REDUCE_SERIAL, KMEANS_REDUCE_TREE };

/* The order is that of the kernel's events. */
enum { KMEANS_ITERATIONS, KMEANS_ASSIGNED, KMEANS_MOVED, KMEANS_LOCKED, KMEANS_ATOMICS };

/* Arrays that a state keeps in pages of their own. */
enum kmeans_part {
	KMEANS_OBJECTS,
	KMEANS_MEMBERSHIP,
	KMEANS_CENTRES,
	KMEANS_CHANGED,
	KMEANS_SUMS,
	KMEANS_COUNTS,
	KMEANS_LOCK,
	KMEANS_WIDE,
	KMEANS_PARTS
};

struct kmeans_state;

struct kmeans_variant {
	const char *name;
	bool copies; /* a table for each thread, not one for all */
	bool wide;   /* has a second form of the centres */
	void (*run)(const struct kmeans_state *s);
};

/* The loops of the blocked variant for one instruction set. */
struct kmeans_isa {
	const char *name;
	bool (*usable)(void);
	/* Objects first .. first + count - 1 go to their clusters and are added up; how many changed. */
	int64_t (*assign)(const struct kmeans_state *s, size_t first, size_t count, double *sums, int64_t *counts);
};

struct kmeans_state {
	struct kmeans_input *input;
	const struct kmeans_variant *variant;
	const struct kmeans_isa *isa;
	const struct lock_kind *lock; /* NULL: none of the suite's */
	const char *sync;
	enum kmeans_touch touch;
	enum kmeans_reduction reduction;
	bool delta_shared, lossy; /* lossy: updates may be lost */
	int threads;
	size_t block;                      /* objects per work item */
	size_t sums_stride, counts_stride; /* from a thread's table to the next */
	size_t panels;                     /* of the wide form */
	struct kmeans_pages pages[KMEANS_PARTS];
	const double *objects; /* its own or the input's */
	int32_t *membership;
	double *centres, *changed, *sums, *wide;
	int64_t *counts;
	void *lock_memory;
	int64_t *events; /* ss_call's */
};

/* kmeans.c: shared by the kernels of this name on every device. A problem's table begins with these rows. */
enum { KMEANS_SIZE, KMEANS_COORDS, KMEANS_CLUSTERS, KMEANS_LOOPS, KMEANS_N, KMEANS_PROBLEM };
#define KMEANS_PROBLEM_ROWS                                                                                            \
	[KMEANS_SIZE] = {"size", "MiB of objects", SS_REAL, NULL, "8", NULL, 0, KMEANS_SIZE_MAX},                          \
	[KMEANS_COORDS] = {"coords", "coordinates of an object", SS_INT, NULL, "16", NULL, 1, KMEANS_COORDS_MAX},          \
	[KMEANS_CLUSTERS] = {"clusters", "clusters", SS_INT, NULL, "16", NULL, 1, KMEANS_CLUSTERS_MAX},                    \
	[KMEANS_LOOPS] = {"loops", "iterations", SS_INT, NULL, "10", NULL, 1, KMEANS_LOOPS_MAX},                           \
	[KMEANS_N] = {"n", "number of objects; 0: as many as fit into size", SS_INT, NULL, "0", NULL, 0, KMEANS_N_MAX}
/* The number of objects with coordinates of this many bytes; 0 if there are too many. */
size_t kmeans_objects_wanted(const struct ss_value *problem, size_t bytes);
enum ss_status kmeans_input_open(struct kmeans_input *in, const struct ss_call *call, size_t bytes);
void kmeans_input_close(void *in);

/* The first objects (starting over if there are too few), and the means of table 0 */
void kmeans_centres_first(const struct kmeans_input *input, double *centres);
void kmeans_centres_move(const struct kmeans_state *s);
/* Adds a thread's count of a loop; does nothing if all threads count in one variable. */
void kmeans_count_changes(const struct kmeans_state *s, size_t loop, int64_t own);
/* Empties a table; adds one to another. */
void kmeans_table_clear(const struct kmeans_state *s, int table);
double kmeans_inertia(const struct kmeans_state *s);
size_t kmeans_empty(const struct kmeans_state *s);

/* With the oracle's answer, which must be there; where updates may be lost, for sanity only */
enum ss_status kmeans_compare(const struct kmeans_state *s, const struct ss_call *call);

/* Fills in the answer unless it is there. call: NULL computes it in any case. */
enum ss_status kmeans_oracle(struct kmeans_input *input, const struct ss_call *call);

/* simd.c: best first, the last one usable everywhere, ends with a NULL name. */
extern const struct kmeans_isa kmeans_isas[];
static inline const struct kmeans_isa *kmeans_isa_best(void) {
	const struct kmeans_isa *isa = kmeans_isas;
	while (!isa->usable())
		isa++;
	return isa;
}

extern const struct kmeans_variant kmeans_serial, kmeans_shared, kmeans_privatized, kmeans_blocked;
extern const struct kmeans_variant kmeans_serial_counted, kmeans_shared_counted, kmeans_privatized_counted,
	kmeans_blocked_counted;

static inline double *kmeans_sums(const struct kmeans_state *s, int table) {
	return s->sums + (size_t)table * s->sums_stride;
}

static inline int64_t *kmeans_counts(const struct kmeans_state *s, int table) {
	return s->counts + (size_t)table * s->counts_stride;
}

static inline const double *kmeans_object(const struct kmeans_state *s, size_t i) {
	return s->objects + i * s->input->coords;
}

/* The plain search, as it stands in most programs. */
static inline size_t kmeans_nearest(const struct kmeans_state *s, const double *x) {
	size_t nearest = 0, coords = s->input->coords;
	double least = __builtin_inf();
	for (size_t c = 0; c < s->input->clusters; c++) {
		const double *centre = s->centres + c * coords;
		double distance = 0;
		for (size_t j = 0; j < coords; j++)
			distance += (x[j] - centre[j]) * (x[j] - centre[j]);
		if (distance < least) {
			least = distance;
			nearest = c;
		}
	}
	return nearest;
}

/* Whether object i changes to cluster c; it is there then. */
static inline bool kmeans_enter(const struct kmeans_state *s, size_t i, size_t c) {
	bool changes = s->membership[i] != (int32_t)c;
	if (changes)
		s->membership[i] = (int32_t)c;
	return changes;
}

static inline void kmeans_add(double *sums, int64_t *counts, size_t c, const double *x, size_t coords) {
	for (size_t j = 0; j < coords; j++)
		sums[c * coords + j] += x[j];
	counts[c]++;
}

/* No coordinate is negative: cutting off after adding a half rounds to the nearest. */
static inline double kmeans_grid_nearest(double x) {
	const double steps = (double)(1 << KMEANS_CENTRE_BITS);
	return (double)(int64_t)(x * steps + 0.5) / steps;
}

/* Moves a centre to the mean of table 0. */
static inline void kmeans_centre_move(const struct kmeans_state *s, size_t c) {
	size_t coords = s->input->coords;
	for (size_t j = 0; s->counts[c] > 0 && j < coords; j++)
		s->centres[c * coords + j] = kmeans_grid_nearest(s->sums[c * coords + j] / (double)s->counts[c]);
}

/* The thread's own count; with delta_shared one counter for all, without synchronisation: changes get lost. */
static inline void kmeans_count_change(const struct kmeans_state *s, size_t loop, int64_t *own) {
	if (s->delta_shared)
		s->changed[loop]++;
	else
		++*own;
}
#endif
