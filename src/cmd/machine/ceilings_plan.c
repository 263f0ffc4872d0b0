/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans the trials for a machine: levels, sizes, thread counts, pairs of cores. */
#include <math.h>

#include "base/mem.h"
#include "src/cmd/machine/ceilings.h"

enum { COUNTS_MAX = 64, PAIRS_MAX = 32, LEVELS = 4 };

size_t ceilings_thread_counts(const struct topo *topo, int *counts, size_t room) {
	int all = topo_count(topo, TOPO_PU), cores = topo_count(topo, TOPO_CORE);
	size_t count = 0;
	for (int n = 1; n <= all && count < room; n++)
		if ((n & (n - 1)) == 0 || n == cores || n == all)
			counts[count++] = n;
	return count;
}

struct plan {
	const struct topo *topo;
	struct ceiling_item *items;
	size_t count;
	int counts[COUNTS_MAX];
	size_t counts_count;
	double memory;
};

static double least(double a, double b) {
	return a < b ? a : b;
}

/* Threads are spread over the machine; returns how many of them share one of `units`. */
static double sharers(int threads, int units) {
	return ceil(threads / (units > 1 ? (double)units : 1));
}

/* The size of all last-level caches that the team can reach, in bytes. */
static double last_caches(const struct plan *plan, int threads) {
	double l3 = (double)topo_cache_size(plan->topo, 3), l2 = (double)topo_cache_size(plan->topo, 2);
	return l3 > 0 ? l3 * least(threads, topo_count(plan->topo, TOPO_LLC))
	              : l2 * least(threads, topo_count(plan->topo, TOPO_CORE));
}

/* At least four times the caches, so that memory must be read, and at most a quarter of the memory. Returns 0 if these
 * two contradict each other. */
static double dram_bytes(const struct plan *plan, int threads) {
	double caches = last_caches(plan, threads), floor_bytes = 64 << 20;
	double wanted = 4 * caches > floor_bytes ? 4 * caches : floor_bytes;
	double bytes = plan->memory > 0 ? least(wanted, plan->memory / 4) : wanted;
	return bytes >= 2 * caches ? bytes / threads : 0;
}

/* Half of a thread's share of the level and, on the third level, more than the second level holds. Returns 0 if the
 * level does not exist, or if its rate could not be told from that of the level below. */
static double level_bytes(const struct plan *plan, int level, int threads) {
	if (level == LEVELS)
		return dram_bytes(plan, threads);
	enum topo_level shared = level < 3 ? TOPO_CORE : TOPO_LLC;
	double share = (double)topo_cache_size(plan->topo, level) / sharers(threads, topo_count(plan->topo, shared));
	double below = level == 3 ? (double)topo_cache_size(plan->topo, 2) : 0, bytes = share / 2;
	if (level == 3 && bytes < 2 * below)
		bytes = 2 * below;
	return bytes <= share ? bytes : 0;
}

static void add(struct plan *plan, struct ceiling_item item) {
	item.value = NAN;
	plan->items = mem_grow(plan->items, plan->count + 1, sizeof *plan->items);
	plan->items[plan->count++] = item;
}

/* Adds stores that bypass the caches only for the level of main memory. */
static void bandwidths_add(struct plan *plan, const struct ceiling_kind *kind) {
	bool stores = strcmp(kind->name, "read") != 0;
	for (int level = 1; level <= LEVELS; level++)
		for (size_t i = 0; i < plan->counts_count; i++) {
			struct ceiling_item item = {kind, .level = ceiling_levels[level - 1], .threads = plan->counts[i], .to = 1};
			item.n = (long long)level_bytes(plan, level, item.threads);
			if (stores)
				item.stores = "plain";
			if (item.n > 0)
				add(plan, item);
			item.stores = "stream";
			if (item.n > 0 && stores && level == LEVELS)
				add(plan, item);
		}
}

static void counts_add(struct plan *plan, const struct ceiling_kind *kind) {
	for (size_t i = 0; i < plan->counts_count; i++)
		add(plan, (struct ceiling_item){kind, .threads = plan->counts[i], .to = 1, .n = kind->n});
}

/* Takes all pairs of cores on a small machine, and an evenly spaced subset of the pairs with the first core on a large
 * one. */
static void pairs_add(struct plan *plan, const struct ceiling_kind *kind) {
	int cores = topo_count(plan->topo, TOPO_CORE), step = cores > PAIRS_MAX ? (cores + PAIRS_MAX - 1) / PAIRS_MAX : 1;
	bool all = cores * (cores - 1) / 2 <= PAIRS_MAX;
	for (int from = 0; from < (all ? cores : 1); from++)
		for (int to = from + 1; to < cores; to += all ? 1 : step)
			add(plan, (struct ceiling_item){kind, .threads = cores, .from = from, .to = to, .n = kind->n});
}

struct ceiling_item *ceilings_plan(const struct topo *topo, unsigned long long memory, size_t *count) {
	struct plan plan = {.topo = topo, .memory = (double)memory};
	plan.counts_count = ceilings_thread_counts(topo, plan.counts, COUNTS_MAX);
	for (const struct ceiling_kind *kind = ceiling_kinds; kind->name; kind++)
		if (kind->group == CEILING_BANDWIDTH)
			bandwidths_add(&plan, kind);
		else if (kind->group == CEILING_PAIR)
			pairs_add(&plan, kind);
		else
			counts_add(&plan, kind);
	*count = plan.count;
	return plan.items;
}
