/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers on their way: the host has doubles by rows. */
#include <config.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kmeans/cuda/cuda.h"

enum { CHUNK = 1 << 16 };

void kmeans_cuda_narrow(void *to, const double *from, size_t count, size_t real) {
	float *single = to;
	if (real == sizeof(double))
		memcpy(to, from, count * sizeof *from);
	for (size_t i = 0; real == sizeof(float) && i < count; i++)
		single[i] = (float)from[i];
}

void kmeans_cuda_widen(double *to, const void *from, size_t count, size_t real) {
	const float *single = from;
	if (real == sizeof(double))
		memcpy(to, from, count * sizeof *to);
	for (size_t i = 0; real == sizeof(float) && i < count; i++)
		to[i] = (double)single[i];
}

/* `count` objects by rows to a piece of each column. */
static void piece_turn(double *to, const double *from, size_t count, size_t coords) {
	for (size_t j = 0; j < coords; j++)
		for (size_t i = 0; i < count; i++)
			to[j * count + i] = from[i * coords + j];
}

static void piece_upload(struct gpu *gpu, const struct kmeans_input *in, gpu_ptr to, enum kmeans_layout layout,
                         size_t real, size_t first, double *turned, void *narrow) {
	size_t count = in->n - first < CHUNK ? in->n - first : CHUNK, coords = in->coords;
	const double *from = in->objects + first * coords;
	if (layout == KMEANS_COLUMNS) {
		piece_turn(turned, from, count, coords);
		from = turned;
	}
	kmeans_cuda_narrow(narrow, from, count * coords, real);
	if (layout == KMEANS_ROWS) {
		gpu_upload(gpu, to + first * coords * real, narrow, count * coords * real);
		return;
	}
	struct gpu_rectangle rectangle = {.to = to + first * real,
	                                  .from = (uintptr_t)narrow,
	                                  .to_pitch = in->n * real,
	                                  .from_pitch = count * real,
	                                  .width = count * real,
	                                  .rows = coords};
	gpu_copy_rectangle(gpu, GPU_UP, &rectangle);
}

gpu_ptr kmeans_cuda_objects(struct kmeans_cuda_input *input, struct gpu *gpu, enum kmeans_layout layout, size_t real) {
	const struct kmeans_input *in = &input->in;
	size_t rows = (in->n + KMEANS_TILE_MAX - 1) / KMEANS_TILE_MAX * KMEANS_TILE_MAX, size = rows * in->coords * real;
	if (input->objects[layout])
		return input->objects[layout];
	size_t most = (in->n < CHUNK ? in->n : CHUNK) * in->coords;
	double *turned = malloc(most * sizeof *turned);
	void *narrow = malloc(most * real);
	gpu_ptr objects = turned && narrow ? gpu_alloc(gpu, size) : 0;
	if (!turned || !narrow)
		gpu_fail(gpu, GPU_NO_MEMORY, "no memory on the host to send %zu objects", in->n);
	if (objects) {
		gpu_fill8(gpu, objects, 0, size);
		for (size_t first = 0; first < in->n; first += CHUNK) {
			piece_upload(gpu, in, objects, layout, real, first, turned, narrow);
			gpu_stream_sync(gpu);
		}
	}
	free(turned);
	free(narrow);
	input->gpu = gpu;
	if (objects && !gpu_is_fine(gpu)) {
		gpu_free(gpu, objects);
		objects = 0;
	}
	return input->objects[layout] = objects;
}
