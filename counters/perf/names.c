/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/perf/names.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define SOFTWARE(name, id)                                                                                             \
	{ name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, false, false }
#define CLOCK(name, id)                                                                                                \
	{ name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, false, true }
#define KERNEL(name, id)                                                                                               \
	{ name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, true, false }
#define HARDWARE(name, id)                                                                                             \
	{ name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, false, false }
/* perf_event_open(2): one byte each for the cache, the operation and its result. */
#define CACHE(name, cache, op, result)                                                                                 \
	{                                                                                                                  \
		name, PERF_TYPE_HW_CACHE,                                                                                      \
			PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |                                           \
				PERF_COUNT_HW_CACHE_RESULT_##result << 16,                                                             \
			false, false                                                                                               \
	}
#define READS(name, cache)  CACHE(name "-loads", cache, READ, ACCESS), CACHE(name "-load-misses", cache, READ, MISS)
#define WRITES(name, cache) CACHE(name "-stores", cache, WRITE, ACCESS), CACHE(name "-store-misses", cache, WRITE, MISS)
#define PREFETCHES(name, cache)                                                                                        \
	CACHE(name "-prefetches", cache, PREFETCH, ACCESS), CACHE(name "-prefetch-misses", cache, PREFETCH, MISS)

const struct perf_name perf_names[] = {
	CLOCK("task-clock", TASK_CLOCK),
	CLOCK("cpu-clock", CPU_CLOCK),
	SOFTWARE("page-faults", PAGE_FAULTS),
	SOFTWARE("faults", PAGE_FAULTS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
	KERNEL("context-switches", CONTEXT_SWITCHES),
	KERNEL("cs", CONTEXT_SWITCHES),
	KERNEL("cpu-migrations", CPU_MIGRATIONS),
	KERNEL("migrations", CPU_MIGRATIONS),
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
	READS("L1-dcache", L1D),
	WRITES("L1-dcache", L1D),
	PREFETCHES("L1-dcache", L1D),
	READS("L1-icache", L1I),
	PREFETCHES("L1-icache", L1I),
	READS("LLC", LL),
	WRITES("LLC", LL),
	PREFETCHES("LLC", LL),
	READS("dTLB", DTLB),
	WRITES("dTLB", DTLB),
	PREFETCHES("dTLB", DTLB),
	READS("iTLB", ITLB),
	READS("branch", BPU),
	READS("node", NODE),
	WRITES("node", NODE),
	PREFETCHES("node", NODE),
	{.name = NULL},
};

static bool raw_read(const char *name, struct perf_name *out) {
	enum { DIGITS = 16 };
	if (name[0] != 'r')
		return false;
	size_t count = strspn(name + 1, "0123456789abcdefABCDEF");
	*out = (struct perf_name){.type = PERF_TYPE_RAW, .config = strtoull(name + 1, NULL, 16)};
	return count > 0 && count <= DIGITS && name[1 + count] == '\0';
}

bool perf_name_find(const char *name, struct perf_name *out) {
	for (const struct perf_name *known = perf_names; known->name; known++) {
		if (strcmp(known->name, name) == 0) {
			*out = *known;
			return true;
		}
	}
	return raw_read(name, out);
}
