/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of a run: launches alone, or the host makes the new centres between them. */
#include <config.h>
#include <time.h>

#include "kernels/kmeans/cuda/cuda.h"

enum { MEANS_SIDE = 32 /* means.cu: ENTRIES and LANES */ };
enum { TRACE_GPU, TRACE_TRANSFER, TRACE_CPU };

/* Converts to the variant's centres: by rows or by columns, doubles or floats. */
void kmeans_cuda_centres_put(const struct kmeans_cuda_state *s, void *to, const double *centres) {
	size_t coords = s->input->in.coords, clusters = s->input->in.clusters;
	if (!s->variant->by_column) {
		kmeans_cuda_narrow(to, centres, clusters * coords, s->real);
		return;
	}
	for (size_t e = 0; e < clusters * coords; e++)
		kmeans_cuda_narrow((char *)to + (e % coords * clusters + e / coords) * s->real, centres + e, 1, s->real);
}

static void assign_launch(struct kmeans_cuda_state *s, size_t loop) {
	const struct kmeans_input *in = &s->input->in;
	gpu_ptr objects = s->input->objects[s->variant->layout], changed = s->changed + loop * sizeof(uint64_t);
	long long n = (long long)in->n;
	int coords = (int)in->coords, clusters = (int)in->clusters;
	if (s->variant->constant)
		GPU_LAUNCH(s->gpu, s->assign, &s->shape, &objects, &s->centres, &s->membership, &changed, &n, &s->sums,
		           &s->counts);
	else if (s->variant->resident)
		GPU_LAUNCH(s->gpu, s->assign, &s->shape, &objects, &s->centres, &s->membership, &changed, &n, &coords,
		           &clusters, &s->points, &s->sums, &s->counts);
	else /* arguments that the variant does not take come last */
		GPU_LAUNCH(s->gpu, s->assign, &s->shape, &objects, &s->centres, &s->membership, &changed, &n, &coords,
		           &clusters, &s->points, &s->chunk, &s->sums, &s->counts);
}

static void means_launch(const struct kmeans_cuda_state *s) {
	const struct kmeans_input *in = &s->input->in;
	int coords = (int)in->coords, clusters = (int)in->clusters, parts = (int)s->parts;
	gpu_ptr centres = s->centres, sums = s->sums, counts = s->counts;
	const struct gpu_shape shape = {.grid = {gpu_blocks(in->coords * in->clusters, MEANS_SIDE)},
	                                .block = {MEANS_SIDE, MEANS_SIDE}};
	GPU_LAUNCH(s->gpu, s->means, &shape, &centres, &sums, &counts, &parts, &coords, &clusters);
}

static void device_loop(struct kmeans_cuda_state *s, size_t loop) {
	const struct kmeans_input *in = &s->input->in;
	if (!s->variant->resident) {
		gpu_fill8(s->gpu, s->sums, 0, in->clusters * in->coords * sizeof(double));
		gpu_fill8(s->gpu, s->counts, 0, in->clusters * sizeof(uint32_t));
	}
	assign_launch(s, loop);
	means_launch(s);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void host_means(const struct kmeans_cuda_state *s) {
	const struct kmeans_state *h = &s->host;
	const int32_t *membership = s->pinned;
	kmeans_table_clear(h, 0);
	for (size_t i = 0; i < h->input->n; i++)
		kmeans_add(h->sums, h->counts, (size_t)membership[i], kmeans_object(h, i), h->input->coords);
	kmeans_centres_move(h);
}

static void mark(const struct kmeans_cuda_state *s, size_t loop, int place) {
	if (loop < s->traced)
		gpu_mark(s->gpu, s->marks[loop][place]);
}

static void host_loop(struct kmeans_cuda_state *s, size_t loop) {
	const struct kmeans_input *in = &s->input->in;
	mark(s, loop, KMEANS_BEGINS);
	kmeans_cuda_centres_put(s, s->up, s->host.centres);
	gpu_upload(s->gpu, s->centres, s->up, in->clusters * in->coords * s->real);
	mark(s, loop, KMEANS_UPLOADED);
	assign_launch(s, loop);
	mark(s, loop, KMEANS_ASSIGNED_ALL);
	gpu_download(s->gpu, s->pinned, s->membership, in->n * s->label);
	mark(s, loop, KMEANS_DOWNLOADED);
	gpu_stream_sync(s->gpu);
	double before = now();
	if (gpu_is_fine(s->gpu))
		host_means(s);
	if (loop < s->traced)
		s->trace[TRACE_CPU][loop] = now() - before;
}

void kmeans_cuda_loops(struct kmeans_cuda_state *s) {
	for (size_t loop = 0; loop < s->input->in.loops && gpu_is_fine(s->gpu); loop++)
		(s->variant->on_host ? host_loop : device_loop)(s, loop);
}

/* Reads the marks of the last run; how many loops there are. */
size_t kmeans_cuda_trace(const struct kmeans_cuda_state *s) {
	for (size_t loop = 0; loop < s->traced; loop++) {
		struct gpu_mark *const *m = s->marks[loop];
		s->trace[TRACE_GPU][loop] = gpu_elapsed(s->gpu, m[KMEANS_UPLOADED], m[KMEANS_ASSIGNED_ALL]);
		s->trace[TRACE_TRANSFER][loop] = gpu_elapsed(s->gpu, m[KMEANS_BEGINS], m[KMEANS_UPLOADED]) +
		                                 gpu_elapsed(s->gpu, m[KMEANS_ASSIGNED_ALL], m[KMEANS_DOWNLOADED]);
	}
	return s->traced;
}
