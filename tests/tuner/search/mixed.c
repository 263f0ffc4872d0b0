/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/tuner/search/land.h"
#include "tests/tuner/space/help.h"

enum { PARAMS = 6, VALUES = 6, VALID_MIN = 200, VALID_MAX = 600 };

struct mixed {
	size_t count;
	int values[PARAMS];
	bool ordered[PARAMS];
	int parent[PARAMS], when[PARAMS]; /* exists only if parameter `parent` does not have the value `when`; -1: always */
	double main[PARAMS][VALUES];
	double pair[PARAMS][PARAMS][VALUES][VALUES];
	double rough;
	uint64_t seed;
};

static double mixed_time(const struct space *space, const int *config, const void *opaque) {
	const struct mixed *mixed = opaque;
	uint64_t hash = mixed->seed;
	double sum = 0;
	struct rng rng;
	(void)space;
	for (size_t p = 0; p < mixed->count; p++) {
		hash = (hash ^ (uint64_t)(config[p] + 2)) * UINT64_C(0x100000001B3);
		if (config[p] == SPACE_ABSENT)
			continue;
		sum += mixed->main[p][config[p]];
		for (size_t q = 0; q < p; q++)
			sum += config[q] == SPACE_ABSENT ? 0 : mixed->pair[p][q][config[p]][config[q]];
	}
	rng_seed(&rng, hash);
	return exp(sum + mixed->rough * rng_normal(&rng));
}

/* The effect of a number is a valley with one minimum; the effects of words are unrelated. */
static void draw_main(struct mixed *mixed, size_t p, double scale, struct rng *rng) {
	double at = rng_unit(rng) * (mixed->values[p] - 1);
	for (int v = 0; v < mixed->values[p]; v++) {
		double off = (v - at) / (mixed->values[p] > 1 ? mixed->values[p] - 1 : 1);
		mixed->main[p][v] = mixed->ordered[p] ? 2 * scale * off * off : scale * rng_normal(rng);
	}
}

/* Between numbers a twist moves the minimum of one with the other; with a word, each word has a different effect. */
static void draw_pair(struct mixed *mixed, size_t p, size_t q, double scale, struct rng *rng) {
	double twist = rng_normal(rng);
	for (int v = 0; v < mixed->values[p]; v++) {
		double per_value = rng_normal(rng);
		for (int w = 0; w < mixed->values[q]; w++) {
			double u = 2.0 * v / (mixed->values[p] - 1) - 1, t = 2.0 * w / (mixed->values[q] - 1) - 1;
			double effect = mixed->ordered[p] && mixed->ordered[q] ? twist * u * t
			                : mixed->ordered[q]                    ? per_value * t
			                                                       : rng_normal(rng);
			mixed->pair[p][q][v][w] = scale * effect;
		}
	}
}

static void draw(struct mixed *mixed, struct rng *rng) {
	double scale[PARAMS];
	mixed->count = 4 + rng_below(rng, PARAMS - 3);
	mixed->rough = 0.01 * rng_unit(rng);
	for (size_t p = 0; p < mixed->count; p++) {
		mixed->ordered[p] = rng_below(rng, 2);
		mixed->values[p] = 2 + (int)rng_below(rng, mixed->ordered[p] ? VALUES - 1 : 3);
		mixed->parent[p] = p > 0 && rng_below(rng, 3) == 0 ? (int)rng_below(rng, p) : -1;
		mixed->when[p] = mixed->parent[p] < 0 ? 0 : (int)rng_below(rng, (uint64_t)mixed->values[mixed->parent[p]]);
		scale[p] = exp(log(0.02) + rng_unit(rng) * log(0.8 / 0.02));
		draw_main(mixed, p, scale[p], rng);
		for (size_t q = 0; q < p; q++)
			if (rng_below(rng, 5) < 2)
				draw_pair(mixed, p, q, 0.25 * sqrt(scale[p] * scale[q]), rng);
	}
}

static struct space *mixed_space(const struct mixed *mixed) {
	struct space *space = space_new();
	for (size_t p = 0; p < mixed->count; p++) {
		char name[32], when[32], values[64] = "";
		for (int v = 0; v < mixed->values[p]; v++)
			snprintf(values + strlen(values), sizeof values - strlen(values), "%s%s%d", v ? "," : "",
			         mixed->ordered[p] ? "" : "w", 1 << v);
		int parent = mixed->parent[p];
		if (parent >= 0)
			snprintf(when, sizeof when, mixed->ordered[parent] ? "p%d != %d" : "p%d != 'w%d'", parent,
			         1 << mixed->when[p]);
		snprintf(name, sizeof name, "p%zu", p);
		add_param(space, name, values, parent < 0 ? NULL : when);
	}
	return space;
}

struct land *land_mixed(uint64_t seed) {
	struct rng rng;
	rng_split(&rng, seed, "mixed");
	for (;;) {
		struct mixed mixed = {.seed = seed};
		draw(&mixed, &rng);
		struct land *land = land_new(mixed_space(&mixed), mixed_time, &mixed, NULL);
		land->start = rng_below(&rng, land->valid);
		if (land->valid >= VALID_MIN && land->valid <= VALID_MAX)
			return land;
		land_free(land);
	}
}
