/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/space/nearest.h"

#include <math.h>

#include "tuner/space/impl.h"

static const double SAME = 0.5;    /* distance within which a wish rounds to the level */
static const double ABSENCE = 0.5; /* cost of a wish for a parameter that is absent */
static const double INDIFFERENT = 0.01;

/* A prefix of a configuration. */
struct beginning {
	double cost;
	uint64_t index;
	uint32_t node;
};

struct beam {
	struct beginning at[SPACE_NEAREST_MAX];
	size_t count;
};

struct level {
	const struct space_param *param;
	double wish;
	struct beam *next;
};

static double branch_cost(const struct level *level, uint32_t branch) {
	const struct space_param *p = level->param;
	double count = (double)p->count, wish = level->wish;
	if (isnan(wish))
		return INDIFFERENT * (p->ordered ? fabs(branch - (count - 1) / 2) / count : branch > 0);
	double off = fabs(branch - wish);
	if (!p->ordered)
		return off > SAME;
	return (off > SAME) + off / count;
}

/* False: the beam is full of better prefixes. */
static bool beam_add(struct beam *beam, struct beginning new) {
	size_t at = beam->count;
	if (at == SPACE_NEAREST_MAX && new.cost >= beam->at[--at].cost)
		return false;
	for (; at > 0 && beam->at[at - 1].cost > new.cost; at--)
		beam->at[at] = beam->at[at - 1];
	beam->at[at] = new;
	beam->count += beam->count < SPACE_NEAREST_MAX;
	return true;
}

static bool follow(const struct level *level, const struct diagram *d, const struct diagram_edge *edge,
                   const struct beginning *from, uint32_t branch) {
	bool absent = branch == level->param->count;
	double cost = !absent ? branch_cost(level, branch) : isnan(level->wish) ? 0 : ABSENCE;
	uint64_t before = edge->before + (branch - edge->branch) * d->nodes[edge->child].count;
	return beam_add(level->next, (struct beginning){from->cost + cost, from->index + before, edge->child});
}

/* Goes outwards from the level nearest to the wish, as long as the cost can still compete. */
static void follow_run(const struct level *level, const struct diagram *d, const struct diagram_edge *edge,
                       uint32_t run, const struct beginning *from) {
	uint32_t first = edge->branch, end = edge->branch + run, count = (uint32_t)level->param->count;
	if (end > count && !follow(level, d, edge, from, count) && run == 1)
		return;
	end = end < count ? end : count;
	if (first >= end)
		return;
	double middle = level->param->ordered ? (double)(count - 1) / 2 : 0;
	double want = fmin(fmax(round(isnan(level->wish) ? middle : level->wish), first), end - 1);
	uint32_t up = (uint32_t)want, down = up;
	bool rising = true, falling = true;
	while (rising || falling) {
		rising = rising && up < end && follow(level, d, edge, from, up++);
		falling = falling && down > first && follow(level, d, edge, from, --down);
	}
}

size_t space_nearest(const struct space *space, const double *wish, uint64_t *out, size_t max) {
	const struct diagram *d = space->diagram;
	struct beam beams[2], *now = &beams[0], *next = &beams[1];
	now->count = 1;
	now->at[0] = (struct beginning){.node = d->root};
	for (size_t depth = 0; depth < d->depth; depth++) {
		const struct level level = {&space->params[d->order[depth]], wish[d->order[depth]], next};
		next->count = 0;
		for (size_t i = 0; i < now->count; i++) {
			const struct diagram_node *node = &d->nodes[now->at[i].node];
			for (uint32_t e = 0; e < node->edges; e++)
				follow_run(&level, d, &d->edges[node->first + e], diagram_run(d, node, e), &now->at[i]);
		}
		struct beam *swap = now;
		now = next;
		next = swap;
	}
	size_t count = now->count < max ? now->count : max;
	for (size_t i = 0; i < count; i++)
		out[i] = now->at[i].index;
	return count;
}
