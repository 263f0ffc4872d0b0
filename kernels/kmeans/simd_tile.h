/* SPDX-License-Identifier: BSD-3-Clause */
/* A template, included once for each instruction set. Before it: TILE_NAME(word), TILE_TARGET (a function attribute or
 * nothing), TILE_LANES (doubles in a vector), TILE_ROWS (objects held in registers), TILE_PANELS (panels of clusters
 * compared at once, 1 or 2), TILE_MIN(x, y), TILE_LEAST(x) (the least lane in all lanes) and TILE_EQUAL(x, y) (a bit for
 * each equal lane).
 *
 * A lane is a cluster. |x - c|^2 = |x|^2 + 2 (|c|^2 / 2 - xc), so the nearest centre is where the bracket is least: one
 * fused operation a coordinate. The brackets of TILE_ROWS objects and up to 16 clusters stay in registers while the
 * coordinates run by. */
#define TILE_VECS (KMEANS_PANEL / TILE_LANES)
typedef double TILE_NAME(vec) __attribute__((vector_size(8 * TILE_LANES), may_alias));

/* The nearest of a block's objects so far. */
struct TILE_NAME(best) {
	double bracket[KMEANS_BLOCK_MAX + TILE_ROWS];
	int32_t cluster[KMEANS_BLOCK_MAX + TILE_ROWS];
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

/* TILE_ROWS objects and the panels from `wide` on. */
TILE_TARGET __attribute__((always_inline)) static inline void
TILE_NAME(tile)(const double *const x[TILE_ROWS], const double *wide, size_t coords, int panels, int32_t base,
                double *best, int32_t *cluster) {
	const TILE_NAME(vec) *row = (const void *)wide;
	size_t next = (coords + 1) * TILE_VECS;
	TILE_NAME(vec) bracket[TILE_ROWS][TILE_PANELS * TILE_VECS];
	for (int r = 0; r < TILE_ROWS; r++)
		for (int v = 0; v < panels * TILE_VECS; v++)
			bracket[r][v] = row[(size_t)(v / TILE_VECS) * next + (size_t)(v % TILE_VECS)];
	for (size_t j = 0; j < coords; j++) {
		row += TILE_VECS;
		for (int v = 0; v < panels * TILE_VECS; v++) {
			TILE_NAME(vec) centre = row[(size_t)(v / TILE_VECS) * next + (size_t)(v % TILE_VECS)];
			for (int r = 0; r < TILE_ROWS; r++)
				bracket[r][v] -= x[r][j] * centre;
		}
	}
	for (int r = 0; r < TILE_ROWS; r++)
		TILE_NAME(choose)(bracket[r], panels * TILE_VECS, base, best + r, cluster + r);
}

/* All objects of a block with the panels from `panel` on. The last group is filled up with the last object. */
TILE_TARGET __attribute__((always_inline)) static inline void
TILE_NAME(sweep)(const struct kmeans_state *s, size_t first, size_t count, size_t panel, int panels,
                 struct TILE_NAME(best) *best) {
	size_t coords = s->input->coords;
	const double *wide = s->wide + panel * KMEANS_PANEL * (coords + 1), *x[TILE_ROWS];
	for (size_t i = 0; i < count; i += TILE_ROWS) {
		for (size_t r = 0; r < TILE_ROWS; r++)
			x[r] = s->objects + (first + (i + r < count ? i + r : count - 1)) * coords;
		TILE_NAME(tile)(x, wide, coords, panels, (int32_t)panel * KMEANS_PANEL, best->bracket + i, best->cluster + i);
	}
}

TILE_TARGET static int64_t TILE_NAME(assign)(const struct kmeans_state *s, size_t first, size_t count, double *sums,
                                             int64_t *counts) {
	size_t panel = 0, coords = s->input->coords;
	struct TILE_NAME(best) best;
	int64_t changed = 0;
	for (; panel + TILE_PANELS <= s->panels; panel += TILE_PANELS)
		TILE_NAME(sweep)(s, first, count, panel, TILE_PANELS, &best);
	for (; panel < s->panels; panel++)
		TILE_NAME(sweep)(s, first, count, panel, 1, &best);
	for (size_t i = 0; i < count; i++) {
		size_t c = (size_t)best.cluster[i];
		changed += s->membership[first + i] != best.cluster[i];
		s->membership[first + i] = best.cluster[i];
		kmeans_add(sums, counts, c, s->objects + (first + i) * coords, coords);
	}
	return changed;
}

#undef TILE_VECS
#undef TILE_NAME
#undef TILE_TARGET
#undef TILE_LANES
#undef TILE_ROWS
#undef TILE_PANELS
#undef TILE_MIN
#undef TILE_LEAST
#undef TILE_EQUAL
