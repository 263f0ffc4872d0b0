/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer of f32: the operations of the .cu files in their order, with floats. A fused multiply-add is a product and
 * a sum of doubles, both of which are exact here: objects are multiples of 2^-12, centres of 2^-21, half of a square
 * sum is a float, and a distance below 1024 has at most 53 bits. So there is one rounding, as on the device. */
#include <stdlib.h>
#include <string.h>

#include "kernels/kmeans/cuda/kmeans_cuda_impl.h"

enum { LOT = 16 /* clusters at a time */ };

struct single {
	struct kmeans_state s; /* the answer so far */
	enum kmeans_form form;
	size_t lots;
	float *lot; /* of LOT clusters each: a row of starts, then a row for each coordinate */
};

static float start(const struct single *w, size_t c) {
	const struct kmeans_input *in = w->s.input;
	double square = 0;
	for (size_t j = 0; j < in->coords; j++)
		square += w->s.centres[c * in->coords + j] * w->s.centres[c * in->coords + j];
	return w->form == KMEANS_BRACKET ? (float)(square * 0.5) : 0;
}

static void lots_fill(const struct single *w) {
	size_t coords = w->s.input->coords;
	for (size_t c = 0; c < w->s.input->clusters; c++) {
		float *row = w->lot + c / LOT * LOT * (coords + 1) + c % LOT;
		row[0] = start(w, c);
		for (size_t j = 0; j < coords; j++)
			row[(j + 1) * LOT] = (float)w->s.centres[c * coords + j];
	}
}

static void add_square(float distance[LOT], float x, const float *centres) {
	for (int c = 0; c < LOT; c++) {
		float apart = x - centres[c];
		distance[c] = (float)((double)apart * (double)apart + (double)distance[c]);
	}
}

static void add_product(float distance[LOT], float x, const float *centres) {
	for (int c = 0; c < LOT; c++)
		distance[c] = (float)((double)x * -(double)centres[c] + (double)distance[c]);
}

static int32_t nearest(const struct single *w, const double *x) {
	size_t coords = w->s.input->coords, clusters = w->s.input->clusters;
	float least = 1e30f;
	size_t found = 0;
	for (size_t lot = 0; lot < w->lots; lot++) {
		const float *rows = w->lot + lot * LOT * (coords + 1);
		float distance[LOT];
		memcpy(distance, rows, sizeof distance);
		for (size_t j = 0; j < coords; j++)
			(w->form == KMEANS_DIRECT ? add_square : add_product)(distance, (float)x[j], rows + (j + 1) * LOT);
		for (size_t c = 0; c < LOT && lot * LOT + c < clusters; c++)
			if (distance[c] < least) {
				least = distance[c];
				found = lot * LOT + c;
			}
	}
	return (int32_t)found;
}

static int64_t objects_assign(const struct single *w) {
	const struct kmeans_state *s = &w->s;
	int64_t changed = 0;
#pragma omp parallel for reduction(+ : changed)
	for (size_t i = 0; i < s->input->n; i++)
		changed += kmeans_enter(s, i, (size_t)nearest(w, kmeans_object(s, i)));
	return changed;
}

static void solve(const struct single *w) {
	const struct kmeans_state *s = &w->s;
	struct kmeans_input *in = s->input;
	memset(s->membership, 0xff, in->n * sizeof *s->membership);
	kmeans_centres_first(in, s->centres);
	for (size_t loop = 0; loop < in->loops; loop++) {
		lots_fill(w);
		in->changed[loop] = objects_assign(w);
		kmeans_table_clear(s, 0);
		for (size_t i = 0; i < in->n; i++)
			kmeans_add(s->sums, s->counts, (size_t)s->membership[i], kmeans_object(s, i), in->coords);
		kmeans_centres_move(s);
	}
}

void kmeans_single_free(struct kmeans_input *in) {
	free(in->membership);
	free(in->centres);
	free(in->changed);
	*in = (struct kmeans_input){0};
}

struct kmeans_input *kmeans_single(struct kmeans_cuda_input *input, enum kmeans_form form) {
	struct kmeans_input *in = &input->single[form];
	if (in->membership)
		return in;
	*in = input->in;
	size_t entries = in->clusters * in->coords, lots = (in->clusters + LOT - 1) / LOT;
	in->membership = malloc(in->n * sizeof *in->membership);
	in->centres = malloc(entries * sizeof *in->centres);
	in->changed = malloc(in->loops * sizeof *in->changed);
	struct single w = {.s = {.input = in, .objects = in->objects, .membership = in->membership, .centres = in->centres},
	                   .form = form,
	                   .lots = lots,
	                   .lot = calloc(lots * LOT * (in->coords + 1), sizeof *w.lot)};
	w.s.sums = malloc(entries * sizeof *w.s.sums);
	w.s.counts = malloc(in->clusters * sizeof *w.s.counts);
	bool fits = in->membership && in->centres && in->changed && w.lot && w.s.sums && w.s.counts;
	if (fits)
		solve(&w);
	else
		kmeans_single_free(in);
	free(w.lot);
	free(w.s.sums);
	free(w.s.counts);
	return fits ? in : NULL;
}

/* Resources of resident blocks; the enums at the top of fused.cu, direct.cu and tensor.cu say why. */

/* The number of objects that floats sum up without rounding: multiples of 2^-12 below 2^12. A warp may have a tile
 * more than others. */
enum { SUMMED_MAX = (1 << (24 - KMEANS_OBJECT_BITS)) - KMEANS_TILE_MAX };

static size_t lanes(size_t coords) {
	size_t lanes = 1;
	while (lanes < coords && lanes < 32)
		lanes *= 2;
	return lanes;
}

static size_t table(const struct kmeans_input *in, size_t lanes) {
	return in->clusters * ((in->coords + lanes - 1) / lanes) * 32;
}

static size_t centres_shared(const struct kmeans_cuda_state *s) {
	const struct kmeans_input *in = &s->input->in;
	size_t pack = 16 / s->real, centre = (in->coords + pack) / pack * pack;
	size_t group = s->group > 0 ? (size_t)s->group : in->clusters, apart = group * centre + (s->group > 0 ? pack : 0);
	return (in->clusters + group - 1) / group * apart;
}

static size_t fused_shared(const struct kmeans_cuda_state *s, size_t warps) {
	const struct kmeans_input *in = &s->input->in;
	size_t bytes = in->coords * s->real;
	size_t row = bytes % 16 == 0 && bytes / 16 % 2 == 0 ? in->coords + 16 / s->real : in->coords;
	size_t tiles = 2 * 32 * (size_t)s->points * row;
	return (centres_shared(s) + warps * (table(in, lanes(in->coords)) + tiles)) * s->real + in->clusters * 4;
}

static size_t direct_shared(const struct kmeans_cuda_state *s, size_t warps) {
	const struct kmeans_input *in = &s->input->in;
	return (centres_shared(s) + warps * in->clusters * (size_t)s->copies * in->coords) * s->real + in->clusters * 4;
}

static size_t tensor_shared(const struct kmeans_cuda_state *s, size_t warps) {
	const struct kmeans_input *in = &s->input->in;
	size_t clusters = (in->clusters + 7) / 8 * 8, centre = in->coords + (in->coords % 16 == 0 ? 2 : 0);
	size_t tile = 32 * (in->coords + 4);
	return (clusters * (centre + 1) + warps * (table(in, lanes(in->coords)) + tile)) * 8 + in->clusters * 4;
}

static size_t partial_shared(const struct kmeans_cuda_state *s) {
	const struct kmeans_input *in = &s->input->in;
	return in->clusters * in->coords * (8 + s->real) + (in->clusters + 1) / 2 * 8;
}

size_t kmeans_cuda_shared(const struct kmeans_cuda_state *s, unsigned block) {
	if (!s->variant->constant)
		return partial_shared(s);
	if (s->variant->direct)
		return direct_shared(s, block / 32);
	return s->variant->name[0] == 't' ? tensor_shared(s, block / 32) : fused_shared(s, block / 32);
}

uint64_t kmeans_cuda_blocks_least(const struct kmeans_cuda_state *s, unsigned block) {
	const struct kmeans_input *in = &s->input->in;
	if (!s->variant->constant || s->real == sizeof(double))
		return 1;
	size_t tables = s->variant->direct ? (size_t)s->copies : 32 / lanes(in->coords);
	size_t warps = block / 32, objects = SUMMED_MAX * tables;
	return (in->n + warps * objects - 1) / (warps * objects);
}
