/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/line.h"

enum { UP, DOWN, NEAR_MAX = 1024 };
static const double NOISE = 1.02; /* a ray goes on through what is at most this much worse */

struct ray {
	uint64_t *index; /* in the order of distance from where the line began */
	size_t count, at;
	bool improved;
};

struct line {
	const struct space *space;
	bool ordered;
	double value; /* the best of the line */
	struct ray *rays;
	size_t ray_count, ray;
	uint64_t *near;
	int *here, *there;
};

struct line *line_new(struct arena *arena, const struct space *space) {
	struct line *line = arena_alloc(arena, 1, sizeof *line);
	size_t params = space_params(space), rays = 2;
	for (size_t p = 0; p < params && rays < NEAR_MAX; p++) /* a repair can make any neighbour look like one of a line */
		rays += space_param_values(space, p);
	rays = rays < NEAR_MAX ? rays : NEAR_MAX;
	line->space = space;
	line->here = arena_alloc(arena, params, sizeof *line->here);
	line->there = arena_alloc(arena, params, sizeof *line->there);
	line->near = arena_alloc(arena, NEAR_MAX, sizeof *line->near);
	line->rays = arena_alloc(arena, rays, sizeof *line->rays);
	for (size_t r = 0; r < rays; r++)
		line->rays[r].index = arena_alloc(arena, r <= DOWN ? NEAR_MAX : 1, sizeof *line->rays[r].index);
	return line;
}

/* Which parameter a neighbour changes: the first that exists in both and differs; others follow from it. */
static size_t changed(const struct line *line) {
	size_t all = space_params(line->space), second = all;
	for (size_t p = 0; p < all; p++) {
		if (line->here[p] == line->there[p])
			continue;
		if (line->here[p] != SPACE_ABSENT && line->there[p] != SPACE_ABSENT)
			return p;
		if (second == all)
			second = p;
	}
	return second;
}

static void ray_clear(struct ray *ray) {
	*ray = (struct ray){.index = ray->index};
}

static void ray_reverse(struct ray *ray) {
	for (size_t i = 0; i < ray->count / 2; i++) {
		uint64_t swapped = ray->index[i];
		ray->index[i] = ray->index[ray->count - 1 - i];
		ray->index[ray->count - 1 - i] = swapped;
	}
}

static void line_add(struct line *line, size_t param, uint64_t index) {
	size_t r = line->ordered ? (line->there[param] > line->here[param] ? UP : DOWN) : line->ray_count++;
	struct ray *ray = &line->rays[r];
	if (!line->ordered)
		ray_clear(ray);
	ray->index[ray->count++] = index;
}

void line_begin(struct line *line, size_t param, uint64_t from, double value, struct rng *rng) {
	size_t count = space_near(line->space, from, SPACE_HAMMING, line->near, NEAR_MAX);
	line->ordered = space_param_ordered(line->space, param);
	line->value = value;
	line->ray = 0;
	line->ray_count = line->ordered ? 2 : 0;
	for (size_t r = 0; r < line->ray_count; r++)
		ray_clear(&line->rays[r]);
	space_config(line->space, from, line->here);
	for (size_t i = 0; i < count; i++) { /* values come in order */
		space_config(line->space, line->near[i], line->there);
		if (changed(line) == param)
			line_add(line, param, line->near[i]);
	}
	if (line->ordered)
		ray_reverse(&line->rays[DOWN]);
	rng_shuffle(rng, line->rays, line->ray_count, sizeof *line->rays);
}

uint64_t line_next(struct line *line) {
	for (; line->ray < line->ray_count; line->ray++) {
		const struct ray *ray = &line->rays[line->ray];
		if (ray->at < ray->count)
			return ray->index[ray->at];
	}
	return UINT64_MAX;
}

bool line_tell(struct line *line, double value) {
	struct ray *ray = &line->rays[line->ray];
	bool better = value < line->value, goes_on = value <= line->value * NOISE;
	ray->at++;
	ray->improved |= better;
	if (better)
		line->value = value;
	if (line->ordered && ray->improved && (!goes_on || ray->at == ray->count))
		line->ray = line->ray_count; /* it fell on this side, so it rises on the other */
	else if (!goes_on)
		line->ray++;
	return better;
}
