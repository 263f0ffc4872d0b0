/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "kernels/cc/cc.h"

struct list {
	struct ss_figure *out;
	size_t count, most;
};

static void figure_add(struct list *list, const char *name, double value, const char *unit) {
	if (list->count < list->most)
		list->out[list->count++] = (struct ss_figure){name, value, unit};
}

static void figures_of_graph(struct list *list, const struct cc_state *s) {
	const struct cc_graph *g = &s->graph;
	figure_add(list, "vertices", g->n, "");
	figure_add(list, "edges", (double)(g->ends / 2), "");
	if (s->input->expected) {
		figure_add(list, "components", s->input->components, "");
		figure_add(list, "largest", g->n ? (double)s->input->largest / g->n : 0, "of vertices");
	}
	figure_add(list, "edge_bytes", (double)g->ends * sizeof *g->target + ((double)g->n + 1) * sizeof *g->first, "B");
}

size_t cc_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out, size_t most) {
	const struct cc_state *s = state;
	struct list list = {out, 0, most};
	double edges = (double)s->graph.ends / 2;
	(void)call;
	figures_of_graph(&list, s);
	figure_add(&list, "iterations", (double)s->steps, "");
	if (s->steps > 0)
		figure_add(&list, "time_per_iteration", 1e6 * seconds / (double)s->steps, "us");
	if (seconds > 0)
		figure_add(&list, "edges_per_s", 1e-6 * edges / seconds, "Medges/s");
	if (s->looked > 0)
		figure_add(&list, "looked", (double)s->looked / (double)s->graph.ends, "of edge ends");
	return list.count;
}

size_t cc_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most) {
	const struct cc_state *s = state;
	(void)call;
	if (most < 1 || !s->changed)
		return 0;
	size_t count = s->steps < CC_STEPS_KEPT ? (size_t)s->steps : CC_STEPS_KEPT;
	out[0] = (struct ss_series){"changed", s->changed, count};
	return 1;
}
