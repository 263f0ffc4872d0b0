/* SPDX-License-Identifier: BSD-3-Clause */
/* Resources of resident blocks; the enums at the top of fused.cu, direct.cu and tensor.cu say why. */
#include <config.h>

#include "kernels/kmeans/cuda/cuda.h"

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
