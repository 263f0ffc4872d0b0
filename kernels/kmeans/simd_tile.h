/* SPDX-License-Identifier: BSD-3-Clause */
/* A template, included once for each instruction set. Define first: TILE_NAME(word), TILE_TARGET (a function attribute
 * or nothing), TILE_LANES (doubles in a vector), TILE_ROWS (objects held in registers), TILE_PANELS (panels of clusters
 * compared at once, 1 or 2; with a single one left twice as many objects are), TILE_MIN(x, y), TILE_LEAST(x) (the least
 * lane in all lanes) and TILE_EQUAL(x, y) (a bit for each equal lane).
 *
 * A lane is a cluster. |x - c|^2 = |x|^2 + 2 (|c|^2 / 2 - xc), so the nearest centre has the least bracket: one
 * fused operation a coordinate. The brackets of some objects and up to 16 clusters stay in registers while the
 * coordinates run by. */
#define TILE_VECS     (KMEANS_PANEL / TILE_LANES)
#define TILE_ROWS_MAX (TILE_ROWS * TILE_PANELS)
typedef double TILE_NAME(vec) __attribute__((vector_size(8 * TILE_LANES), may_alias));
typedef double TILE_NAME(loose) __attribute__((vector_size(8 * TILE_LANES), aligned(8), may_alias));

/* A block of objects, its share of the sums, and the nearest centres so far. */
struct TILE_NAME(work) {
	const double *objects;
	double *sums;
	int64_t *counts;
	size_t coords, count;
	double bracket[KMEANS_BLOCK_MAX + TILE_ROWS_MAX];
	int32_t cluster[KMEANS_BLOCK_MAX + TILE_ROWS_MAX];
};

/* Some objects (`rows`) and some panels of clusters, the first of which is `base`. */
struct TILE_NAME(tile) {
	const double *x[TILE_ROWS_MAX];
	const TILE_NAME(vec) * row; /* of the first panel */
	size_t next;                /* from there to the next panel */
	int rows, vecs;
	int32_t base;
	TILE_NAME(vec) bracket[TILE_ROWS_MAX][TILE_PANELS * TILE_VECS];
};

/* Object r of a tile: its cluster, if it is nearer than those so far. Of equals the first wins. */
TILE_TARGET __attribute__((always_inline)) static inline void TILE_NAME(choose)(const struct TILE_NAME(tile) * t, int r,
                                                                                double *best, int32_t *nearest) {
	TILE_NAME(vec) least = t->bracket[r][0];
	unsigned places = 0;
	for (int v = 1; v < t->vecs; v++)
		least = TILE_MIN(least, t->bracket[r][v]);
	least = TILE_LEAST(least);
	for (int v = 0; v < t->vecs; v++)
		places |= (unsigned)TILE_EQUAL(t->bracket[r][v], least) << v * TILE_LANES;
	if (t->base == 0 || least[0] < *best) {
		*best = least[0];
		*nearest = t->base + __builtin_ctz(places);
	}
}

/* A coordinate; the more numerous side, objects or vectors, goes through a single register. */
TILE_TARGET __attribute__((always_inline)) static inline void TILE_NAME(step)(struct TILE_NAME(tile) * t, size_t j) {
	const TILE_NAME(vec) *row = t->row + (j + 1) * TILE_VECS;
	for (int r = 0; r < t->rows && t->rows > t->vecs; r++)
		for (int v = 0; v < t->vecs; v++)
			t->bracket[r][v] -= t->x[r][j] * row[(size_t)(v / TILE_VECS) * t->next + (size_t)(v % TILE_VECS)];
	for (int v = 0; v < t->vecs && t->rows <= t->vecs; v++)
		for (int r = 0; r < t->rows; r++)
			t->bracket[r][v] -= t->x[r][j] * row[(size_t)(v / TILE_VECS) * t->next + (size_t)(v % TILE_VECS)];
}

/* Said in vectors, as the compiler does not know that the sums are not among the objects. */
TILE_TARGET __attribute__((always_inline)) static inline void TILE_NAME(add)(const struct TILE_NAME(work) * w,
                                                                             size_t i) {
	size_t j = 0, c = (size_t)w->cluster[i];
	const double *x = w->objects + i * w->coords;
	double *sum = w->sums + c * w->coords;
	w->counts[c]++;
	for (; j + TILE_LANES <= w->coords; j += TILE_LANES)
		*(TILE_NAME(loose) *)(sum + j) += *(const TILE_NAME(loose) *)(x + j);
	for (; j < w->coords; j++)
		sum[j] += x[j];
}

/* All brackets of a tile. Meanwhile the objects from `from` to `to`, whose clusters are known, are added up, one every
 * 4 coordinates: no addition waits, and all of them run in the units that the fused operations leave idle, which a core
 * would not find by itself if they came all at once. */
TILE_TARGET __attribute__((always_inline)) static inline void
TILE_NAME(brackets)(struct TILE_NAME(tile) * t, const struct TILE_NAME(work) * w, size_t from, size_t to) {
	size_t j = 0;
	for (int r = 0; r < t->rows; r++)
		for (int v = 0; v < t->vecs; v++)
			t->bracket[r][v] = t->row[(size_t)(v / TILE_VECS) * t->next + (size_t)(v % TILE_VECS)];
	for (; j + 4 <= w->coords; j += 4) {
		for (size_t k = 0; k < 4; k++)
			TILE_NAME(step)(t, j + k);
		if (from < to)
			TILE_NAME(add)(w, from++);
	}
	for (; j < w->coords; j++)
		TILE_NAME(step)(t, j);
	for (; from < to; from++)
		TILE_NAME(add)(w, from);
}

/* All objects of a block with the panels from `wide` on. The last group is filled up with the last object. With the
 * last panels an object is added up one group later than its cluster is known. */
TILE_TARGET __attribute__((always_inline)) static inline void
TILE_NAME(sweep)(struct TILE_NAME(work) * w, const double *wide, size_t panel, int panels, bool last) {
	const size_t rows = TILE_ROWS * TILE_PANELS / (size_t)panels;
	struct TILE_NAME(tile) t = {.row = (const void *)(wide + panel * KMEANS_PANEL * (w->coords + 1)),
	                            .next = (w->coords + 1) * TILE_VECS,
	                            .rows = (int)rows,
	                            .vecs = panels * TILE_VECS,
	                            .base = (int32_t)panel * KMEANS_PANEL};
	size_t added = 0;
	for (size_t i = 0; i < w->count; i += rows) {
		for (size_t r = 0; r < rows; r++)
			t.x[r] = w->objects + (i + r < w->count ? i + r : w->count - 1) * w->coords;
		if (panel == 0)
			kmeans_fetch_ahead(t.x[0], rows * w->coords);
		TILE_NAME(brackets)(&t, w, added, last ? i : 0);
		added = i;
		for (size_t r = 0; r < rows; r++)
			TILE_NAME(choose)(&t, (int)r, w->bracket + i + r, w->cluster + i + r);
	}
	for (; last && added < w->count; added++)
		TILE_NAME(add)(w, added);
}

TILE_TARGET __attribute__((always_inline)) static inline void TILE_NAME(sweeps)(struct TILE_NAME(work) * w,
                                                                                const struct kmeans_state *s) {
	size_t panel = 0;
	for (; panel + TILE_PANELS <= s->panels; panel += TILE_PANELS)
		TILE_NAME(sweep)(w, s->wide, panel, TILE_PANELS, panel + TILE_PANELS == s->panels);
	if (panel < s->panels)
		TILE_NAME(sweep)(w, s->wide, panel, 1, true);
}

TILE_TARGET static inline int64_t TILE_NAME(enter)(int32_t *restrict membership, const int32_t *restrict cluster,
                                                   size_t count) {
	int changed = 0;
	for (size_t i = 0; i < count; i++) {
		changed += membership[i] != cluster[i];
		membership[i] = cluster[i];
	}
	return changed;
}

TILE_TARGET static int64_t TILE_NAME(assign)(const struct kmeans_state *s, size_t first, size_t count, double *sums,
                                             int64_t *counts) {
	size_t coords = s->input->coords;
	struct TILE_NAME(work) w;
	w.objects = s->objects + first * coords;
	w.sums = sums;
	w.counts = counts;
	w.coords = coords;
	w.count = count;
	TILE_NAME(sweeps)(&w, s);
	return TILE_NAME(enter)(s->membership + first, w.cluster, count);
}

#undef TILE_VECS
#undef TILE_ROWS_MAX
#undef TILE_NAME
#undef TILE_TARGET
#undef TILE_LANES
#undef TILE_ROWS
#undef TILE_PANELS
#undef TILE_MIN
#undef TILE_LEAST
#undef TILE_EQUAL
