/* SPDX-License-Identifier: BSD-3-Clause */
/* A template, included once for each instruction set. Before it: ROW_NAME(word), ROW_TARGET (a function attribute or
 * nothing), ROW_LANES (floats in a vector), ROW_MAX(x, y), ROW_ABOVE(x, y) (is any lane of x above that of y).
 *
 * A row is worked on in chunks. Where nothing fires in a chunk or beside it, which is the rule, its cells only get
 * their delta; elsewhere comparisons become masks, and a masked QUAKE_FDELTA is 1 or 0. Energies are summed in float
 * inside a chunk, in double beyond it. */
typedef float ROW_NAME(vec) __attribute__((vector_size(4 * ROW_LANES), aligned(4), may_alias));
typedef int32_t ROW_NAME(mask) __attribute__((vector_size(4 * ROW_LANES), aligned(4), may_alias));
typedef float ROW_NAME(half) __attribute__((vector_size(2 * ROW_LANES), may_alias));
typedef double ROW_NAME(wide) __attribute__((vector_size(4 * ROW_LANES)));

struct ROW_NAME(sums) {
	ROW_NAME(vec) energy, top; /* of the chunk: before and after delta */
	ROW_NAME(mask) fired;      /* of the row */
	ROW_NAME(wide) total;
};
#define ROW_INLINE         ROW_TARGET static inline __attribute__((always_inline))
#define ROW_LOAD(at)       (*(const ROW_NAME(vec) *)(const void *)(at))
#define ROW_ALL(x)         ((ROW_NAME(vec)){0} + (x))
#define ROW_WHERE(bits, x) ((ROW_NAME(vec))((bits) & (ROW_NAME(mask))ROW_ALL(x)))

ROW_INLINE void ROW_NAME(store)(float *to, ROW_NAME(vec) energy, ROW_NAME(vec) charged, struct ROW_NAME(sums) * sums) {
	sums->energy += energy;
	sums->top = ROW_MAX(sums->top, charged);
	*(ROW_NAME(vec) *)(void *)to = charged;
}

ROW_INLINE void ROW_NAME(busy)(const float *above, const float *row, const float *below, float *to, float delta,
                               const int32_t *valid, struct ROW_NAME(sums) * sums) {
	for (int j = 0; j < QUAKE_CHUNK; j += ROW_LANES) {
		ROW_NAME(vec) energy = ROW_LOAD(row + j), emax = ROW_ALL(QUAKE_EMAX);
		ROW_NAME(mask) inside = *(const ROW_NAME(mask) *)(const void *)(valid + j);
		sums->fired -= energy > emax;
		energy += ROW_WHERE(ROW_LOAD(row + j - 1) > emax, QUAKE_FDELTA);
		energy += ROW_WHERE(ROW_LOAD(row + j + 1) > emax, QUAKE_FDELTA);
		energy += ROW_WHERE(ROW_LOAD(above + j) > emax, QUAKE_FDELTA);
		energy += ROW_WHERE(ROW_LOAD(below + j) > emax, QUAKE_FDELTA);
		energy -= ROW_WHERE(energy > emax, QUAKE_EMAX);
		energy = (ROW_NAME(vec))((ROW_NAME(mask))energy & inside);
		ROW_NAME(store)(to + j, energy, energy + ROW_WHERE(inside, delta), sums);
	}
}

ROW_INLINE void ROW_NAME(quiet)(const float *row, float *to, float delta, struct ROW_NAME(sums) * sums) {
#pragma GCC unroll 16
	for (int j = 0; j < QUAKE_CHUNK; j += ROW_LANES)
		ROW_NAME(store)(to + j, ROW_LOAD(row + j), ROW_LOAD(row + j) + ROW_ALL(delta), sums);
}

/* Ends a chunk: its alarm, and its energy into the row's. */
ROW_INLINE uint8_t ROW_NAME(settle)(struct ROW_NAME(sums) * sums) {
	union {
		ROW_NAME(vec) whole;
		ROW_NAME(half) part[2];
	} energy = {sums->energy};
	for (int i = 0; i < 2; i++)
		sums->total += __builtin_convertvector(energy.part[i], ROW_NAME(wide));
	uint8_t alarm = ROW_ABOVE(sums->top, ROW_ALL(QUAKE_EMAX));
	sums->energy = sums->top = ROW_ALL(0);
	return alarm;
}

ROW_TARGET static void ROW_NAME(step)(const struct quake_state *s, const float *const from[3], float *to, float delta,
                                      struct quake_tally *tally) {
	const uint8_t *above = quake_alarms(s, from[0]), *row = quake_alarms(s, from[1]), *below = quake_alarms(s, from[2]);
	uint8_t *alarms = quake_alarms(s, to);
	size_t chunks = s->columns / QUAKE_CHUNK, full = s->input->n / QUAKE_CHUNK;
	struct ROW_NAME(sums) sums = {0};
	for (size_t c = 0; c < chunks; c++) {
		size_t at = c * QUAKE_CHUNK;
		bool quiet = s->skip && c < full && !(above[c] | row[c - 1] | row[c] | row[c + 1] | below[c]);
		if (quiet)
			ROW_NAME(quiet)(from[1] + at, to + at, delta, &sums);
		else
			ROW_NAME(busy)
		(from[0] + at, from[1] + at, from[2] + at, to + at, delta, s->valid + (c < full ? 0 : QUAKE_CHUNK), &sums);
		KERNEL_COUNT(s->events, QUAKE_CHUNKS_SKIPPED, quiet);
		alarms[c] = ROW_NAME(settle)(&sums);
	}
	KERNEL_COUNT(s->events, QUAKE_CELL_UPDATES, s->input->n);
	for (int i = 0; i < ROW_LANES; i++)
		tally->count += sums.fired[i];
	for (int i = 0; i < ROW_LANES / 2; i++)
		tally->energy += sums.total[i];
}

ROW_TARGET static void ROW_NAME(charge)(const struct quake_state *s, float *row) {
	uint8_t *alarms = quake_alarms(s, row);
	size_t n = s->input->n;
	for (size_t at = 0; at < n; at += QUAKE_CHUNK) {
		size_t end = n - at < QUAKE_CHUNK ? n : at + QUAKE_CHUNK;
		int fired = 0;
		for (size_t j = at; j < end; j++) {
			row[j] += QUAKE_EDELTA;
			fired |= row[j] > QUAKE_EMAX;
		}
		alarms[at / QUAKE_CHUNK] = fired != 0;
	}
}

#undef ROW_NAME
#undef ROW_TARGET
#undef ROW_LANES
#undef ROW_MAX
#undef ROW_ABOVE
#undef ROW_INLINE
#undef ROW_LOAD
#undef ROW_ALL
#undef ROW_WHERE
