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
