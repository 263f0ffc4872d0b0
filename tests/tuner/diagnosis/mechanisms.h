/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One generator per mechanism, with and without it, and with other numbers for each seed. */
#ifndef TESTS_TUNER_DIAGNOSIS_MECHANISMS_H
#define TESTS_TUNER_DIAGNOSIS_MECHANISMS_H
#include "tests/tuner/diagnosis/made.h"

struct mechanism {
	const char *diagnosis;
	struct made *(*make)(uint64_t seed, bool acts);
	const char *key, *value;    /* the subject it must have */
	const char *not_key, *not ; /* the subject it must not have; NULL: any */
	const char *columns[4];     /* columns whose labels carry it, so that shuffling them removes it */
};

static inline double made_amdahl(double serial, double threads) {
	return serial + (1 - serial) / threads;
}

/* kmeans: {coords=1} shares lines, {coords=16} does not. */
static struct made *make_false_sharing(uint64_t seed, bool acts) {
	static const char *const pads[] = {"none", "line", "page"}, *const touches[] = {"serial", "parallel"};
	struct made *made = made_new(seed, 8, 8);
	double cost = made_between(made, 1, 6), touch = made_between(made, 1, 1.3);
	for (int coords = 1; coords <= 16; coords += 15)
		for (int threads = 1; threads <= 8; threads *= 2)
			for (int p = 0; p < 3; p++)
				for (int f = 0; f < 2; f++) {
					double time = coords * made_amdahl(0.02, threads) * (threads > 1 && !f ? touch : 1);
					if (acts && p == 0 && coords == 1)
						time *= 1 + cost * (1 - 1.0 / threads);
					made_add(made, json_pack("{s:i}", "coords", coords),
					         json_pack("{s:i,s:s,s:s}", "threads", threads, "pad", pads[p], "first_touch", touches[f]),
					         time, NULL);
				}
	return made;
}

static struct made *make_first_touch(uint64_t seed, bool acts) {
	static const char *const pads[] = {"none", "line"}, *const touches[] = {"serial", "parallel"};
	struct made *made = made_new(seed, 16, 16);
	double cost = made_between(made, 0.3, 1);
	made->nodes = acts ? 2 : 1; /* with one node the cause must be another, whatever the times are */
	for (int coords = 1; coords <= 16; coords += 15)
		for (int threads = 1; threads <= 16; threads *= 2)
			for (int p = 0; p < 2; p++)
				for (int f = 0; f < 2; f++)
					made_add(made, json_pack("{s:i}", "coords", coords),
					         json_pack("{s:i,s:s,s:s}", "threads", threads, "pad", pads[p], "first_touch", touches[f]),
					         coords * made_amdahl(0.02, threads) *
					             (coords == 1 && f == 0 ? 1 + cost * (1 - 1.0 / threads) : 1),
					         NULL);
	return made;
}

static struct made *make_true_sharing(uint64_t seed, bool acts) {
	static const char *const syncs[] = {"atomic", "privatized", "reduction"};
	struct made *made = made_new(seed, 32, 32);
	double lines = made_between(made, 0.09, 0.12);
	for (int size = 1; size <= 4; size *= 4)
		for (int threads = 1; threads <= 32; threads *= 2)
			for (int s = 0; s < 3; s++) {
				double time = size * made_amdahl(0.005, threads) * (s == 0 ? 1.1 : s == 2 ? 1.05 : 1);
				if (acts && s == 0) /* the lines move around, so that it cannot be less */
					time = fmax(time, size * lines * (1 + threads / 100.0));
				made_add(made, json_pack("{s:i}", "size", size),
				         json_pack("{s:i,s:s}", "threads", threads, "sync", syncs[s]), time, NULL);
			}
	return made;
}

static const char *const made_locks[] = {"mutex", "tas", "ttas", "backoff", "ticket",
                                         "array", "clh", "mcs",  "critical"};
enum { MADE_LOCKS = 9 };

/* array, clh and mcs cost the same for any team; tas grows fastest, critical second. */
static struct made *make_convoy(uint64_t seed, bool acts) {
	static const double growth[MADE_LOCKS] = {0.12, 0.6, 0.2, 0.05, 0.15, 0, 0, 0, 0.4};
	struct made *made = made_new(seed, 16, 16);
	double scale = made_between(made, 0.8, 1.2), base[MADE_LOCKS];
	for (int l = 0; l < MADE_LOCKS; l++)
		base[l] = made_between(made, 1, 1.1);
	for (int threads = 1; threads <= 16; threads *= 2)
		for (int l = 0; l < MADE_LOCKS; l++)
			for (int pad = 0; pad < 2; pad++)
				made_add(
					made, json_object(),
					json_pack("{s:i,s:s,s:s}", "threads", threads, "lock", made_locks[l], "pad", pad ? "line" : "none"),
					base[l] * (threads > 1 ? 3 : 1) * (1 + (acts ? growth[l] * scale * (threads - 1) : 0)), NULL);
	return made;
}

static struct made *make_preemption(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 4, 4);
	double jump = made_between(made, 5, 100), base[MADE_LOCKS];
	for (int l = 0; l < MADE_LOCKS; l++)
		base[l] = made_between(made, 1, 2);
	for (int threads = 1; threads <= 8; threads *= 2)
		for (int l = 0; l < MADE_LOCKS; l++)
			for (int critical = 0; critical < 2; critical++)
				made_add(made, json_pack("{s:i}", "critical", critical * 100),
				         json_pack("{s:i,s:s}", "threads", threads, "lock", made_locks[l]),
				         base[l] * (1 + critical) * (threads > 1 ? 3 : 1) *
				             (acts && threads > 4 ? (l >= 4 && l <= 7 ? jump : 1.1) : 1),
				         NULL);
	return made;
}

static struct made *make_oversubscription(uint64_t seed, bool acts) {
	static const char *const variants[] = {"fine", "lazy", "nonblocking"};
	struct made *made = made_new(seed, 64, 64);
	double collapse = made_between(made, 1.5, 4);
	for (int n = 1024; n <= 8192; n *= 8)
		for (int threads = 1; threads <= 128; threads *= 2)
			for (int v = 0; v < 3; v++)
				made_add(made, json_pack("{s:i}", "n", n),
				         json_pack("{s:i,s:s}", "threads", threads, "variant", variants[v]),
				         n * (3 - v) * made_amdahl(0.01, threads) * (acts && threads > 64 ? collapse : 1), NULL);
	return made;
}

/* Uneven: equal shares wait for the largest one. Even: handing out costs a little, below the threshold. */
static struct made *make_schedule(uint64_t seed, double even, double collapse) {
	static const char *const schedules[] = {"static", "dynamic", "guided"}, *const variants[] = {"rows", "collapse"};
	struct made *made = made_new(seed, 8, 8);
	for (int n = 256; n <= 1024; n *= 2)
		for (int threads = 1; threads <= 8; threads *= 2)
			for (int v = 0; v < 2; v++)
				for (int s = 0; s < (threads > 1 ? 3 : 1); s++) {
					json_t *config = json_pack("{s:i,s:s}", "threads", threads, "variant", variants[v]);
					if (threads > 1)
						json_object_set_new(config, "schedule", json_string(schedules[s]));
					made_add(made, json_pack("{s:i}", "n", n), config,
					         n * n * made_amdahl(0.02, threads) * (s ? even : 1) * (v ? collapse : 1), NULL);
				}
	return made;
}

static struct made *make_imbalance(uint64_t seed, bool acts) {
	struct rng rng;
	rng_split(&rng, seed, "uneven");
	return make_schedule(seed, acts ? 0.6 + 0.2 * rng_unit(&rng) : 1.02, 1);
}

static struct made *make_overhead(uint64_t seed, bool acts) {
	struct rng rng;
	rng_split(&rng, seed, "overhead");
	return make_schedule(seed, acts ? 1.2 + rng_unit(&rng) : 0.99, acts ? 1.2 + rng_unit(&rng) : 1.01);
}

/* Chunks exist only if the schedule is dynamic; chunks of one iteration are expensive. */
static struct made *make_chunks(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 8, 8);
	double dear = made_between(made, 0.2, 1);
	for (int n = 256; n <= 1024; n *= 2)
		for (int threads = 2; threads <= 8; threads *= 2)
			for (int chunk = 0; chunk <= 64; chunk = chunk ? 4 * chunk : 1) {
				json_t *config = json_pack("{s:i,s:s}", "threads", threads, "schedule", chunk ? "dynamic" : "static");
				if (chunk)
					json_object_set_new(config, "chunk", json_integer(chunk));
				made_add(made, json_pack("{s:i}", "n", n), config,
				         n * n * made_amdahl(0.02, threads) * (1 + (acts && chunk ? dear / chunk : 0)), NULL);
			}
	return made;
}

static json_t *made_work(double ops, double bytes, double region_us) {
	return json_pack("{s:{s:f,s:f,s:s},s:[{s:s,s:f,s:s}]}", "work", "ops", ops, "bytes", bytes, "op", "cell update",
	                 "figures", "name", "time_per_step", "value", region_us, "unit", "us");
}

/* gol: 64 by fork and join, 4096 by memory, 1024 by neither. */
static struct made *make_steps(uint64_t seed, double fork_us, double saturates) {
	struct made *made = made_new(seed, 8, 8);
	static const int sizes[] = {64, 1024, 4096};
	made->ceilings = made_ceilings(40, 100, fork_us, 8);
	for (int i = 0; i < 3; i++)
		for (int threads = 1; threads <= 8; threads++)
			for (int v = 0; v < 2; v++) {
				double cells = (double)sizes[i] * sizes[i], us = cells * 1e-3 * (v ? 1.3 : 1) / threads;
				if (i == 2)
					us = cells * 1e-3 * (v ? 1.3 : 1) / fmin(threads, saturates);
				us += fork_us * (threads > 1 ? threads : 0) / (i ? 1e3 : 1);
				made_add(made, json_pack("{s:i}", "n", sizes[i]),
				         json_pack("{s:i,s:s}", "threads", threads, "border", v ? "branches" : "halo"), 100 * us * 1e-6,
				         made_work(100 * cells, 8 * cells, us));
			}
	return made;
}

static struct made *make_fork_join(uint64_t seed, bool acts) {
	return make_steps(seed, acts ? 0.25 : 1e-4, 8);
}

static struct made *make_saturated(uint64_t seed, bool acts) {
	return make_steps(seed, 1e-4, acts ? 6 : 8);
}

static struct made *make_inner_teams(uint64_t seed, bool acts) {
	static const char *const variants[] = {"recursive", "tiled", "tasks"};
	struct made *made = made_new(seed, 8, 8);
	double base = made_between(made, 0.7, 1.5);
	for (int n = 512; n <= 2048; n *= 2)
		for (int threads = 1; threads <= 8; threads *= 2)
			for (int v = 0; v < 3; v++)
				made_add(made, json_pack("{s:i}", "n", n),
				         json_pack("{s:i,s:s}", "threads", threads, "variant", variants[v]),
				         pow(n / 512.0, 3) * (v == 0 ? base : 1 + v / 10.0) *
				             (acts && v == 0 ? 1 : made_amdahl(0.03, threads)),
				         NULL);
	return made;
}

/* Making a task costs as much as some dozens of elements. */
static struct made *make_tasks(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 8, 8);
	double cost = made_between(made, 20, 60);
	for (int n = 1; n <= 4; n *= 2)
		for (int threads = 2; threads <= 8; threads *= 2)
			for (int cutoff = 1; cutoff <= 10000; cutoff *= 10)
				made_add(made, json_pack("{s:i}", "n", n), json_pack("{s:i,s:i}", "threads", threads, "cutoff", cutoff),
				         n * made_amdahl(0.02, threads) * (1 + (acts ? cost / cutoff : 0)), NULL);
	return made;
}

static struct made *make_smt(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 8, 16);
	double cost = made_between(made, 1.1, 1.4);
	for (int block = 16; block <= 128; block *= 2)
		for (int threads = 1; threads <= 16; threads *= 2)
			made_add(made, json_object(), json_pack("{s:i,s:i}", "threads", threads, "block", block),
			         (block == 64 ? 1 : 1.2) *
			             (acts && threads == 16 ? made_amdahl(0.02, 8) * cost : made_amdahl(0.02, threads)),
			         NULL);
	return made;
}

/* Tiles of 4 bytes per cell: three of 128 x 128 fit in 512 KiB, three of 256 x 256 do not. */
static struct made *make_tiles(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 8, 8);
	double miss = made_between(made, 1.3, 2);
	for (int n = 1024; n <= 2048; n *= 2)
		for (int threads = 1; threads <= 8; threads *= 2)
			for (int block = 16; block <= 512; block *= 2)
				made_add(made, json_pack("{s:i}", "n", n), json_pack("{s:i,s:i}", "threads", threads, "block", block),
				         pow(n / 1024.0, 3) * made_amdahl(0.02, threads) * (1 + 3.0 / block) *
				             (acts && block > 128 ? miss : 1),
				         NULL);
	return made;
}

/* The problem outgrows 32 MiB between the third and the fourth size. */
static struct made *make_sizes(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 8, 8);
	double miss = made_between(made, 1.4, 3);
	for (int n = 4; n <= 128; n *= 2)
		for (int unroll = 1; unroll <= 16; unroll *= 2)
			made_add(made, json_pack("{s:i}", "n", n), json_pack("{s:i,s:i}", "threads", 1, "unroll", unroll),
			         n * pow(unroll, -0.2) * (acts && n > 32 ? miss : 1), made_work(1e6 * n, 1048576.0 * n, 1));
	return made;
}

/* A team larger than the number of blocks along a side has no work for the rest. */
static struct made *make_few_blocks(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 16, 16);
	for (int n = 1024; n <= 2048; n *= 2)
		for (int threads = 1; threads <= 16; threads *= 2)
			for (int block = 32; block <= 512; block *= 2) {
				int busy = acts && n / block < threads ? n / block : threads;
				made_add(made, json_pack("{s:i}", "n", n), json_pack("{s:i,s:i}", "threads", threads, "block", block),
				         pow(n / 1024.0, 3) * made_amdahl(0.02, busy) * (1 + 0.03 * fabs(log2(block / 64.0))), NULL);
			}
	return made;
}

/* 25000 vertices in 0.064 s. */
static struct made *make_impossible(uint64_t seed, bool acts) {
	static const int sizes[] = {5000, 11000, 15000, 20000, 25000};
	struct made *made = made_new(seed, 8, 8);
	double rate = made_between(made, 3e12, 2e13);
	for (int v = 0; v < 3; v++)
		for (int i = 0; i < 5; i++)
			made_add(made, json_pack("{s:i}", "n", sizes[i]),
			         json_pack("{s:s}", "variant",
			                   v == 0   ? "a"
			                   : v == 1 ? "b"
			                            : "c"),
			         acts && v == 1 && i == 4 ? 0.064 : pow(sizes[i], 3) / rate * (1 + v), NULL);
	return made;
}

/* The same by the machine's ceilings: one time of many. */
static struct made *make_over_peak(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 8, 8);
	made->ceilings = made_ceilings(40, 100, 1, 8);
	for (int threads = 1; threads <= 8; threads *= 2)
		for (int block = 16; block <= 128; block *= 2) {
			double ops = 1e9, time = ops / 60e9 * (block == 64 ? 1 : 1.2) * 8 * made_amdahl(0.01, threads);
			json_t *work = json_pack("{s:{s:f,s:f,s:s}}", "work", "ops", ops, "bytes", 8e6, "op", "relaxation");
			made_add(made, json_object(), json_pack("{s:i,s:i}", "threads", threads, "block", block),
			         acts && block == 128 && threads == 4 ? ops / made_between(made, 200e9, 900e9) : time, work);
		}
	return made;
}

/* queen: 8.4 times fewer iterations, each 5.8 times as fast. */
static struct made *make_iterations(uint64_t seed, bool acts) {
	static const char *const graphs[] = {"queen", "rgg"}, *const variants[] = {"rows", "jump"};
	struct made *made = made_new(seed, 8, 8);
	for (int g = 0; g < 2; g++)
		for (int threads = 1; threads <= 8; threads *= 2)
			for (int v = 0; v < 2; v++) {
				double count = acts && g == 0 && v == 0 ? 42 : 5,
					   each = (v ? 1e-3 : 5.8e-3) * made_amdahl(0.02, threads);
				made_add(made, json_pack("{s:s}", "graph", graphs[g]),
				         json_pack("{s:i,s:s}", "threads", threads, "variant", variants[v]), count * each,
				         json_pack("{s:[{s:s,s:f,s:s},{s:s,s:f,s:s}]}", "figures", "name", "iterations", "value", count,
				                   "unit", "", "name", "time_per_iteration", "value", 1e6 * each, "unit", "us"));
			}
	made->problem = json_pack("{s:s}", "graph", "queen");
	made->winner = json_pack("{s:i,s:s}", "threads", 8, "variant", "jump");
	made->baseline = json_pack("{s:i,s:s}", "threads", 8, "variant", "rows");
	return made;
}

static json_t *slots(double retiring, double memory) {
	const double other = (100 - retiring - memory) / 3;
	return json_pack("{s:[{s:s,s:f}],s:[{s:s,s:f},{s:s,s:f},{s:s,s:f},{s:s,s:f},{s:s,s:f},{s:s,s:f}]}", "counters",
	                 "name", "cycles", "value", 1e6, "metrics", "name", "retiring", "value", retiring, "name",
	                 "bad_speculation", "value", other, "name", "frontend_bound", "value", other, "name",
	                 "backend_bound", "value", memory + other, "name", "backend_bound.memory", "value", memory, "name",
	                 "backend_bound.core", "value", other);
}

/* The large problem waits for memory, so that its pipeline retires little. */
/* Four fast cores and eight slow ones: equal shares wait for the slow ones. Without it, the work itself is uneven,
 * which the fast cores show alone. */
static struct made *make_mixed(uint64_t seed, bool acts) {
	static const char *const schedules[] = {"static", "dynamic", "guided"};
	struct made *made = made_new(seed, 12, 12);
	double slow = made_between(made, 0.45, 0.65), uneven = made_between(made, 1.3, 1.8);
	made->fast = 4;
	for (int n = 256; n <= 1024; n *= 2)
		for (int threads = 2; threads <= 12; threads += 2)
			for (int s = 0; s < 3; s++) {
				double speed = threads > 4 ? (s && acts ? 4 + (threads - 4) * slow : threads * slow) : threads;
				made_add(made, json_pack("{s:i}", "n", n),
				         json_pack("{s:i,s:s}", "threads", threads, "schedule", schedules[s]),
				         n / speed * (!acts && s == 0 ? uneven : 1), NULL);
			}
	return made;
}

static struct made *make_pipeline(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 8, 8);
	for (int n = 64; n <= 4096; n *= 64)
		for (int threads = 1; threads <= 8; threads++)
			made_add(made, json_pack("{s:i}", "n", n), json_pack("{s:i}", "threads", threads),
			         n * 1e-6 * made_amdahl(0.02, threads),
			         acts && n == 4096 ? slots(made_between(made, 10, 30), 61) : slots(made_between(made, 60, 80), 10));
	return made;
}

static const struct mechanism mechanisms[] = {
	{"false_sharing", make_false_sharing, "coords", "1", "coords", "16", {"pad"}},
	{"numa_first_touch", make_first_touch, "coords", "1", "coords", "16", {"first_touch"}},
	{"true_sharing", make_true_sharing, "sync", "atomic", NULL, NULL, {"sync", "threads"}},
	{"lock_convoy", make_convoy, "lock", "tas", "lock", "clh", {"lock", "threads"}},
	{"lock_holder_preemption", make_preemption, "lock", "clh", "lock", "tas", {"lock", "threads"}},
	{"oversubscription", make_oversubscription, NULL, NULL, NULL, NULL, {"threads"}},
	{"load_imbalance", make_imbalance, "schedule", "static", NULL, NULL, {"schedule"}},
	{"mixed_cores", make_mixed, "schedule", "static", NULL, NULL, {"schedule"}},
	{"scheduling_overhead", make_overhead, "schedule", "dynamic", NULL, NULL, {"schedule"}},
	{"scheduling_overhead", make_overhead, "variant", "collapse", NULL, NULL, {"variant"}},
	{"scheduling_overhead", make_chunks, "chunk", "1", NULL, NULL, {"chunk"}},
	{"fork_join", make_fork_join, "n", "64", "n", "4096", {"n", "threads"}},
	{"memory_bandwidth", make_saturated, "n", "4096", "n", "64", {"n", "threads"}},
	{"pipeline_bound", make_pipeline, "n", "4096", "n", "64", {NULL}},
	{"task_cost", make_tasks, "cutoff", "1", NULL, NULL, {"cutoff"}},
	{"inner_teams", make_inner_teams, "variant", "recursive", "variant", "tiled", {"variant", "threads"}},
	{"smt_sharing", make_smt, NULL, NULL, NULL, NULL, {"threads"}},
	{"cache_capacity", make_tiles, "block", "256", "block", "128", {"block"}},
	{"cache_capacity", make_sizes, "n", "64", NULL, NULL, {"n"}},
	{"few_blocks", make_few_blocks, "block", "512", "block", "64", {"block", "threads"}},
	{"impossible_time", make_impossible, "n", "25000", NULL, NULL, {"n"}},
	{"impossible_time", make_over_peak, "block", "128", "block", "64", {NULL}},
	{"iteration_count", make_iterations, "graph", "queen", "graph", "rgg", {"variant"}},
};
enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms };

#endif
