/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a configuration. */
#include <config.h>
#include <string.h>

#include "kernels/pages.h"
#include "kernels/cc/cc.h"

static size_t steps_room(const struct cc_graph *g) {
	return g->n + 1 < CC_STEPS_KEPT ? (size_t)g->n + 1 : CC_STEPS_KEPT;
}

/* Sorted by falling alignment. */
static void state_carve(struct cc_state *s) {
	size_t n = (size_t)s->graph.n;
	s->graph.first = s->pages;
	s->changed = (double *)(s->graph.first + n + 1);
	s->label = (int32_t *)(s->changed + steps_room(&s->graph));
	s->graph.target = s->label + n;
	s->other = s->synchronous ? s->graph.target + s->graph.ends : NULL;
}

static void graph_copy(struct cc_state *s, const struct cc_graph *from) {
#pragma omp parallel for schedule(runtime)
	for (int32_t v = 0; v < from->n; v++) {
		size_t begin = from->first[v], end = from->first[v + 1];
		s->graph.first[v + 1] = end;
		memcpy(s->graph.target + begin, from->target + begin, (end - begin) * sizeof *from->target);
		s->label[v] = v;
		if (s->other)
			s->other[v] = v;
	}
}

enum ss_status cc_state_new(struct cc_state *s, struct cc_input *input) {
	const struct cc_graph *g = &input->graph;
	size_t n = (size_t)g->n, labels = (s->synchronous ? 2 * n : n) + g->ends;
	s->input = input;
	s->graph = (struct cc_graph){.n = g->n, .ends = g->ends};
	s->bytes = (n + 1) * sizeof *g->first + steps_room(g) * sizeof *s->changed + labels * sizeof *s->label;
	void *pages = kernel_pages_new(s->bytes);
	if (!pages)
		return SS_NOMEM;
	s->pages = pages;
	state_carve(s);
	graph_copy(s, g);
	return SS_OK;
}

void cc_state_free(struct cc_state *s) {
	kernel_pages_free(s->pages, s->bytes);
	s->pages = NULL;
}

void cc_labels_start(struct cc_state *s) {
	s->steps = 0;
	s->looked = 0;
#pragma omp parallel for schedule(runtime)
	for (int32_t v = 0; v < s->graph.n; v++)
		s->label[v] = v;
}

void cc_step_note(struct cc_state *s, int64_t changed) {
	if ((size_t)s->steps < steps_room(&s->graph))
		s->changed[s->steps] = (double)changed;
	s->steps++;
}

/* Only v's own thread writes its label; on the way others may be shortened or not. */
void cc_labels_compress(struct cc_state *s) {
	int32_t *label = s->label;
#pragma omp parallel for schedule(runtime)
	for (int32_t v = 0; v < s->graph.n; v++) {
		int32_t at = cc_load(&label[v]), above;
		while ((above = cc_load(&label[at])) != at)
			at = above;
		cc_store(&label[v], at);
	}
}
