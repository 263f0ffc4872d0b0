/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples the space. Only the measured rows are known here, so a sample combines levels and presences that occur in
 * them. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "src/cmd/explain/table.h"

enum { SAMPLES = 1500, PRESENCES_MAX = 64 };

/* A set of parameters that occur together. */
struct presence {
	size_t example, rows;                                           /* one of its rows; the number of its rows */
	double size;                                                    /* number of configurations */
	size_t *seen[STUDY_COLUMNS_MAX], seen_count[STUDY_COLUMNS_MAX]; /* levels of each parameter in these rows */
};

static bool same_presence(const struct explain_table *table, size_t a, size_t b) {
	const int *x = &table->level[a * table->params], *y = &table->level[b * table->params];
	for (size_t p = 0; p < table->params; p++)
		if ((x[p] == STUDY_ABSENT) != (y[p] == STUDY_ABSENT))
			return false;
	return true;
}

static void presence_count(const struct explain_table *table, struct presence *presence) {
	presence->size = 1;
	for (size_t p = 0; p < table->params; p++) {
		bool *present = mem_alloc(table->level_count[p] + 1, sizeof *present);
		presence->seen[p] = mem_alloc(table->level_count[p] + 1, sizeof *presence->seen[p]);
		for (size_t r = 0; r < table->rows; r++) {
			int level = table->level[r * table->params + p];
			if (level != STUDY_ABSENT && same_presence(table, r, presence->example))
				present[level] = true;
		}
		for (size_t level = 0; level < table->level_count[p]; level++)
			if (present[level])
				presence->seen[p][presence->seen_count[p]++] = level;
		presence->size *= presence->seen_count[p] ? (double)presence->seen_count[p] : 1;
		free(present);
	}
}

static size_t presences_find(const struct explain_table *table, struct presence *presences) {
	size_t count = 0;
	for (size_t r = 0; r < table->rows; r++) {
		size_t i = 0;
		while (i < count && !same_presence(table, presences[i].example, r))
			i++;
		if (i == PRESENCES_MAX)
			continue;
		if (i == count)
			presences[count++].example = r;
		presences[i].rows++;
	}
	for (size_t i = 0; i < count; i++)
		presence_count(table, &presences[i]);
	return count;
}

static void draw(const struct presence *presence, size_t params, struct rng *rng, int *levels) {
	for (size_t p = 0; p < params; p++)
		levels[p] =
			presence->seen_count[p] ? (int)presence->seen[p][rng_below(rng, presence->seen_count[p])] : STUDY_ABSENT;
}

static const struct presence *choose(const struct presence *presences, size_t count, double total, struct rng *rng) {
	double at = total * rng_unit(rng);
	size_t i = 0;
	for (; i + 1 < count && at >= presences[i].size; i++)
		at -= presences[i].size;
	return &presences[i];
}

static void presences_clear(const struct explain_table *table, struct presence *presences, size_t count) {
	for (size_t i = 0; i < count; i++)
		for (size_t p = 0; p < table->params; p++)
			free(presences[i].seen[p]);
	free(presences);
}

int *explain_table_sample(const struct explain_table *table, size_t *count, bool *whole) {
	struct presence *presences = mem_alloc(PRESENCES_MAX, sizeof *presences);
	size_t kinds = presences_find(table, presences), most = table->rows > SAMPLES ? table->rows : SAMPLES;
	int *sample = mem_alloc(most * (table->params + 1), sizeof *sample);
	double total = 0;
	struct rng rng;
	rng_seed(&rng, 1);
	for (size_t i = 0; i < kinds; i++)
		total += presences[i].size;
	*whole = table->rows <= SAMPLES && total <= (double)table->rows;
	*count = *whole ? table->rows : kinds ? SAMPLES : 0;
	if (*whole)
		memcpy(sample, table->level, table->rows * table->params * sizeof *sample);
	for (size_t i = 0; !*whole && i < *count; i++)
		draw(choose(presences, kinds, total, &rng), table->params, &rng, &sample[i * table->params]);
	presences_clear(table, presences, kinds);
	return sample;
}
