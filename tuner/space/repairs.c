/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All repairs of one configuration at once: two passes over the diagram find the cheapest paths from the root to each
 * node and from each node to the end; a repair that fixes a parameter joins one of each. */
#include <config.h>

#include <stdlib.h>

#include "tuner/space/repair.h"

enum { EDGES_MAX = 1 << 16 };

/* Cost and number together: the cheapest path first, then the smallest number. */
struct path {
	uint64_t cost, index;
};

struct repairs {
	const struct space *space;
	const int *from;
	uint32_t want[SPACE_PARAMS_MAX];
	uint64_t *cost[SPACE_PARAMS_MAX];    /* of each branch */
	struct path *to, *on;                /* of each node: from the root, and to the end */
	struct path *best[SPACE_PARAMS_MAX]; /* of each branch; computed on first use */
};

static const struct path none = {UINT64_MAX, UINT64_MAX};

static void take(struct path *best, struct path path) {
	if (path.cost < best->cost || (path.cost == best->cost && path.index < best->index))
		*best = path;
}

/* The path over an edge takes its branch nearest to the wanted one. */
static struct path edge_path(const struct repairs *r, const struct diagram_node *node, uint32_t edge, int param) {
	const struct diagram *d = r->space->diagram;
	const struct diagram_edge *e = &d->edges[node->first + edge];
	uint32_t want = r->want[param], branch = e->branch;
	if (want > branch) {
		uint32_t last = branch + diagram_run(d, node, edge) - 1;
		branch = want < last ? want : last;
	}
	return (struct path){r->cost[param][branch], e->before + (branch - e->branch) * d->nodes[e->child].count};
}

/* A single loop does, because children have lower numbers than their parents. */
static void find_ways(struct repairs *r) {
	const struct diagram *d = r->space->diagram;
	struct path *paths = mem_alloc(d->edge_count, sizeof *paths);
	r->on[DIAGRAM_END] = (struct path){0, 0};
	for (size_t n = DIAGRAM_DEAD + 1; n < d->node_count; n++) {
		const struct diagram_node *node = &d->nodes[n];
		r->on[n] = none;
		for (uint32_t i = 0; i < node->edges; i++) {
			struct path over = edge_path(r, node, i, d->order[d->depth_of[n]]);
			struct path on = r->on[d->edges[node->first + i].child];
			paths[node->first + i] = over;
			take(&r->on[n], (struct path){over.cost + on.cost, over.index + on.index});
		}
	}
	for (size_t n = 0; n < d->node_count; n++)
		r->to[n] = none;
	r->to[d->root] = (struct path){0, 0};
	for (size_t n = d->node_count; n-- > DIAGRAM_DEAD + 1;) {
		const struct diagram_node *node = &d->nodes[n];
		for (uint32_t i = 0; i < node->edges && r->to[n].cost != UINT64_MAX; i++) {
			struct path over = paths[node->first + i];
			take(&r->to[d->edges[node->first + i].child],
			     (struct path){r->to[n].cost + over.cost, r->to[n].index + over.index});
		}
	}
	free(paths);
}

struct repairs *repairs_new(const struct space *space, const int *from) {
	const struct diagram *d = space->diagram;
	if (d->edge_count > EDGES_MAX)
		return NULL;
	struct repairs *r = mem_alloc(1, sizeof *r);
	r->space = space;
	r->from = from;
	for (int i = 0; i < (int)space->param_count; i++) {
		r->want[i] = space_wanted(space, from, i);
		r->cost[i] = mem_alloc(space_branches(space, i), sizeof **r->cost);
		for (uint32_t branch = 0; branch < space_branches(space, i); branch++)
			r->cost[i][branch] = repair_cost(space, from, i, branch);
	}
	r->to = mem_alloc(d->node_count, sizeof *r->to);
	r->on = mem_alloc(d->node_count, sizeof *r->on);
	find_ways(r);
	return r;
}

void repairs_free(struct repairs *r) {
	if (!r)
		return;
	for (size_t i = 0; i < r->space->param_count; i++) {
		free(r->best[i]);
		free(r->cost[i]);
	}
	free(r->to);
	free(r->on);
	free(r);
}

static void join_edge(struct repairs *r, const struct diagram_node *node, uint32_t edge, struct path to, int param) {
	const struct diagram *d = r->space->diagram;
	const struct diagram_edge *e = &d->edges[node->first + edge];
	uint32_t run = diagram_run(d, node, edge);
	struct path path = {to.cost + r->on[e->child].cost, to.index + e->before + r->on[e->child].index};
	for (uint32_t i = 0; i < run; i++, path.index += d->nodes[e->child].count)
		take(&r->best[param][e->branch + i], path);
}

static void join(struct repairs *r, int param) {
	const struct diagram *d = r->space->diagram;
	uint32_t branches = space_branches(r->space, param);
	r->best[param] = mem_alloc(branches, sizeof **r->best);
	for (uint32_t i = 0; i < branches; i++)
		r->best[param][i] = none;
	for (size_t n = DIAGRAM_DEAD + 1; n < d->node_count; n++)
		for (uint32_t i = 0; d->order[d->depth_of[n]] == param && i < d->nodes[n].edges; i++)
			if (r->to[n].cost != UINT64_MAX)
				join_edge(r, &d->nodes[n], i, r->to[n], param);
}

bool repairs_find(struct repairs *r, int param, uint32_t branch, size_t changes_max, uint64_t *index) {
	if (!r->best[param])
		join(r, param);
	*index = r->best[param][branch].index;
	return r->best[param][branch].cost >> REPAIR_SHIFT <= changes_max;
}
