/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time models of two parallel kernels on a machine with two cores: the serial cost of each variant, a curve over its
 * block, and the makespan of its loops under a schedule. The shape (sizes of effects, positions of optima) is drawn by
 * seed. */
#include <math.h>

#include "tests/tuner/search/land.h"
#include "tests/tuner/space/help.h"

enum { THREADS, BIND, PLACES, SCHEDULE, CHUNK, VARIANT, BLOCK, VARIANTS_MAX = 5 };
enum { N = 1024 };

struct shape {
	double serial[VARIANTS_MAX];   /* log of its time with one thread at the best block */
	double at[VARIANTS_MAX];       /* best level of the block */
	double bend[VARIANTS_MAX];     /* log of the time ratio one level away */
	double parallel[VARIANTS_MAX]; /* share that runs in parallel */
	double per_item[VARIANTS_MAX]; /* cost of handing out a piece of work, over the serial time */
	double bind[2], schedule[3];   /* logs */
	bool blocked[VARIANTS_MAX], scheduled[VARIANTS_MAX];
	double rough; /* deviation of unexplained differences */
	uint64_t seed;
};

static double around(struct rng *rng, double low, double high) {
	return low + (high - low) * rng_unit(rng);
}

static double roughness(const struct shape *shape, const int *config) {
	struct rng rng;
	uint64_t hash = shape->seed;
	for (int p = 0; p <= BLOCK; p++)
		hash = (hash ^ (uint64_t)(config[p] + 2)) * UINT64_C(0x100000001B3);
	rng_seed(&rng, hash);
	return shape->rough * rng_normal(&rng);
}

/* The larger share of the work of two threads. */
static double largest_share(double items, double chunk, bool dealt) {
	double pieces = dealt ? ceil(items / chunk) : 2;
	double size = dealt ? chunk : ceil(items / 2);
	double share = ceil(pieces / 2) * size / items;
	return share > 1 ? 1 : share;
}

static double kernel_time(const struct space *space, const int *config, const void *opaque) {
	static const double chunks[] = {1, 4, 16, 64};
	const struct shape *shape = opaque;
	int v = config[VARIANT];
	bool two = config[THREADS] == 1, dealt = config[SCHEDULE] > 0;
	double chunk = dealt ? chunks[config[CHUNK]] : 1, items = N, log_time = shape->serial[v];
	if (shape->blocked[v]) {
		double off = config[BLOCK] - shape->at[v];
		items = ceil(N / (double)space_param_value(space, BLOCK, (size_t)config[BLOCK]).as.i);
		log_time += shape->bend[v] * off * off;
	}
	double time = exp(log_time);
	if (two) {
		double share = config[BIND] == 3 ? 1 : shape->scheduled[v] ? largest_share(items, chunk, dealt) : 0.5;
		time *= 1 - shape->parallel[v] + shape->parallel[v] * share;
		if (dealt)
			time +=
				shape->per_item[v] * exp(shape->serial[v]) * ceil(items / chunk) * (config[SCHEDULE] == 2 ? 0.3 : 1);
		time *= exp(config[SCHEDULE] == SPACE_ABSENT ? 0 : shape->schedule[config[SCHEDULE]]);
	}
	if (config[BIND] == 1)
		time *= exp(shape->bind[two]);
	return time * exp(roughness(shape, config));
}

/* The bindings that differ on two cores without shared places. */
static struct space *two_core_space(const char *schedule_when) {
	static const char *const names[] = {"threads", "proc_bind", "places"};
	static const int rows[] = {0, 0, SPACE_ABSENT, 0, 1, 1, 1, 0, SPACE_ABSENT, 1, 1, 1, 1, 3, 1};
	struct err err = {0};
	struct space *space = space_new();
	add_param(space, "threads", "1,2", NULL);
	add_param(space, "proc_bind", "false,close,spread,primary", NULL);
	add_param(space, "places", "threads,cores,ll_caches,numa_domains,sockets", "proc_bind != 'false'");
	add_param(space, "schedule", "static,dynamic,guided", schedule_when);
	add_param(space, "chunk", "1,4,16,64", "schedule != 'static'");
	must(space_add_table(space, names, 3, rows, sizeof rows / sizeof *rows / 3, &err), &err);
	return space;
}

static void shape_common(struct shape *shape, struct rng *rng) {
	for (int i = 0; i < 2; i++)
		shape->bind[i] = 0.02 * rng_normal(rng);
	for (int i = 1; i < 3; i++)
		shape->schedule[i] = 0.03 * rng_normal(rng);
	shape->rough = around(rng, 0, 0.01);
}

struct land *land_fw(uint64_t seed) {
	static const double speedup[] = {1, 3, 2.8, 2.5, 8};
	static const int start[] = {1, 0, SPACE_ABSENT, 0, SPACE_ABSENT, 0, SPACE_ABSENT};
	struct shape shape = {.seed = seed};
	struct rng rng;
	rng_split(&rng, seed, "fw");
	shape_common(&shape, &rng);
	for (int v = 0; v < 5; v++) {
		shape.serial[v] = log(0.8) - log(speedup[v]) * around(&rng, 0.5, 1.3) + 0.2 * rng_normal(&rng);
		shape.at[v] = around(&rng, 0.5, 4.5);
		shape.bend[v] = exp(around(&rng, log(0.015), log(0.25)));
		shape.parallel[v] = v == 3 ? around(&rng, 0, 0.6) : around(&rng, 0.7, 0.99);
		shape.per_item[v] = exp(around(&rng, log(1e-5), log(1e-3)));
		shape.blocked[v] = v > 0;
		shape.scheduled[v] = v < 2 || v == 4;
	}
	struct space *space =
		two_core_space("threads > 1 and (variant == 'naive' or variant == 'tiled' or variant == 'simd')");
	add_param(space, "variant", "naive,tiled,tasks,tasks_inner,simd", NULL);
	add_param(space, "block", "16..512*2", "variant != 'naive'");
	return land_new(space, kernel_time, &shape, start);
}

struct land *land_gol(uint64_t seed) {
	static const double speedup[] = {1, 3, 50};
	static const int start[] = {1, 0, SPACE_ABSENT, 0, SPACE_ABSENT, 0, SPACE_ABSENT};
	struct shape shape = {.seed = seed};
	struct rng rng;
	rng_split(&rng, seed, "gol");
	shape_common(&shape, &rng);
	for (int v = 0; v < 3; v++) {
		shape.serial[v] = log(0.02) - log(speedup[v]) * around(&rng, 0.7, 1.2);
		shape.parallel[v] = around(&rng, 0.7, 0.99);
		shape.per_item[v] = exp(around(&rng, log(1e-5), log(1e-3))) * (v == 2 ? 1 : 0.1);
		shape.scheduled[v] = true;
	}
	shape.at[2] = around(&rng, 0, 3);
	shape.bend[2] = exp(around(&rng, log(0.015), log(0.25)));
	shape.blocked[2] = true;
	struct space *space = two_core_space("threads > 1");
	add_param(space, "variant", "int,byte,bits", NULL);
	add_param(space, "strip", "1..64*4", "variant == 'bits'");
	return land_new(space, kernel_time, &shape, start);
}
