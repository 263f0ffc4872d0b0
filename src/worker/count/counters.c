/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/count/counters.h"

#include <stdlib.h>

#include "counters/backend/cpu.h"
#include "counters/selftest.h"
#include "src/worker/kernel/device.h"

struct counters {
	char cpu[64];
	struct counter_selftest *selftest; /* NULL until the first plan */
	bool loaded;
	struct counter_tables *tables; /* NULL if they cannot be read; tables_err says why */
	struct err tables_err;
};

/* Decides which backend counts each event of one plan. */
struct bench {
	struct counters *counters;
	struct counter_site site;
};

struct counters *counters_new(void) {
	return mem_alloc(1, sizeof(struct counters));
}

void counters_free(struct counters *counters) {
	if (counters) {
		counter_selftest_free(counters->selftest);
		counter_tables_free(counters->tables);
		free(counters);
	}
}

const struct counter_tables *counters_tables(struct counters *counters, struct err *err) {
	if (!counters->loaded) {
		counters->tables = counter_tables_load(&counters->tables_err);
		counters->loaded = true;
	}
	if (!counters->tables && err) {
		*err = counters->tables_err;
	}
	return counters->tables;
}

static bool good(void *ctx, const struct counter_backend *backend, const char *event, double least,
                 char reason[COUNTER_REASON]) {
	const struct bench *bench = ctx;
	return counter_selftest_good(bench->counters->selftest, backend, event, &bench->site, least, reason);
}

/* Backends can be named even without the tables. */
struct counter_plan *counters_plan(struct counters *counters, struct arena *arena, const char *const *asked,
                                   const struct counter_site *site, struct err *err) {
	struct bench bench = {counters, *site};
	bench.site.threads = 1;
	if (!counters->selftest) {
		counters->selftest = counter_selftest_new();
		counter_cpu(counters->cpu, sizeof counters->cpu);
	}
	const struct counter_judge judge = {&bench, counters->cpu, good, site->device ? "cuda" : device_kind_of(site->gpu)};
	const struct counter_tables *tables = counters_tables(counters, NULL);
	struct counter_plan *plan = counter_plan_new(arena, tables, asked, site->software, &judge, err);
	if (!plan) {
		counters_tables(counters, err);
	}
	return plan;
}

static size_t event_count(const struct ss_kernel *kernel) {
	size_t count = 0;
	while (kernel->events && count < SS_EVENTS_MAX && kernel->events[count].name) {
		count++;
	}
	return count;
}

struct counter_software *counters_software(struct arena *arena, const struct ss_kernel *kernel) {
	size_t count = event_count(kernel);
	if (count == 0) {
		return NULL;
	}
	const char **names = arena_alloc(arena, count, sizeof *names),
			   **summaries = arena_alloc(arena, count, sizeof *names);
	for (size_t i = 0; i < count; i++) {
		names[i] = kernel->events[i].name;
		summaries[i] = kernel->events[i].summary;
	}
	struct counter_software *software = arena_alloc(arena, 1, sizeof *software);
	*software = (struct counter_software){
		.owner = kernel->name, .count = count, .stride = SS_EVENTS_MAX, .names = names, .summaries = summaries};
	return software;
}

void counters_software_alloc(struct arena *arena, struct counter_software *software, int threads) {
	software->values = arena_alloc(arena, (size_t)threads * software->stride, sizeof *software->values);
	software->threads = threads;
}
