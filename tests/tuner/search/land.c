/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tuner/search/land.h"

#include <math.h>

#include "tests/tuner/space/help.h"

struct land *land_new(struct space *space, land_model *model, const void *shape, const int *start) {
	struct land *land = mem_alloc(1, sizeof *land);
	int config[SPACE_PARAMS_MAX];
	land->space = built(space);
	land->valid = space_valid(space);
	land->time = mem_alloc(land->valid, sizeof *land->time);
	for (uint64_t i = 0; i < land->valid; i++) {
		space_config(space, i, config);
		land->time[i] = model(space, config, shape);
		if (land->time[i] < land->time[land->best])
			land->best = i;
	}
	if (start && !space_index(space, start, &land->start)) {
		fprintf(stderr, "the start is no configuration of its space\n");
		exit(1);
	}
	return land;
}

void land_free(struct land *land) {
	space_free(land->space);
	free(land->time);
	free(land);
}

static double away(int place, int best) {
	return place == SPACE_ABSENT ? 0 : abs(place - best);
}

static double flat(const struct space *space, const int *config, const void *shape) {
	(void)space, (void)config, (void)shape;
	return 1;
}

struct land *land_single(void) {
	struct space *space = space_new();
	add_param(space, "only", "7", NULL);
	return land_new(space, flat, NULL, NULL);
}

static double by_place(const struct space *space, const int *config, const void *shape) {
	(void)space, (void)shape;
	return 1 + config[0];
}

struct land *land_two(void) {
	struct space *space = space_new();
	add_param(space, "either", "a,b", NULL);
	return land_new(space, by_place, NULL, NULL);
}

static double bowl(const struct space *space, const int *config, const void *shape) {
	static const int bottom[] = {5, 2, 7, 3};
	double sum = 0;
	(void)shape;
	for (size_t p = 0; p < space_params(space); p++)
		sum += 0.1 * (double)(p + 1) * away(config[p], bottom[p]);
	return exp(sum);
}

struct land *land_bowl(void) {
	struct space *space = space_new();
	add_param(space, "a", "1..8", NULL);
	add_param(space, "b", "1..8", NULL);
	add_param(space, "c", "1..8", NULL);
	add_param(space, "d", "1..8", NULL);
	return land_new(space, bowl, NULL, NULL);
}

static double wide(const struct space *space, const int *config, const void *shape) {
	(void)space, (void)shape;
	return 1 + 0.001 * away(config[0], 1234) + 0.3 * away(config[1], 2);
}

struct land *land_wide(void) {
	struct space *space = space_new();
	add_param(space, "wide", "1..2000", NULL);
	add_param(space, "narrow", "1..4", NULL);
	return land_new(space, wide, NULL, NULL);
}

static double separable(const struct space *space, const int *config, const void *shape) {
	(void)space, (void)shape;
	return 1 + 0.3 * away(config[0], 3) + 0.2 * away(config[1], 5) + (config[2] == 2 ? 0 : 0.5);
}

static struct space *two_and_word(void) {
	struct space *space = space_new();
	add_param(space, "x", "0..6", NULL);
	add_param(space, "y", "0..6", NULL);
	add_param(space, "w", "a,b,c,d", NULL);
	return space;
}

struct land *land_separable(void) {
	return land_new(two_and_word(), separable, NULL, NULL);
}

static double interacting(const struct space *space, const int *config, const void *shape) {
	(void)space, (void)shape;
	double along = 12 - config[0] - config[1], across = abs(config[0] - config[1]);
	return 1 + 0.5 * across + 0.1 * along + 0.4 * (config[2] != config[0] % 4);
}

struct land *land_interacting(void) {
	return land_new(two_and_word(), interacting, NULL, NULL);
}

static double plateau(const struct space *space, const int *config, const void *shape) {
	(void)space, (void)shape;
	return config[0] >= 5 && config[1] >= 5 ? 1 : 2;
}

struct land *land_plateau(void) {
	return land_new(two_and_word(), plateau, NULL, NULL);
}

static double needle(const struct space *space, const int *config, const void *shape) {
	(void)space, (void)shape;
	return config[0] == 5 && config[1] == 2 && config[2] == 1 ? 0.1 : 1 + 0.01 * ((config[0] * 5 + config[1] * 3) % 7);
}

struct land *land_needle(void) {
	return land_new(two_and_word(), needle, NULL, NULL);
}

static double conditional(const struct space *space, const int *config, const void *shape) {
	(void)space, (void)shape;
	static const double variant[] = {3, 1.5, 1};
	return variant[config[0]] * (1 + 0.4 * away(config[1], 4)) * (1 + 0.2 * away(config[2], 1)) * (1 + 0.1 * config[3]);
}

struct land *land_conditional(void) {
	struct space *space = space_new();
	add_param(space, "variant", "plain,tiled,vector", NULL);
	add_param(space, "block", "16..512*2", "variant != 'plain'");
	add_param(space, "unroll", "1..8*2", "variant == 'vector' and block >= 64");
	add_param(space, "layout", "row,column", NULL);
	return land_new(space, conditional, NULL, NULL);
}

static double by_row(const struct space *space, const int *config, const void *shape) {
	(void)space, (void)shape;
	static const double team[] = {2, 1.2, 1, 1.1};
	return team[config[0]] * (config[1] == 1 ? 1 : 1.3) * (config[2] == 0 ? 1.2 : 1) * (1 + 0.1 * away(config[3], 3));
}

struct land *land_table(void) {
	static const char *const names[] = {"threads", "bind", "places"};
	static const int rows[] = {0, 0, SPACE_ABSENT, 1, 0, SPACE_ABSENT, 1, 1, 0, 2, 0, SPACE_ABSENT, 2, 1, 1, 3, 2, 0};
	struct err err = {0};
	struct space *space = space_new();
	add_param(space, "threads", "1..4", NULL);
	add_param(space, "bind", "false,close,spread", NULL);
	add_param(space, "places", "cores,sockets", "bind != 'false'");
	add_param(space, "grain", "1,4,16,64,256", NULL);
	must(space_add_table(space, names, 3, rows, sizeof rows / sizeof *rows / 3, &err), &err);
	return land_new(space, by_row, NULL, NULL);
}

static double failing(const struct space *space, const int *config, const void *shape) {
	uint32_t hash = (uint32_t)(config[0] * 64 + config[1] * 8 + config[2] + 1) * UINT32_C(2654435761);
	bool first = config[0] == 0 && config[1] == 0 && config[2] == 0, last = config[0] == 3 && config[1] == 5;
	return first || (!last && (hash >> 16) % 10 < 3) ? INFINITY : separable(space, config, shape);
}

struct land *land_failing(void) {
	return land_new(two_and_word(), failing, NULL, NULL);
}
