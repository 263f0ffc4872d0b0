/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans the trials for a machine: levels, sizes, thread counts, pairs of cores. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/machine/ceilings.h"

/* The table of ceilings, with the names that the kernel uses. */
const char *const ceiling_levels[] = {"l1d", "l2", "l3", "dram", NULL};

const struct ceiling_kind ceiling_kinds[] = {
	{"read", "GB/s", CEILING_BANDWIDTH, 1e-9, 0},    {"copy", "GB/s", CEILING_BANDWIDTH, 1e-9, 0},
	{"triad", "GB/s", CEILING_BANDWIDTH, 1e-9, 0},   {"fp32", "GFLOP/s", CEILING_PEAK, 1e-9, 200000},
	{"fp64", "GFLOP/s", CEILING_PEAK, 1e-9, 200000}, {"addmin", "Gpair/s", CEILING_PEAK, 1e-9, 200000},
	{"fork_join", "us", CEILING_COST, 1e6, 500},     {"barrier", "us", CEILING_COST, 1e6, 500},
	{"reduction", "us", CEILING_COST, 1e6, 500},     {"task", "us", CEILING_COST, 1e6, 1000},
	{"handover", "ns", CEILING_PAIR, 1e9, 2000},     {0},
};

const struct ceiling_kind *ceiling_kind_find(const char *name) {
	for (const struct ceiling_kind *kind = ceiling_kinds; kind->name; kind++)
		if (strcmp(kind->name, name) == 0)
			return kind;
	return NULL;
}

#define RATE(name, summary, n)                                                                                         \
	{ {name, "GB/s", CEILING_BANDWIDTH, 1e-9, n}, NULL, summary, true }
#define MEMORY(name, level, summary)                                                                                   \
	{ {name, "GB/s", CEILING_BANDWIDTH, 1e-9, 0}, level, summary, true }
#define TRANSFER(name, summary)                                                                                        \
	{ {name, "GB/s", CEILING_BANDWIDTH, 1e-9, 0}, NULL, summary, false }
#define PEAK(name, unit, summary, n)                                                                                   \
	{ {name, unit, CEILING_PEAK, 1e-9, n}, NULL, summary, true }
#define COST(name, summary, n, launched)                                                                               \
	{ {name, "us", CEILING_COST, 1e6, n}, NULL, summary, launched }

const struct ceiling_gpu ceiling_gpus[] = {
	MEMORY("read", "dram", "memory, read"),
	MEMORY("copy", "dram", "memory, half of it read and half written"),
	MEMORY("triad", "dram", "memory, two arrays read and one written"),
	MEMORY("read", "l2", "L2 cache, read"),
	RATE("shared", "shared memory of all SMs, read", 16384),
	TRANSFER("upload", "host to GPU, pinned memory"),
	TRANSFER("download", "GPU to host, pinned memory"),
	TRANSFER("upload_pageable", "host to GPU, memory from malloc"),
	TRANSFER("download_pageable", "GPU to host, memory from malloc"),
	PEAK("fp32", "GFLOP/s", "multiply-adds, two operations each", 65536),
	PEAK("fp64", "GFLOP/s", "multiply-adds, two operations each", 65536),
	PEAK("addmin", "Gpair/s", "add and minimum of 32 bits", 200000),
	PEAK("addmin2", "Gpair/s", "add and minimum of 16 bits, two at a time", 30000),
	PEAK("atomic_one", "Gadd/s", "atomic additions to one word", 1000),
	PEAK("atomic_many", "Gadd/s", "atomic additions to many words", 1000),
	COST("launch", "one kernel after the other in a stream", 10000, false),
	COST("round_trip", "from the launch of a kernel until the host sees its end", 2000, false),
	COST("barrier", "barrier of all blocks of a cooperative kernel", 1000, true),
	{{0}, NULL, NULL, false},
};

const struct ceiling_gpu *ceiling_gpu_find(const char *name, const char *level) {
	for (const struct ceiling_gpu *gpu = ceiling_gpus; gpu->kind.name; gpu++)
		if (strcmp(gpu->kind.name, name) == 0 && strcmp(gpu->level ? gpu->level : "", level ? level : "") == 0)
			return gpu;
	return NULL;
}

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

/* Threads are spread over the machine; returns how many of them share one of `units`. */
static double sharers(int threads, int units) {
	return ceil(threads / (units > 1 ? (double)units : 1));
}

/* The size of all last-level caches that the team can reach, in bytes. */
static double last_caches(const struct plan *plan, int threads) {
	double l3 = (double)topo_cache_size(plan->topo, 3), l2 = (double)topo_cache_size(plan->topo, 2);
	return l3 > 0 ? l3 * fmin(threads, topo_count(plan->topo, TOPO_LLC))
	              : l2 * fmin(threads, topo_count(plan->topo, TOPO_CORE));
}

/* At least four times the caches, so that memory must be read, and at most a quarter of the memory. Returns 0 if these
 * two contradict each other. */
static double dram_bytes(const struct plan *plan, int threads) {
	double caches = last_caches(plan, threads), floor_bytes = 64 << 20;
	double wanted = 4 * caches > floor_bytes ? 4 * caches : floor_bytes;
	double bytes = plan->memory > 0 ? fmin(wanted, plan->memory / 4) : wanted;
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

/* The ceilings of a GPU: every block size that the kernel offers gets a brief look, and only the best one is measured.
 */
enum { VALUES_MAX = 16, PARTS_MAX = 1 << 20 };
static const double MEMORY_BYTES = 0x1p32, L2_BYTES = 0x1p24, TRANSFER_BYTES = 0x1p28;

struct gpu_plan {
	struct ceiling_item *items;
	size_t count;
	const char *device;
	double memory, l2;
	long long parts; /* divides the work, and leaves only one block size: for tests */
	int blocks[VALUES_MAX], per_sm[VALUES_MAX];
	size_t block_count, per_sm_count;
};

/* Returns 0 if the memory is too small for its rate to differ from the cache's, or if the size of the cache is unknown.
 */
static double bytes_of(const struct gpu_plan *plan, const struct ceiling_gpu *gpu) {
	double fits = plan->memory / 4;
	if (!gpu->level)
		return fmin(TRANSFER_BYTES, fits);
	if (strcmp(gpu->level, "l2") == 0)
		return fmin(fmin(L2_BYTES, plan->l2 / 2), fits);
	double bytes = fmin(MEMORY_BYTES, fits);
	return bytes >= 2 * plan->l2 ? bytes : 0;
}

static void gpu_item_add(struct gpu_plan *plan, const struct ceiling_gpu *gpu, long long n, int block, int per_sm) {
	plan->items = mem_grow(plan->items, plan->count + 1, sizeof *plan->items);
	plan->items[plan->count++] = (struct ceiling_item){.kind = &gpu->kind,
	                                                   .level = gpu->level,
	                                                   .device = plan->device,
	                                                   .block = block,
	                                                   .per_sm = per_sm,
	                                                   .n = n,
	                                                   .value = NAN};
}

static void gpu_add(struct gpu_plan *plan, const struct ceiling_gpu *gpu) {
	long long n = (gpu->kind.n ? gpu->kind.n : (long long)bytes_of(plan, gpu)) / plan->parts;
	if (n < 1 && gpu->kind.n == 0)
		return;
	n = n < 1 ? 1 : n;
	if (!gpu->launched)
		gpu_item_add(plan, gpu, n, 0, 0);
	for (size_t b = 0; gpu->launched && b < plan->block_count; b++)
		for (size_t p = 0; p < plan->per_sm_count; p++)
			gpu_item_add(plan, gpu, n, plan->blocks[b], plan->per_sm[p]);
}

/* Reads numbers such as "128,256", at most `room` of them. */
static size_t numbers_read(const char *text, int *numbers, size_t room) {
	size_t count = 0;
	for (char *end; text && *text && count < room; text = *end ? end + 1 : end) {
		long number = strtol(text, &end, 10);
		if (end == text || number < 1 || number > PARTS_MAX)
			break;
		numbers[count++] = (int)number;
	}
	return count;
}

static size_t values_of(const struct kernel_desc *kernel, const char *name, int *numbers) {
	for (size_t i = 0; i < kernel->param_count; i++)
		if (strcmp(kernel->params[i].name, name) == 0)
			return numbers_read(kernel->params[i].values, numbers, VALUES_MAX);
	return 0;
}

static long long parts_read(void) {
	int parts = 1;
	numbers_read(getenv("SWEETSPOT_CEILINGS_PART"), &parts, 1);
	return parts;
}

struct ceiling_item *ceilings_gpu_plan(struct app *app, size_t *count, struct err *err) {
	const json_t *gpu = app_gpu(app, err);
	const struct kernel_list *kernels = gpu ? app_kernels(app, err) : NULL;
	const struct kernel_desc *kernel = kernels ? kernel_list_find(kernels, "ceiling", app_device_kind(app), err) : NULL;
	if (!kernel)
		return NULL;
	struct gpu_plan plan = {.device = app_device(app),
	                        .memory = js_real_or(gpu, "memory_bytes", 0),
	                        .l2 = js_real_or(gpu, "l2_bytes", 0),
	                        .parts = parts_read()};
	plan.block_count = values_of(kernel, "block", plan.blocks);
	plan.per_sm_count = values_of(kernel, "per_sm", plan.per_sm);
	if (plan.parts > 1)
		plan.block_count = plan.per_sm_count = 1;
	for (const struct ceiling_gpu *one = ceiling_gpus; one->kind.name; one++)
		gpu_add(&plan, one);
	*count = plan.count;
	return plan.items;
}
