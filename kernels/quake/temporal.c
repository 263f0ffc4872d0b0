/* SPDX-License-Identifier: BSD-3-Clause */
/* Several steps in one pass over the grid (temporal blocking; Wonnacott, "Using time skewing to eliminate idle time due
 * to memory bandwidth and network limitations", 2000). A band of rows goes through all steps of the pass as a
 * pipeline: when step 1 is at row i, step 2 is at row i - 1, and so on, and of the rows in between the last few are
 * kept in rings, which stay in the cache. Bands are independent of each other: the steps before the last one cover a
 * few rows of the neighbouring bands again, which are tallied only by the band that owns them. */
#include "kernels/quake/quake.h"

enum { RING = 4 /* rows kept of a step: three are read */ };

struct pass {
	const struct quake_state *s;
	int from;      /* the grid it reads */
	int64_t first; /* step */
	ptrdiff_t depth;
	unsigned char *ring;
	struct quake_tally tally[QUAKE_DEPTH_MAX];
};

/* The row as `level` steps of the pass have left it. */
static float *pass_row(const struct pass *p, ptrdiff_t level, ptrdiff_t row) {
	const struct quake_state *s = p->s;
	if (row < 0 || row >= (ptrdiff_t)s->input->n)
		return quake_row(s, 0, -1);
	if (level == 0 || level == p->depth)
		return quake_row(s, p->from + (level > 0), row);
	return (float *)(void *)(p->ring + ((size_t)(level - 1) * RING + (size_t)row % RING) * s->stride);
}

/* Rows `first` to `end` of the last step; of the steps before it as many more as the next one reads. */
static void pass_band(struct pass *p, ptrdiff_t first, ptrdiff_t end) {
	ptrdiff_t n = (ptrdiff_t)p->s->input->n;
	struct quake_tally ignored = {0};
	for (ptrdiff_t front = first - p->depth + 1; front < end + p->depth - 1; front++)
		for (ptrdiff_t level = 0; level < p->depth; level++) {
			ptrdiff_t row = front - level, extra = p->depth - 1 - level;
			if (row < 0 || row >= n || row < first - extra || row >= end + extra)
				continue;
			const float *from[3] = {pass_row(p, level, row - 1), pass_row(p, level, row), pass_row(p, level, row + 1)};
			float delta = p->first + level + 1 < p->s->input->steps ? QUAKE_EDELTA : 0;
			bool own = row >= first && row < end;
			p->s->isa->step(p->s, from, pass_row(p, level + 1, row), delta, own ? &p->tally[level] : &ignored);
		}
}

static void pass_run(struct pass *p) {
	ptrdiff_t n = (ptrdiff_t)p->s->input->n, block = (ptrdiff_t)p->s->block;
#pragma omp for schedule(runtime) nowait
	for (ptrdiff_t first = 0; first < n; first += block)
		pass_band(p, first, first + block < n ? first + block : n);
	for (ptrdiff_t level = 0; level < p->depth; level++)
		quake_tally_add(p->s, p->first + level, &p->tally[level]);
#pragma omp barrier
}

static void temporal_run(struct quake_state *s) {
	int64_t steps = s->input->steps, depth = (int64_t)s->depth;
	ptrdiff_t n = (ptrdiff_t)s->input->n, block = (ptrdiff_t)s->block;
#pragma omp parallel num_threads(s->threads)
	{
#pragma omp for schedule(runtime)
		for (ptrdiff_t first = 0; first < n; first += block)
			for (ptrdiff_t i = first; i < first + block && i < n; i++)
				s->isa->charge(s, quake_row(s, 0, i));
		for (int64_t step = 0; step < steps; step += depth) {
			struct pass p = {.s = s, .from = step / depth & 1, .first = step};
			p.depth = steps - step < depth ? steps - step : depth;
			p.ring = s->rings + (size_t)omp_get_thread_num() * s->ring_bytes + QUAKE_LINE;
			pass_run(&p);
		}
	}
	s->now = (steps + depth - 1) / depth & 1;
}

const struct quake_variant quake_temporal = {.name = "temporal", .bands = true, .run = temporal_run};
