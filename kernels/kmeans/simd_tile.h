/* SPDX-License-Identifier: BSD-3-Clause */
/* A template, included once for each instruction set. Before it: TILE_NAME(word), TILE_TARGET (a function attribute or
 * nothing), TILE_LANES (doubles in a vector), TILE_ROWS (objects held in registers), TILE_PANELS (panels of clusters
 * compared at once, 1 or 2; with a single one left twice as many objects are), TILE_MIN(x, y), TILE_LEAST(x) (the least
 * lane in all lanes) and TILE_EQUAL(x, y) (a bit for each equal lane).
 *
 * A lane is a cluster. |x - c|^2 = |x|^2 + 2 (|c|^2 / 2 - xc), so the nearest centre is where the bracket is least: one
 * fused operation a coordinate. The brackets of some objects and up to 16 clusters stay in registers while the
 * coordinates run by. */
#define TILE_VECS (KMEANS_PANEL / TILE_LANES)
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

/* One object with the brackets of one tile, whose first cluster is `base`. Of equals the first wins. */
TILE_TARGET __attribute__((always_inline)) static inline void
TILE_NAME(choose)(const TILE_NAME(vec) *bracket, int vecs, int32_t base, double *best, int32_t *cluster) {
	TILE_NAME(vec) least = bracket[0];
	unsigned places = 0;
	for (int v = 1; v < vecs; v++)
		least = TILE_MIN(least, bracket[v]);
	least = TILE_LEAST(least);
	for (int v = 0; v < vecs; v++)
		places |= (unsigned)TILE_EQUAL(bracket[v], least) << v * TILE_LANES;
	if (base == 0 || least[0] < *best) {
		*best = least[0];
		*cluster = base + __builtin_ctz(places);
	}
}

/* Some objects (`rows`) and the panels from `wide` on. */
TILE_TARGET __attribute__((always_inline)) static inline void
TILE_NAME(tile)(const double *const x[TILE_ROWS_MAX], int rows, const double *wide, size_t coords, int panels,
                int32_t base, double *best, int32_t *cluster) {
	const TILE_NAME(vec) *row = (const void *)wide;
	size_t next = (coords + 1) * TILE_VECS;
	TILE_NAME(vec) bracket[TILE_ROWS_MAX][TILE_PANELS * TILE_VECS];
	for (int r = 0; r < rows; r++)
		for (int v = 0; v < panels * TILE_VECS; v++)
			bracket[r][v] = row[(size_t)(v / TILE_VECS) * next + (size_t)(v % TILE_VECS)];
	for (size_t j = 0; j < coords; j++) {
		row += TILE_VECS;
		/* what there is more of goes through a single register */
		for (int r = 0; r < rows && rows > panels * TILE_VECS; r++)
			for (int v = 0; v < panels * TILE_VECS; v++)
				bracket[r][v] -= x[r][j] * row[(size_t)(v / TILE_VECS) * next + (size_t)(v % TILE_VECS)];
		for (int v = 0; v < panels * TILE_VECS && rows <= panels * TILE_VECS; v++)
			for (int r = 0; r < rows; r++)
				bracket[r][v] -= x[r][j] * row[(size_t)(v / TILE_VECS) * next + (size_t)(v % TILE_VECS)];
	}
	for (int r = 0; r < rows; r++)
		TILE_NAME(choose)(bracket[r], panels * TILE_VECS, base, best + r, cluster + r);
}

/* Said in vectors, as the compiler does not know that the sums are not among the objects. */
TILE_TARGET __attribute__((always_inline)) static inline void
TILE_NAME(add)(const struct TILE_NAME(work) *w, size_t i) {
	size_t j = 0, c = (size_t)w->cluster[i];
	const double *x = w->objects + i * w->coords;
	double *sum = w->sums + c * w->coords;
	w->counts[c]++;
	for (; j + TILE_LANES <= w->coords; j += TILE_LANES)
		*(TILE_NAME(loose) *)(sum + j) += *(const TILE_NAME(loose) *)(x + j);
	for (; j < w->coords; j++)
		sum[j] += x[j];
}

/* All objects of a block with the panels from `wide` on. The last group is filled up with the last object. With the last
 * panels an object is added up one group later than its cluster is known: no addition waits for that, and all of them
 * run beside the fused operations, which leave the units for loads, stores and additions idle. */
TILE_TARGET __attribute__((always_inline)) static inline void
TILE_NAME(sweep)(struct TILE_NAME(work) *w, const double *wide, int32_t base, int panels, bool last) {
	const size_t rows = TILE_ROWS * TILE_PANELS / (size_t)panels;
	const double *x[TILE_ROWS_MAX];
	for (size_t i = 0; i < w->count; i += rows) {
		for (size_t r = 0; r < rows; r++)
			x[r] = w->objects + (i + r < w->count ? i + r : w->count - 1) * w->coords;
		if (base == 0)
			kmeans_fetch_ahead(x[0], rows * w->coords);
		if (last && i > 0)
			for (size_t r = 0; r < rows; r++)
				TILE_NAME(add)(w, i - rows + r);
		TILE_NAME(tile)(x, (int)rows, wide, w->coords, panels, base, w->bracket + i, w->cluster + i);
	}
	if (last)
		for (size_t i = (w->count - 1) / rows * rows; i < w->count; i++)
			TILE_NAME(add)(w, i);
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
	size_t coords = s->input->coords, panel_size = KMEANS_PANEL * (coords + 1);
	struct TILE_NAME(work) w;
	w.objects = s->objects + first * coords;
	w.sums = sums;
	w.counts = counts;
	w.coords = coords;
	w.count = count;
	size_t panel = 0;
	for (; panel + TILE_PANELS < s->panels; panel += TILE_PANELS)
		TILE_NAME(sweep)(&w, s->wide + panel * panel_size, (int32_t)panel * KMEANS_PANEL, TILE_PANELS, false);
	if (panel + TILE_PANELS == s->panels)
		TILE_NAME(sweep)(&w, s->wide + panel * panel_size, (int32_t)panel * KMEANS_PANEL, TILE_PANELS, true);
	else
		TILE_NAME(sweep)(&w, s->wide + panel * panel_size, (int32_t)panel * KMEANS_PANEL, 1, true);
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
