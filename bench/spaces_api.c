/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded spaces and large ones inside one process: name, value, unit and limit of each figure, a line each. Times are
 * the least of a few rounds, since other processes only ever add to them. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/tuner/space/help.h"

enum { ROUNDS = 5, CALLS = 200000, NEAR_CALLS = 200, NEAR_MAX = 4096 };

struct rows {
	size_t count, params;
	int values, *cells;
};

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say(const char *space, const char *what, double value, const char *unit, double limit) {
	printf("%s: %s\t%.6g\t%s\t%g\n", space, what, value, unit, limit);
}

static struct rows random_rows(size_t count, size_t params, int values) {
	struct rng rng;
	struct rows rows = {count, params, values, mem_alloc(count * params, sizeof *rows.cells)};
	rng_seed(&rng, 1);
	for (size_t i = 0; i < count * params; i++)
		rows.cells[i] = (int)rng_below(&rng, (uint64_t)values);
	return rows;
}

static struct space *rows_space(const struct rows *rows) {
	struct space *space = space_new();
	struct err err;
	char text[SPACE_PARAMS_MAX][8], range[32];
	const char *names[SPACE_PARAMS_MAX];
	snprintf(range, sizeof range, "1..%d", rows->values);
	for (size_t i = 0; i < rows->params; i++) {
		snprintf(text[i], sizeof text[i], "p%zu", i);
		add_param(space, names[i] = text[i], range, NULL);
	}
	must(space_add_table(space, names, rows->params, rows->cells, rows->count, &err), &err);
	return built(space);
}

/* Something must come of the calls, or the compiler drops them. */
static volatile uint64_t sink;

static double sample_time(const struct space *space) {
	struct rng rng;
	uint64_t sum = 0;
	rng_seed(&rng, 2);
	double begun = now();
	for (int i = 0; i < CALLS; i++)
		sum += space_sample(space, &rng);
	sink += sum;
	return (now() - begun) / CALLS;
}

static double config_time(const struct space *space) {
	int config[SPACE_PARAMS_MAX];
	uint64_t sum = 0, valid = space_valid(space);
	double begun = now();
	for (uint64_t i = 0; i < CALLS; i++) {
		space_config(space, i * 7919 % valid, config);
		sum += (uint64_t)config[0];
	}
	sink += sum;
	return (now() - begun) / CALLS;
}

static double index_time(const struct space *space, const struct rows *rows) {
	uint64_t index = 0, sum = 0;
	double begun = now();
	for (size_t i = 0; i < CALLS; i++) {
		space_index(space, rows->cells + i * 7919 % rows->count * rows->params, &index);
		sum += index;
	}
	sink += sum;
	return (now() - begun) / CALLS;
}

static double near_time(const struct space *space, enum space_near kind) {
	static uint64_t near[NEAR_MAX];
	uint64_t sum = 0, valid = space_valid(space);
	double begun = now();
	for (uint64_t i = 0; i < NEAR_CALLS; i++)
		sum += space_near(space, i * 7919 % valid, kind, near, NEAR_MAX);
	sink += sum;
	return (now() - begun) / NEAR_CALLS;
}

static void say_near(const struct space *space, const char *name, const double *limits) {
	static const char *const kinds[] = {"Hamming neighbours with repairs", "adjacent neighbours with repairs",
	                                    "plain neighbours", "strictly adjacent neighbours"};
	for (int kind = SPACE_HAMMING; kind <= SPACE_STRICT; kind++) {
		double least = INFINITY;
		for (int round = 0; round < ROUNDS; round++)
			least = fmin(least, near_time(space, (enum space_near)kind));
		say(name, kinds[kind], 1e6 * least, "us", limits[kind]);
	}
}

static void say_calls(const struct space *space, const struct rows *rows, const char *name) {
	double sample = INFINITY, config = INFINITY, index = INFINITY;
	for (int round = 0; round < ROUNDS; round++) {
		sample = fmin(sample, sample_time(space));
		config = fmin(config, config_time(space));
		index = rows ? fmin(index, index_time(space, rows)) : 0;
	}
	say(name, "a sample", 1e9 * sample, "ns", 100);
	say(name, "number to configuration", 1e9 * config, "ns", 1000);
	if (rows)
		say(name, "configuration to number", 1e9 * index, "ns", 1000);
}

static void say_rows(size_t count, size_t params, int values, double limit_ms, const double *near) {
	struct rows rows = random_rows(count, params, values);
	struct rusage usage;
	char name[64];
	snprintf(name, sizeof name, "%zu rows of %zu", count, params);
	double least = INFINITY;
	struct space *space = NULL;
	for (int round = 0; round < (count > 1000000 ? 1 : ROUNDS); round++) {
		space_free(space);
		double begun = now();
		space = rows_space(&rows);
		least = fmin(least, now() - begun);
	}
	getrusage(RUSAGE_SELF, &usage);
	say(name, "built", 1e3 * least, "ms", limit_ms);
	say(name, "peak memory so far", (double)usage.ru_maxrss / 1024, "MB", 1024);
	say_calls(space, &rows, name);
	if (near)
		say_near(space, name, near);
	space_free(space);
	free(rows.cells);
}

/* Draws of each configuration against 12 of each: the deviation of chi-square in units of its own. */
static double uniformity(const struct space *space) {
	struct rng rng;
	uint64_t valid = space_valid(space), index = 0;
	uint32_t *hits = mem_alloc(valid, sizeof *hits);
	int config[SPACE_PARAMS_MAX];
	double chi = 0, freedom = (double)valid - 1;
	rng_seed(&rng, 3);
	for (uint64_t i = 0; i < valid * 12; i++) {
		space_config(space, space_sample(space, &rng), config);
		space_index(space, config, &index);
		hits[index]++;
	}
	for (uint64_t i = 0; i < valid; i++)
		chi += ((double)hits[i] - 12) * ((double)hits[i] - 12) / 12;
	free(hits);
	return fabs(chi - freedom) / sqrt(2 * freedom);
}

/* Numbers, all of them or a million drawn, that don't come back. */
static uint64_t lost(const struct space *space) {
	struct rng rng;
	uint64_t valid = space_valid(space), count = valid < 1000000 ? valid : 1000000, bad = 0;
	int config[SPACE_PARAMS_MAX];
	rng_seed(&rng, 4);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t index = count == valid ? i : space_sample(space, &rng), back = 0;
		space_config(space, index, config);
		bad += !space_index(space, config, &back) || back != index;
	}
	return bad;
}

static struct space *chain_space(int params, int values, const char *link) {
	struct space *space = space_new();
	char name[8], range[16], text[64];
	snprintf(range, sizeof range, "1..%d", values);
	for (int i = 0; i < params; i++) {
		snprintf(name, sizeof name, "p%d", i);
		add_param(space, name, range, NULL);
	}
	for (int i = 0; i + 1 < params; i++) {
		snprintf(text, sizeof text, link, i, i + 1);
		add_constraint(space, text);
	}
	return built(space);
}

static void say_ruled(struct space *space, const char *name, bool small, const double *near) {
	say(name, "numbers that don't come back", (double)lost(space), "", 0);
	if (small)
		say(name, "sampling, deviation from uniform", uniformity(space), "sigma", 4);
	say_calls(space, NULL, name);
	say_near(space, name, near);
	space_free(space);
}

int main(void) {
	static const double real[] = {200, 200, 20, 200}, sparse[] = {1000, 1000, 20, 1000}, deep[] = {1e4, 1e4, 50, 5000};
	say_rows(11130, 8, 6, 10, sparse);
	say_rows(11130, 10, 3, 10, sparse);
	say_ruled(built(convolution_space()), "convolution", true, real);
	say_ruled(built(hotspot_space()), "hotspot", true, sparse);
	say_ruled(chain_space(12, 10, "p%d <= p%d"), "12 rising", true, deep);
	say_ruled(chain_space(20, 20, "p%d <= p%d"), "20 rising, 20 values each", false, deep);
	say_ruled(chain_space(12, 10, "p%2$d %% p%1$d == 0"), "12 divisible", true, deep);
	say_rows(350000, 11, 5, 300, NULL);
	say_rows(5000000, 11, 5, 5000, NULL);
	return 0;
}
