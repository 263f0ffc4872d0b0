/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of ceilings, with the names that the kernel uses. */
#include <string.h>

#include "src/cmd/machine/ceilings.h"

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
