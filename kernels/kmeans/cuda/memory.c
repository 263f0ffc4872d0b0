/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a state on the device and on the host, and the way of the results back. */
#include <config.h>
#include <stdlib.h>

#include "kernels/kmeans/cuda/cuda.h"

static bool trace_new(struct kmeans_cuda_state *s) {
	s->traced = s->input->in.loops < KMEANS_TRACED_MAX ? s->input->in.loops : KMEANS_TRACED_MAX;
	for (size_t loop = 0; loop < s->traced; loop++)
		for (int mark = 0; mark < KMEANS_MARKS; mark++)
			s->marks[loop][mark] = gpu_mark_new(s->gpu);
	for (int part = 0; part < 3; part++)
		s->trace[part] = calloc(s->traced, sizeof *s->trace[part]);
	return s->trace[0] && s->trace[1] && s->trace[2];
}

static bool host_new(struct kmeans_cuda_state *s) {
	const struct kmeans_input *in = &s->input->in;
	size_t entries = in->clusters * in->coords;
	struct kmeans_state *h = &s->host;
	*h = (struct kmeans_state){.input = &s->input->in, .objects = in->objects};
	h->centres = malloc(entries * sizeof *h->centres);
	h->changed = calloc(in->loops, sizeof *h->changed);
	h->sums = malloc(entries * sizeof *h->sums);
	h->counts = malloc(in->clusters * sizeof *h->counts);
	h->membership = malloc(in->n * sizeof *h->membership);
	s->first = malloc(entries * s->real);
	return h->centres && h->changed && h->sums && h->counts && h->membership && s->first;
}

static void device_new(struct kmeans_cuda_state *s) {
	const struct kmeans_input *in = &s->input->in;
	size_t entries = in->clusters * in->coords;
	s->membership = gpu_alloc(s->gpu, in->n * s->label);
	s->centres = gpu_alloc(s->gpu, entries * s->real);
	s->changed = gpu_alloc(s->gpu, in->loops * sizeof(uint64_t));
	if (s->variant->on_host) {
		s->pinned = gpu_pinned_alloc(s->gpu, in->n * s->label);
		s->up = gpu_pinned_alloc(s->gpu, entries * s->real);
		return;
	}
	s->sums = gpu_alloc(s->gpu, s->parts * entries * sizeof(double));
	s->counts = gpu_alloc(s->gpu, s->parts * in->clusters * sizeof(uint32_t));
}

enum ss_status kmeans_cuda_memory_new(struct kmeans_cuda_state *s) {
	bool fits = host_new(s);
	if (fits && s->variant->on_host)
		fits = trace_new(s);
	if (fits)
		device_new(s);
	return fits ? SS_OK : SS_NOMEM;
}

void kmeans_cuda_memory_free(struct kmeans_cuda_state *s) {
	if (!s->gpu)
		return;
	const gpu_ptr device[] = {s->membership, s->centres, s->changed, s->sums, s->counts};
	void *const host[] = {s->host.centres, s->host.changed, s->host.sums, s->host.counts, s->host.membership,
	                      s->first,        s->trace[0],     s->trace[1],  s->trace[2]};
	gpu_graph_free(s->gpu, s->graph);
	for (size_t i = 0; i < sizeof device / sizeof *device; i++)
		gpu_free(s->gpu, device[i]);
	gpu_pinned_free(s->gpu, s->pinned);
	gpu_pinned_free(s->gpu, s->up);
	for (size_t loop = 0; loop < s->traced; loop++)
		for (int mark = 0; mark < KMEANS_MARKS; mark++)
			gpu_mark_free(s->gpu, s->marks[loop][mark]);
	for (size_t i = 0; i < sizeof host / sizeof *host; i++)
		free(host[i]);
}

static void membership_widen(int32_t *to, const void *from, size_t n, size_t label) {
	const uint8_t *bytes = from;
	const uint16_t *halves = from;
	const int32_t *words = from;
	for (size_t i = 0; i < n; i++)
		to[i] = label == 1 ? bytes[i] : label == 2 ? halves[i] : words[i];
}

/* The device does not have the last centres if the host computes them. */
enum ss_status kmeans_cuda_fetch(struct kmeans_cuda_state *s) {
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
