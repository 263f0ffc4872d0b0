/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of a run (launches alone, or the host makes the new centres between them), the way of the results back, and
 * the answer that they are compared with. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kmeans/cuda/kmeans_cuda_impl.h"

/* The answer of f32: the operations of the .cu files in their order, with floats. A fused multiply-add is a product and
 * a sum of doubles, both of which are exact here: objects are multiples of 2^-12, centres of 2^-21, half of a square
 * sum is a float, and a distance below 1024 has at most 53 bits. So there is one rounding, as on the device. */
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

/* Resources of resident blocks; the enums at the top of fused.cu and tensor.cu say why. */

/* Numbers on their way: the host has doubles by rows. */

enum { CHUNK = 1 << 16 };

static void kmeans_cuda_narrow(void *to, const double *from, size_t count, size_t real) {
	float *single = to;
	if (real == sizeof(double))
		memcpy(to, from, count * sizeof *from);
	for (size_t i = 0; real == sizeof(float) && i < count; i++)
		single[i] = (float)from[i];
}

static void kmeans_cuda_widen(double *to, const void *from, size_t count, size_t real) {
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

enum { MEANS_SIDE = 32 /* means.cu: ENTRIES and LANES */ };

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
	double before = omp_get_wtime();
	if (gpu_is_fine(s->gpu))
		host_means(s);
	if (loop < s->traced)
		s->trace[TRACE_CPU][loop] = omp_get_wtime() - before;
}

static void all_loops(struct kmeans_cuda_state *s) {
	gpu_ptr objects = s->input->objects[s->variant->layout], barrier = s->words + (uint64_t)s->cells * s->cells * 4;
	long long n = (long long)s->input->in.n;
	int loops = (int)s->input->in.loops;
	GPU_LAUNCH(s->gpu, s->assign, &s->shape, &objects, &s->centres, &s->membership, &s->changed, &n, &loops, &s->sums,
	           &s->words, &barrier);
}

void kmeans_cuda_loops(struct kmeans_cuda_state *s) {
	if (s->cells > 0) {
		all_loops(s);
		return;
	}
	for (size_t loop = 0; loop < s->input->in.loops && gpu_is_fine(s->gpu); loop++)
		(s->variant->on_host ? host_loop : device_loop)(s, loop);
}

static void membership_widen(int32_t *to, const void *from, size_t n, size_t label) {
	const uint8_t *bytes = from;
	const uint16_t *halves = from;
	const int32_t *words = from;
	for (size_t i = 0; i < n; i++)
		to[i] = label == 1 ? bytes[i] : label == 2 ? halves[i] : words[i];
}

/* Copies the device's result to s->host. The device does not have the last centres if the host computes them. */
static enum ss_status kmeans_cuda_fetch(struct kmeans_cuda_state *s) {
	const struct kmeans_input *in = &s->input->in;
	size_t entries = in->clusters * in->coords, most = in->n * s->label;
	most = most > entries * s->real ? most : entries * s->real;
	most = most > in->loops * sizeof(uint64_t) ? most : in->loops * sizeof(uint64_t);
	void *some = malloc(most);
	if (!some)
		return SS_NOMEM;
	if (!s->variant->on_host) {
		gpu_download(s->gpu, some, s->centres, entries * s->real);
		gpu_stream_sync(s->gpu);
		if (gpu_is_fine(s->gpu))
			kmeans_cuda_widen(s->host.centres, some, entries, s->real);
	}
	gpu_download(s->gpu, some, s->changed, in->loops * sizeof(uint64_t));
	gpu_stream_sync(s->gpu);
	for (size_t loop = 0; gpu_is_fine(s->gpu) && loop < in->loops; loop++)
		s->host.changed[loop] = (double)((uint64_t *)some)[loop];
	gpu_download(s->gpu, some, s->membership, in->n * s->label);
	gpu_stream_sync(s->gpu);
	if (gpu_is_fine(s->gpu))
		membership_widen(s->host.membership, some, in->n, s->label);
	free(some);
	return SS_OK;
}

enum ss_status kmeans_cuda_verify(void *state, const struct ss_call *call) {
	struct kmeans_cuda_state *s = state;
	bool fits = kmeans_cuda_fetch(s) == SS_OK;
	enum ss_status status = cuda_status(call);
	if (status != SS_OK)
		return status;
	if (s->real == sizeof(float))
		s->host.input = kmeans_single(s->input, s->variant->form);
	else if (kmeans_oracle(&s->input->in, call) != SS_OK)
		fits = false;
	if (fits && s->host.input)
		status = kmeans_compare(&s->host, call);
	else
		status = kernel_fail(call, SS_NOMEM, "no memory to verify %zu objects", s->input->in.n);
	s->host.input = &s->input->in;
	return status;
}
