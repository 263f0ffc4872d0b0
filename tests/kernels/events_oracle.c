/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of events: compared with the kernels' oracles and figures, and with plain models. */
#include <math.h>

#include "kernels/lists/list_impl.h"
#include "kernels/locks/locks.h"
#include "tests/kernels/events.h"
#include "tests/tap.h"

enum { QUAKE_CHUNK_CELLS = 64 };

/* A problem: "n=5 ops=3"; a configuration of it, run and verified. */
static struct live *opened(const char *kernel, const char *problem) {
	struct live *live = live_new(kernel_find(kernel)->kernel);
	char text[128], *rest;
	snprintf(text, sizeof text, "%s", problem);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '=');
		*value++ = '\0';
		live_problem(live, word, value);
	}
	ok(live_open(live) == SS_OK, "%s %s", kernel, problem);
	return live;
}

static bool counted(struct live *live, const char *config, int threads, struct counts *counts) {
	char text[128], *rest;
	snprintf(text, sizeof text, "%s", config);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '=');
		*value++ = '\0';
		live_config(live, 0, word, value);
	}
	memset(counts, 0, sizeof *counts);
	live->state[0].threads = threads;
	bool right = live_setup(live, 0) == SS_OK && counts_run(live, 0, counts) == SS_OK && live_verify(live, 0) == SS_OK;
	if (!right)
		printf("# %s: %s\n", config, live->message);
	return right;
}

/* The kernel's own check compares the tallies with n. */
static bool lock_right(struct live *live, const struct counts *counts) {
	const struct locks_state *s = live->state[0].memory;
	int64_t acquisitions = counts_sum(live, counts, "acquisitions"), waits = counts_sum(live, counts, "contentions");
	int64_t handovers = counts_sum(live, counts, "handovers"), retries = counts_sum(live, counts, "cas_retries");
	bool right = acquisitions == s->input->n && handovers == s->arena.prize->changes - 1;
	right &= (double)handovers == figure_of(live, "handovers");
	for (int t = 0; t < s->team; t++)
		right &= counts->at[t][0] == locks_tally(s, t)->entries;
	right &= (waits == SS_EVENT_UNKNOWN) == ((s->arena.kind->flags & LOCK_WAITS_HIDDEN) != 0);
	right &= (retries == SS_EVENT_UNKNOWN) == ((s->arena.kind->flags & LOCK_RETRIES_HIDDEN) != 0);
	right &= waits <= acquisitions + s->team && (s->team > 1 || (handovers == 0 && waits <= 0 && retries <= 0));
	right &= !(s->arena.kind->flags & LOCK_FIFO) || retries == 0;
	if (!right)
		printf("# %lld acquisitions, %lld handovers, %lld changes, %lld contentions, %lld retries\n",
		       (long long)acquisitions, (long long)handovers, (long long)s->arena.prize->changes, (long long)waits,
		       (long long)retries);
	return right;
}

static void locks_test(void) {
	static const int teams[] = {1, 2, 3, 7};
	struct live *live = opened("locks", "n=3000 critical=3 noncritical=5");
	struct counts counts;
	for (const struct lock_kind *const *kind = lock_registry; *kind; kind++) {
		char config[64];
		bool right = true;
		snprintf(config, sizeof config, "lock=%s pad=line", (*kind)->name);
		for (int i = 0; i < ((*kind)->flags & LOCK_UNSAFE ? 1 : 4); i++) {
			right &= counted(live, config, teams[i], &counts) && lock_right(live, &counts);
			live_teardown(live, 0);
		}
		ok(right, "%s: acquisitions and handovers are the oracle's", (*kind)->name);
	}
	live_free(live);
}

/* The first thread has the lock when the others come: that they find it held is not sure, but nearly. */
static bool contended(struct live *live, const char *config) {
	struct counts counts;
	bool right = true, seen = false;
	for (int run = 0; run < 200 && right && !seen; run++) {
		right = counted(live, config, 2, &counts);
		seen = counts_sum(live, &counts, "contentions") > 0;
		live_teardown(live, 0);
	}
	return right && seen;
}

static void contention_test(void) {
	static const char *const locks[] = {"mutex", "spin", "tas", "ttas", "backoff", "ticket",
	                                    "array", "clh",  "mcs", "omp",  "futex"};
	struct live *live = opened("locks", "n=100 critical=20000 noncritical=0");
	for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
		char config[64];
		snprintf(config, sizeof config, "lock=%s", locks[i]);
		ok(contended(live, config), "%s: that it was held is counted", locks[i]);
	}
	live_free(live);
}

struct model {
	int64_t passed, changing, removed;
};

/* A model of one thread: a set as flags, so that a walk passes as many nodes as there are flags below the key. */
static struct model model_of(const struct lists_input *input) {
	char *present = calloc((size_t)input->range, 1);
	struct model model = {0};
	for (size_t i = 0; i < input->n; i++)
		present[input->keys[i]] = 1;
	for (size_t i = 0; i < input->ops; i++) {
		struct lists_step step = lists_step_of(input, i);
		for (int32_t key = 0; key < step.key; key++)
			model.passed += present[key];
		model.changing += step.op != LIST_CONTAINS;
		model.removed += step.op == LIST_REMOVE && present[step.key];
		if (step.op != LIST_CONTAINS)
			present[step.key] = step.op == LIST_ADD;
	}
	free(present);
	return model;
}

/* Optimistic walks to a place twice. Fine takes a lock for each node that it passes, and two more; lazy and optimistic
 * take two. */
static void lists_alone_test(void) {
	static const char *const names[] = {"serial", "coarse", "fine", "optimistic", "lazy", "nonblocking"};
	struct live *live = opened("lists", "n=200 ops=3000 contains=50 add=25 remove=25");
	struct model model = model_of(live->input);
	int64_t passed = model.passed, ops = 3000;
	const int64_t walked[] = {passed, passed, passed, 2 * passed, passed, passed};
	const int64_t locked[] = {0, ops, 2 * ops + passed, 2 * ops, 2 * model.changing, 0};
	for (size_t v = 0; v < sizeof names / sizeof *names; v++) {
		struct counts counts;
		char config[64];
		snprintf(config, sizeof config, "variant=%s", names[v]);
		bool right = counted(live, config, 1, &counts);
		int64_t reclaimed = counts_sum(live, &counts, "nodes_reclaimed");
		ok(right && counts_sum(live, &counts, "nodes_traversed") == walked[v], "%s passes the nodes of a plain model",
		   names[v]);
		ok(counts_sum(live, &counts, "lock_acquisitions") == locked[v], "%s takes its locks", names[v]);
		ok(v < 3 ? reclaimed == model.removed : reclaimed > 0 && reclaimed <= model.removed, "%s gives nodes back",
		   names[v]);
		ok(counts_sum(live, &counts, "restarts") == 0 && counts_sum(live, &counts, "cas_failures") == 0 &&
		       counts_sum(live, &counts, "lock_contentions") == 0,
		   "%s alone is never disturbed", names[v]);
		live_teardown(live, 0);
	}
	live_free(live);
}

static void lists_team_test(void) {
	static const char *const names[] = {"coarse", "fine", "optimistic", "lazy", "nonblocking"};
	struct live *live = opened("lists", "n=30 ops=20000 contains=0 add=50 remove=50");
	for (size_t v = 0; v < sizeof names / sizeof *names; v++) {
		struct counts counts;
		char config[64];
		snprintf(config, sizeof config, "variant=%s", names[v]);
		bool right = counted(live, config, 4, &counts);
		int64_t locks = counts_sum(live, &counts, "lock_acquisitions");
		for (int t = 0; t < 4; t++)
			right &= counts.at[t][LIST_OPERATIONS] == 5000;
		right &= counts_sum(live, &counts, "lock_contentions") <= locks;
		if (strcmp(names[v], "nonblocking") == 0)
			right &= locks == 0;
		else
			right &= locks >= 20000 && counts_sum(live, &counts, "cas_failures") == 0;
		ok(right, "%s: every thread counts its share", names[v]);
		live_teardown(live, 0);
	}
	live_free(live);
}

static double series_sum(struct live *live) {
	struct ss_series series[SS_SERIES_MAX];
	struct ss_call call = live_call(live, 0);
	double sum = 0;
	if (live->kernel->series(live->state[0].memory, &call, series, SS_SERIES_MAX) == 0)
		return -1;
	for (size_t i = 0; i < series[0].count; i++)
		sum += series[0].values[i];
	return sum;
}

static void cc_test(void) {
	static const char *const configs[] = {
		"variant=rows update=inplace",         "variant=rows update=synchronous",       "variant=jump",
		"variant=afforest link=hook rounds=1", "variant=afforest link=splice rounds=3", "variant=serial"};
	struct live *live = opened("cc", "n=3000 degree=2");
	for (int c = 0; c < 6; c++) {
		struct counts counts;
		bool right = counted(live, configs[c], c < 5 ? 3 : 1, &counts);
		double updates = (double)counts_sum(live, &counts, "label_updates"), edges = figure_of(live, "edges");
		double joined = figure_of(live, "vertices") - figure_of(live, "components");
		right &= updates == series_sum(live) && (c < 3 ? updates >= joined : updates == joined);
		right &= (double)counts_sum(live, &counts, "iterations") == figure_of(live, "iterations");
		double visited = (double)counts_sum(live, &counts, "edge_ends_visited");
		right &= fabs(visited - figure_of(live, "looked") * 2 * edges) < 0.5;
		right &= (c >= 2 && c < 5) || counts_sum(live, &counts, "cas_failures") == 0;
		ok(right, "cc %s: updates, steps and edges are those of the figures and the oracle", configs[c]);
		live_teardown(live, 0);
	}
	live_free(live);
}

static void kmeans_test(void) {
	static const char *const configs[] = {"variant=shared sync=atomic",   "variant=shared sync=mcs",
	                                      "variant=shared sync=critical", "variant=privatized",
	                                      "variant=blocked block=16",     "variant=serial"};
	const int64_t visits = 500 * 4, locked[] = {0, visits, visits, 0, 0, 0};
	struct live *live = opened("kmeans", "n=500 coords=3 clusters=5 loops=4");
	for (int c = 0; c < 6; c++) {
		struct counts counts;
		bool right = counted(live, configs[c], c < 5 ? 3 : 1, &counts);
		right &= counts_sum(live, &counts, "assignments") == visits && counts_sum(live, &counts, "iterations") == 4;
		right &= (double)counts_sum(live, &counts, "membership_changes") == series_sum(live);
		right &= counts_sum(live, &counts, "lock_acquisitions") == locked[c];
		right &= counts_sum(live, &counts, "atomic_updates") == (c == 0 ? visits * 4 : 0);
		ok(right, "kmeans %s: the number that the objects and the oracle's changes require", configs[c]);
		live_teardown(live, 0);
	}
	live_free(live);
}

static void fw_test(void) {
	static const char *const configs[] = {"variant=naive",          "variant=tiled block=16",
	                                      "variant=tasks block=16", "variant=tasks_inner block=32",
	                                      "variant=simd block=16",  "variant=inner_loops block=16",
	                                      "variant=serial"};
	const int64_t n = 50, cube = n * n * n, tiles[] = {n * (n - 1), 64, 64, 8, 64, 64, n * (n - 1)};
	const int64_t cells[] = {cube - n * n, cube, cube, cube, 64 * 64 * 64, cube, cube - n * n};
	struct live *live = opened("fw", "n=50");
	for (int c = 0; c < 7; c++) {
		struct counts counts;
		ok(counted(live, configs[c], c < 6 ? 3 : 1, &counts) && counts_sum(live, &counts, "tile_updates") == tiles[c] &&
		       counts_sum(live, &counts, "relaxations") == cells[c],
		   "fw %s: tiles and relaxations", configs[c]);
		live_teardown(live, 0);
	}
	live_free(live);
}

static void gol_test(void) {
	static const char *const configs[] = {"variant=int",
	                                      "variant=byte",
	                                      "variant=simd8 strip=16",
	                                      "variant=bits strip=4",
	                                      "variant=temporal depth=4 block=128 span=16",
	                                      "variant=serial"};
	const int64_t items[] = {150 * 8, 150 * 8, 10 * 8, 38 * 8, 2 * 2, 150 * 8};
	struct live *live = opened("gol", "n=150 generations=8");
	for (int c = 0; c < 6; c++) {
		struct counts counts;
		bool right = counted(live, configs[c], c < 5 ? 3 : 1, &counts);
		double cells = (double)counts_sum(live, &counts, "cell_updates"), work = live_work(live, 0).ops;
		ok(right && (c != 4 ? cells == work : cells > work) && counts_sum(live, &counts, "work_items") == items[c],
		   "gol %s: cells and items", configs[c]);
		live_teardown(live, 0);
	}
	live_free(live);
}

static void quake_test(void) {
	static const char *const configs[] = {"variant=serial",
	                                      "variant=rows",
	                                      "variant=collapse border=branches",
	                                      "variant=collapse border=halo",
	                                      "variant=fused skip=yes",
	                                      "variant=fused skip=no",
	                                      "variant=temporal skip=yes depth=2 block=16"};
	struct live *quiet = opened("quake", "n=128 steps=6 energy=1"), *live = opened("quake", "n=130 steps=6");
	for (int c = 0; c < 7; c++) {
		struct counts counts;
		bool right = counted(live, configs[c], c > 0 ? 3 : 1, &counts);
		double cells = (double)counts_sum(live, &counts, "cell_updates"), work = live_work(live, 0).ops;
		right &= c < 6 ? cells == work : cells > work;
		right &= counts_sum(live, &counts, "chunks_skipped") * QUAKE_CHUNK_CELLS <= (int64_t)cells;
		live_teardown(live, 0);
		right &= counted(quiet, configs[c], c > 0 ? 3 : 1, &counts);
		int64_t skipped = counts_sum(quiet, &counts, "chunks_skipped"),
				all = counts_sum(quiet, &counts, "cell_updates");
		right &= skipped * QUAKE_CHUNK_CELLS == (c == 4 || c == 6 ? all : 0);
		ok(right, "quake %s: cells, and no chunk is computed where nothing fires", configs[c]);
		live_teardown(quiet, 0);
	}
	live_free(live);
	live_free(quiet);
}

static void synthetic_test(void) {
	struct live *live = opened("synthetic", "n=50");
	struct counts counts;
	bool right = counted(live, "variant=b x=10 y=16", 3, &counts);
	ok(right && (double)counts_sum(live, &counts, "steps") == live_work(live, 0).ops,
	   "synthetic: steps are those of its formula");
	live_teardown(live, 0);
	live_free(live);
}

int main(void) {
	locks_test();
	contention_test();
	lists_alone_test();
	lists_team_test();
	cc_test();
	kmeans_test();
	fw_test();
	gol_test();
	quake_test();
	synthetic_test();
	return tap_done();
}
