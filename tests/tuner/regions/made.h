/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records as a run would leave them, with known effects. */
#ifndef TESTS_TUNER_REGIONS_MADE_H
#define TESTS_TUNER_REGIONS_MADE_H
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tuner/regions/regions_impl.h"

struct made {
	size_t regions, columns, blocks, calls; /* calls of each region in a stretch */
	const double *log;                      /* regions x columns: the true effects */
	double noise;                           /* standard deviation of the logarithm of a call */
	double growth;                          /* the last block takes this many times as long as the first */
	uint64_t seed;
};

static struct omp_record *raw_new(size_t regions, size_t calls) {
	struct omp_record *raw = mem_alloc(1, sizeof *raw + calls * sizeof raw->calls[0]);
	memcpy(raw->magic, OMP_RECORD_MAGIC, sizeof raw->magic);
	raw->size = sizeof *raw;
	raw->module_count = 1;
	strcpy(raw->modules[0].path, "/app");
	strcpy(raw->modules[0].build_id, "-");
	raw->region_count = (uint32_t)regions;
	raw->call_room = calls;
	for (size_t i = 0; i < regions; i++)
		raw->regions[i].offset = 16 * (i + 1);
	return raw;
}

static struct regions_record *record_around(struct omp_record *raw) {
	struct regions_record *record = mem_alloc(1, sizeof *record);
	record->raw = raw;
	record->count = raw->region_count;
	record->call_count = raw->call_count;
	record->modules = mem_alloc(1, sizeof *record->modules);
	record->modules[0] = (struct regions_module){raw->modules[0].path, raw->modules[0].build_id};
	record->module_count = 1;
	record->regions = mem_alloc(record->count + 1, sizeof *record->regions);
	for (size_t i = 0; i < record->count; i++)
		record->regions[i] = (struct regions_region){.module = raw->modules[0].path,
		                                             .build_id = raw->modules[0].build_id,
		                                             .offset = raw->regions[i].offset,
		                                             .facts = raw->regions[i]};
	return record;
}

/* The first call after a change of the column takes ten times as long: it must not count. */
__attribute__((unused)) static struct regions_record *record_made(const struct made *made) {
	struct omp_record *raw = raw_new(made->regions, made->regions * made->columns * made->blocks * made->calls);
	struct rng rng;
	size_t order[OMP_SETTINGS];
	rng_seed(&rng, made->seed);
	for (size_t i = 0; i < made->columns; i++)
		order[i] = i;
	for (size_t s = 0; s < made->blocks * made->columns; s++) {
		if (s % made->columns == 0)
			rng_shuffle(&rng, order, made->columns, sizeof *order);
		size_t column = order[s % made->columns];
		double drift = exp(log(made->growth) * (double)s / (double)(made->blocks * made->columns));
		for (size_t c = 0; c < made->calls; c++)
			for (size_t r = 0; r < made->regions; r++) {
				double seconds =
					1e-4 * drift * exp(made->log[r * made->columns + column] + made->noise * rng_normal(&rng));
				raw->calls[raw->call_count++] = (struct omp_call){.seconds = (float)(c ? seconds : 10 * seconds),
				                                                  .region = (uint16_t)r,
				                                                  .setting = (uint8_t)column,
				                                                  .switched = s > 0 && c == 0 && r == 0};
				raw->regions[r].calls++;
				raw->regions[r].ns += (uint64_t)(1e9 * seconds);
			}
	}
	return record_around(raw);
}

#endif
