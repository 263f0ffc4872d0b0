/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Neighbours: first those that differ in one parameter and nothing else, then those that need a repair. */
#include "tuner/space/space_impl.h"

/* Shortest paths through the diagram, depth by depth: of the paths to a node only the cheapest is kept. The number of
 * changes is bounded, and the bound is raised until a path reaches the end, because few changes keep the layers small.
 */
enum { REPAIR_EFFORT_MAX = 1 << 17 };

/* A path to a node; cost: changes << REPAIR_SHIFT | steps. */
struct reach {
	uint64_t cost, index;
	uint32_t node;
};

struct layer {
	struct reach *at;
	size_t count, room;
};

struct search {
	const struct space *space;
	const int *from, *fixed;
	uint64_t changes_max;
	size_t effort;
};

static void push(struct layer *layer, struct reach reach) {
	if (layer->count == layer->room) {
		layer->room = layer->room * 2 + 64;
		layer->at = mem_grow(layer->at, layer->room, sizeof *layer->at);
	}
	layer->at[layer->count++] = reach;
}

static int order(const void *left, const void *right) {
	const struct reach *a = left, *b = right;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void keep_cheapest(struct layer *layer) {
	size_t kept = 0;
	if (layer->count > 1)
		qsort(layer->at, layer->count, sizeof *layer->at, order);
	for (size_t i = 0; i < layer->count; i++)
		if (kept == 0 || layer->at[kept - 1].node != layer->at[i].node)
			layer->at[kept++] = layer->at[i];
	layer->count = kept;
}

/* The wanted branch of a parameter: its own, or if it was absent the middle number or the first word. */
static uint32_t space_wanted(const struct space *space, const int *from, int param) {
	const struct space_param *p = &space->params[param];
	if (from[param] != SPACE_ABSENT)
		return (uint32_t)from[param];
	return p->ordered ? (uint32_t)(p->count - 1) / 2 : 0;
}

/* The cost of a branch for this parameter: changes << REPAIR_SHIFT | steps. */
static uint64_t repair_cost(const struct space *space, const int *from, int param, uint32_t branch) {
	const struct space_param *p = &space->params[param];
	uint32_t want = space_wanted(space, from, param);
	if (branch == p->count)
		return 0;
	uint64_t steps = branch > want ? branch - want : want - branch;
	if (!p->ordered && from[param] != SPACE_ABSENT)
		steps = steps > 0;
	return from[param] == SPACE_ABSENT ? steps : (uint64_t)(steps > 0) << REPAIR_SHIFT | steps;
}

static void follow(struct search *s, const struct reach *reach, int param, uint32_t branch, struct layer *next) {
	uint64_t before, own = s->fixed[param] != REPAIR_FREE ? 0 : repair_cost(s->space, s->from, param, branch);
	uint64_t cost = reach->cost + own;
	s->effort++;
	if (cost >> REPAIR_SHIFT > s->changes_max)
		return;
	uint32_t child = diagram_child(s->space->diagram, reach->node, branch, &before);
	if (child != DIAGRAM_DEAD)
		push(next, (struct reach){cost, reach->index + before, child});
}

/* All branches of an edge lead to the same child, so that the nearest one is enough. */
static void follow_all(struct search *s, const struct reach *reach, int param, struct layer *next) {
	const struct diagram *d = s->space->diagram;
	const struct diagram_node *node = &d->nodes[reach->node];
	uint32_t want = space_wanted(s->space, s->from, param);
	for (uint32_t i = 0; i < node->edges; i++) {
		uint32_t first = d->edges[node->first + i].branch, last = first + diagram_run(d, node, i) - 1;
		follow(s, reach, param, want < first ? first : want > last ? last : want, next);
	}
}

static void expand(struct search *s, const struct reach *reach, int param, struct layer *next) {
	const struct space_param *p = &s->space->params[param];
	if (s->fixed[param] != REPAIR_FREE) {
		follow(s, reach, param, space_branch(s->space, param, s->fixed[param]), next);
	} else if (s->from[param] == SPACE_ABSENT || reach->cost >> REPAIR_SHIFT < s->changes_max) {
		follow_all(s, reach, param, next);
	} else {
		follow(s, reach, param, (uint32_t)s->from[param], next);
		if (p->when)
			follow(s, reach, param, (uint32_t)p->count, next);
	}
}

static bool run(struct search *s, uint64_t *index) {
	const struct diagram *d = s->space->diagram;
	struct layer now = {0}, next = {0};
	push(&now, (struct reach){.node = d->root});
	for (size_t depth = 0; depth < d->depth && s->effort < REPAIR_EFFORT_MAX; depth++) {
		next.count = 0;
		for (size_t i = 0; i < now.count && s->effort < REPAIR_EFFORT_MAX; i++)
			expand(s, &now.at[i], d->order[depth], &next);
		keep_cheapest(&next);
		struct layer swap = now;
		now = next;
		next = swap;
	}
	bool found = now.count > 0 && s->effort < REPAIR_EFFORT_MAX;
	if (found)
		*index = now.at[0].index;
	free(now.at);
	free(next.at);
	return found;
}

bool space_repair(const struct space *space, const int *from, const int *fixed, size_t changes_max, uint64_t *index) {
	struct search search = {.space = space, .from = from, .fixed = fixed};
	for (size_t i = 0; i < space->param_count; i++)
		if (fixed[i] != REPAIR_FREE && !space->diagram->used[i][space_branch(space, (int)i, fixed[i])])
			return false;
	/* The bounds are 0, 1, 2, 4, ..: cost counts changes first, so that a larger bound than needed finds the same path.
	 */
	for (uint64_t bound = 0;; bound = bound ? bound * 2 : 1) {
		search.changes_max = bound < changes_max ? bound : changes_max;
		search.effort = 0;
		if (run(&search, index))
			return true;
		if (bound >= changes_max || search.effort >= REPAIR_EFFORT_MAX)
			return false;
	}
}

/* All repairs of one configuration at once: two passes over the diagram find the cheapest paths from the root to each
 * node and from each node to the end; a repair that fixes a parameter joins one of each. */
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
	mem_auto struct path *paths = mem_alloc(d->edge_count, sizeof *paths);
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
}

static struct repairs *repairs_new(const struct space *space, const int *from) {
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

static void repairs_free(struct repairs *r) {
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

static bool repairs_find(struct repairs *r, int param, uint32_t branch, size_t changes_max, uint64_t *index) {
	if (!r->best[param])
		join(r, param);
	*index = r->best[param][branch].index;
	return r->best[param][branch].cost >> REPAIR_SHIFT <= changes_max;
}

struct walk {
	const struct space *space;
	int config[SPACE_PARAMS_MAX], position[SPACE_PARAMS_MAX]; /* position: the depth of each parameter */
	uint32_t path[SPACE_PARAMS_MAX + 1];                      /* the node at each depth */
	uint64_t before[SPACE_PARAMS_MAX +
	                1]; /* at each depth: the part of the configuration's number that earlier depths contribute */
	uint64_t index, *out;
	size_t count, max, effort;
};

/* Walks near the path of a configuration through the diagram. */

enum { EFFORT_MAX = 1 << 18 };

static void walk_start(struct walk *walk, const struct space *space, uint64_t index, uint64_t *out, size_t max) {
	const struct diagram *d = space->diagram;
	*walk = (struct walk){.space = space, .index = index, .out = out, .max = max};
	space_config(space, index, walk->config);
	walk->path[0] = d->root;
	for (size_t depth = 0; depth < d->depth; depth++) {
		int param = d->order[depth];
		uint64_t before = 0;
		walk->position[param] = (int)depth;
		walk->path[depth + 1] =
			diagram_child(d, walk->path[depth], space_branch(space, param, walk->config[param]), &before);
		walk->before[depth + 1] = walk->before[depth] + before;
	}
}

/* Follows the configuration's own branches from a node on, and adds to the number. */
static bool walk_rest(const struct walk *walk, uint32_t node, size_t depth, uint64_t *index) {
	const struct diagram *d = walk->space->diagram;
	for (; node != walk->path[depth]; depth++) {
		int param = d->order[depth];
		uint64_t before = 0;
		node = diagram_child(d, node, space_branch(walk->space, param, walk->config[param]), &before);
		if (node == DIAGRAM_DEAD)
			return false;
		*index += before;
	}
	*index += walk->index - walk->before[depth];
	return true;
}

static void strict_node(struct walk *walk, uint32_t node, size_t depth, size_t changes, uint64_t index);

static void strict_branch(struct walk *walk, uint32_t node, size_t depth, uint32_t branch, size_t changes,
                          uint64_t index) {
	const struct diagram *d = walk->space->diagram;
	uint64_t before = 0;
	uint32_t child = diagram_child(d, node, branch, &before);
	if (child != DIAGRAM_DEAD)
		strict_node(walk, child, depth + 1, changes, index + before);
}

/* Adds the completions of this node with this many more changes. */
static void strict_node(struct walk *walk, uint32_t node, size_t depth, size_t changes, uint64_t index) {
	const struct diagram *d = walk->space->diagram;
	if (changes > d->depth - depth || walk->count == walk->max || ++walk->effort > EFFORT_MAX)
		return;
	if (changes == 0 && node == walk->path[depth]) {
		walk->out[walk->count++] = index + walk->index - walk->before[depth];
		return;
	}
	if (depth == d->depth)
		return;
	int param = d->order[depth];
	const struct space_param *p = &walk->space->params[param];
	bool absent = walk->config[param] == SPACE_ABSENT;
	uint32_t want = space_wanted(walk->space, walk->config, param);
	for (uint32_t branch = want ? want - 1 : 0; branch <= want + 1 && branch < p->count; branch++) {
		bool change = !absent && branch != want;
		if (!change || changes > 0)
			strict_branch(walk, node, depth, branch, changes - change, index);
	}
	if (p->when)
		strict_branch(walk, node, depth, (uint32_t)p->count, changes, index);
}

/* Adds the strictly adjacent neighbours. */
static void walk_strict(struct walk *walk) {
	for (size_t changes = 1; changes <= walk->space->param_count; changes++)
		strict_node(walk, walk->space->diagram->root, 0, changes, 0);
}

struct near {
	struct walk walk;
	enum space_near kind;
	size_t plain;      /* neighbours that differ in one parameter only, which are distinct by construction */
	uint64_t deciders; /* parameters on which conditions depend */
	int fixed[SPACE_PARAMS_MAX];
	struct repairs *repairs; /* NULL: each repair is a search of its own */
};

static bool plain_index(const struct near *near, int param, int level, uint64_t *index) {
	const struct walk *walk = &near->walk;
	size_t depth = (size_t)walk->position[param];
	uint64_t before = 0;
	uint32_t child = diagram_child(walk->space->diagram, walk->path[depth], (uint32_t)level, &before);
	*index = walk->before[depth] + before;
	return child != DIAGRAM_DEAD && walk_rest(walk, child, depth + 1, index);
}

static bool repaired_index(struct near *near, int param, int level, uint64_t *index) {
	const struct space *space = near->walk.space;
	size_t changes_max = near->kind == SPACE_PLAIN ? 0 : space->param_count;
	if (near->repairs)
		return repairs_find(near->repairs, param, (uint32_t)level, changes_max, index);
	near->fixed[param] = level;
	bool found = space_repair(space, near->walk.config, near->fixed, changes_max, index);
	near->fixed[param] = REPAIR_FREE;
	return found;
}

static bool is_known(const struct near *near, uint64_t index) {
	for (size_t i = near->plain; i < near->walk.count; i++)
		if (near->walk.out[i] == index)
			return true;
	return false;
}

static void add(struct near *near, int param, int level, bool plain) {
	uint64_t index;
	bool valid = plain_index(near, param, level, &index);
	if (!plain)
		valid = !valid && repaired_index(near, param, level, &index) && !is_known(near, index);
	if (valid && near->walk.count < near->walk.max)
		near->walk.out[near->walk.count++] = index;
}

/* Adds the next value that the parameter has in any valid configuration. */
static void add_next(struct near *near, int param, int step, bool plain) {
	const struct space *space = near->walk.space;
	int count = (int)space->params[param].count, level = near->walk.config[param] + step;
	while (level >= 0 && level < count && !space->diagram->used[param][level])
		level += step;
	if (level >= 0 && level < count)
		add(near, param, level, plain);
}

static void add_param(struct near *near, int param, bool plain) {
	const struct space_param *p = &near->walk.space->params[param];
	const uint8_t *used = near->walk.space->diagram->used[param];
	if (near->kind == SPACE_ADJACENT && p->ordered) {
		add_next(near, param, -1, plain);
		add_next(near, param, 1, plain);
		return;
	}
	for (int level = 0; level < (int)p->count && near->walk.count < near->walk.max; level++)
		if (used[level] && level != near->walk.config[param])
			add(near, param, level, plain);
}

static void add_all(struct near *near, bool plain) {
	for (int param = 0; param < (int)near->walk.space->param_count && near->walk.count < near->walk.max; param++) {
		bool hopeless = !plain && near->kind == SPACE_PLAIN && !(near->deciders >> param & 1);
		if (near->walk.config[param] != SPACE_ABSENT && !hopeless)
			add_param(near, param, plain);
	}
}

static void add_repaired(struct near *near) {
	const struct space *space = near->walk.space;
	for (size_t i = 0; i < space->param_count; i++) {
		near->fixed[i] = REPAIR_FREE;
		near->deciders |= space->whens[i].mask;
	}
	if (near->kind == SPACE_PLAIN && !near->deciders)
		return;
	near->plain = near->walk.count;
	if (near->kind != SPACE_PLAIN)
		near->repairs = repairs_new(space, near->walk.config);
	add_all(near, false);
	repairs_free(near->repairs);
}

size_t space_near(const struct space *space, uint64_t index, enum space_near kind, uint64_t *out, size_t max) {
	struct near near = {.kind = kind};
	walk_start(&near.walk, space, index, out, max);
	if (kind == SPACE_STRICT) {
		walk_strict(&near.walk);
		return near.walk.count;
	}
	add_all(&near, true);
	if (near.walk.count < max)
		add_repaired(&near);
	return near.walk.count;
}
