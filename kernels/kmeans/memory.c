/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a state, in pages of its own (kernels/pages.h). */
#include <string.h>

#include "kernels/kmeans/kmeans.h"
#include "kernels/pages.h"

void *kmeans_pages_new(struct kmeans_pages *pages, size_t count, size_t size) {
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes == 0)
		return NULL;
	*pages = (struct kmeans_pages){kernel_pages_new(bytes), bytes};
	return pages->at;
}

void kmeans_pages_free(struct kmeans_pages *pages) {
	kernel_pages_free(pages->at, pages->bytes);
	*pages = (struct kmeans_pages){0};
}

static size_t round_up(size_t x, size_t to) {
	return (x + to - 1) / to * to;
}

/* Entries of 8 bytes from one thread's table to the next. */
static size_t stride(size_t entries, enum kmeans_pad pad) {
	static const size_t unit[] = {
		[KMEANS_PAD_NONE] = 8, [KMEANS_PAD_LINE] = KMEANS_LINE, [KMEANS_PAD_PAGE] = KMEANS_PAGE};
	return round_up(entries * 8, unit[pad]) / 8;
}

static bool parts_new(struct kmeans_state *s, enum kmeans_pad pad) {
	const struct kmeans_input *in = s->input;
	size_t entries = in->clusters * in->coords, tables = s->variant->copies ? (size_t)s->threads : 1;
	s->sums_stride = stride(entries, pad);
	s->counts_stride = stride(in->clusters, pad);
	s->panels = round_up(in->clusters, KMEANS_PANEL) / KMEANS_PANEL;
	s->objects = in->objects;
	if (s->touch == KMEANS_TOUCH_OBJECTS)
		s->objects = kmeans_pages_new(&s->pages[KMEANS_OBJECTS], in->n * in->coords, sizeof *s->objects);
	if (s->variant->wide)
		s->wide =
			kmeans_pages_new(&s->pages[KMEANS_WIDE], s->panels * KMEANS_PANEL * (in->coords + 1), sizeof *s->wide);
	s->membership = kmeans_pages_new(&s->pages[KMEANS_MEMBERSHIP], in->n, sizeof *s->membership);
	s->centres = kmeans_pages_new(&s->pages[KMEANS_CENTRES], entries, sizeof *s->centres);
	s->changed = kmeans_pages_new(&s->pages[KMEANS_CHANGED], in->loops, sizeof *s->changed);
	s->sums = kmeans_pages_new(&s->pages[KMEANS_SUMS], tables * s->sums_stride, sizeof *s->sums);
	s->counts = kmeans_pages_new(&s->pages[KMEANS_COUNTS], tables * s->counts_stride, sizeof *s->counts);
	return s->objects && (s->wide || !s->variant->wide) && s->membership && s->centres && s->changed && s->sums &&
	       s->counts;
}

static void table_touch(const struct kmeans_state *s, int table) {
	memset(kmeans_sums(s, table), 0, s->sums_stride * sizeof *s->sums);
	memset(kmeans_counts(s, table), 0, s->counts_stride * sizeof *s->counts);
}

static void tables_touch(const struct kmeans_state *s) {
	if (!s->variant->copies) {
		table_touch(s, 0);
	} else if (s->touch == KMEANS_TOUCH_SERIAL) {
		for (int t = 0; t < s->threads; t++)
			table_touch(s, t);
	} else {
#pragma omp parallel for schedule(static) num_threads(s->threads)
		for (int t = 0; t < s->threads; t++)
			table_touch(s, t);
	}
}

static size_t block_end(const struct kmeans_state *s, size_t first) {
	return s->input->n - first < s->block ? s->input->n : first + s->block;
}

/* Touched by the threads, and in the blocks, of the run. */
static void objects_copy(const struct kmeans_state *s) {
	size_t coords = s->input->coords;
	double *objects = s->pages[KMEANS_OBJECTS].at;
#pragma omp parallel for schedule(runtime) num_threads(s->threads)
	for (size_t first = 0; first < s->input->n; first += s->block)
		memcpy(objects + first * coords, s->input->objects + first * coords,
		       (block_end(s, first) - first) * coords * sizeof *objects);
}

static void membership_clear_block(const struct kmeans_state *s, size_t first) {
	for (size_t i = first; i < block_end(s, first); i++)
		s->membership[i] = -1;
}

void kmeans_membership_clear(const struct kmeans_state *s) {
	if (s->touch != KMEANS_TOUCH_OBJECTS) {
		for (size_t first = 0; first < s->input->n; first += s->block)
			membership_clear_block(s, first);
		return;
	}
#pragma omp parallel for schedule(runtime) num_threads(s->threads)
	for (size_t first = 0; first < s->input->n; first += s->block)
		membership_clear_block(s, first);
}

enum ss_status kmeans_memory_new(struct kmeans_state *s, enum kmeans_pad pad) {
	if (!parts_new(s, pad))
		return SS_NOMEM;
	tables_touch(s);
	if (s->touch == KMEANS_TOUCH_OBJECTS)
		objects_copy(s);
	kmeans_membership_clear(s);
	return SS_OK;
}

void kmeans_memory_free(struct kmeans_state *s) {
	for (int part = 0; part < KMEANS_PARTS; part++)
		kmeans_pages_free(&s->pages[part]);
}
