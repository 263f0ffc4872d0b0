/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/space/index_impl.h"

#include <math.h>

struct chooser {
	const struct space *space;
	const struct part_source *sources;
	size_t count;
	uint64_t placed;
};

#define BIT(param) (UINT64_C(1) << (param))

static bool can_place(const struct chooser *c, int param) {
	return !(c->placed & BIT(param)) && !(c->space->whens[param].mask & ~c->placed);
}

static double weight(const struct chooser *c, uint64_t mask) {
	double sum = 0;
	for (; mask; mask &= mask - 1)
		sum += log2((double)space_branches(c->space, __builtin_ctzll(mask)));
	return sum;
}

/* The number of combinations of placed parameters that undecided parts still depend on. */
static double width(const struct chooser *c, uint64_t placed) {
	uint64_t needed = 0;
	for (size_t i = 0; i < c->count; i++)
		if (c->sources[i].mask & ~placed)
			needed |= c->sources[i].mask & placed;
	return weight(c, needed);
}

static int next_declared(const struct chooser *c) {
	int param = 0;
	while (!can_place(c, param))
		param++;
	return param;
}

static int next_narrow(const struct chooser *c) {
	int best = -1;
	double least = INFINITY;
	for (int param = 0; param < (int)c->space->param_count; param++) {
		if (!can_place(c, param))
			continue;
		double own = width(c, c->placed | BIT(param));
		if (own < least) {
			least = own;
			best = param;
		}
	}
	return best;
}

static int next_finish(const struct chooser *c) {
	uint64_t target = 0;
	double least = INFINITY;
	for (size_t i = 0; i < c->count; i++) {
		uint64_t left = c->sources[i].mask & ~c->placed;
		double own = weight(c, left);
		if (left && own < least) {
			least = own;
			target = left;
		}
	}
	/* A parameter that it waits for may itself wait for those of its condition. */
	for (;;) {
		uint64_t more = target;
		for (uint64_t rest = target; rest; rest &= rest - 1) {
			int param = __builtin_ctzll(rest);
			if (can_place(c, param))
				return param;
			more |= c->space->whens[param].mask & ~c->placed;
		}
		if (more == target)
			return next_declared(c);
		target = more;
	}
}

void space_order_make(const struct space *space, const struct part_source *sources, size_t count, enum space_order kind,
                      int *order) {
	struct chooser c = {.space = space, .sources = sources, .count = count};
	for (size_t i = 0; i < space->param_count; i++) {
		order[i] = kind == ORDER_NARROW ? next_narrow(&c) : kind == ORDER_FINISH ? next_finish(&c) : next_declared(&c);
		c.placed |= BIT(order[i]);
	}
}
