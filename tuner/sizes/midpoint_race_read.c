/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads midpoint races back from the store. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/sizes/impl.h"

struct midpoint_race {
	double n;
	char *texts[SIZES_MIDPOINT_RACE_MAX]; /* canonical JSON; the first one is the reference */
	size_t count;
	double costs[SIZES_MIDPOINT_RACE_ROUNDS][SIZES_MIDPOINT_RACE_MAX];
};

struct sizes_midpoint_races_reader {
	struct midpoint_race races[SIZES_MIDPOINTS_MAX];
	size_t count;
};

struct sizes_midpoint_races_reader *sizes_midpoint_races_reader_new(void) {
	return mem_alloc(1, sizeof(struct sizes_midpoint_races_reader));
}

static struct midpoint_race *race_at(struct sizes_midpoint_races_reader *reader, double n) {
	for (size_t i = 0; i < reader->count; i++)
		if (reader->races[i].n == n)
			return &reader->races[i];
	if (reader->count == SIZES_MIDPOINTS_MAX)
		return NULL;
	struct midpoint_race *race = &reader->races[reader->count++];
	race->n = n;
	for (size_t round = 0; round < SIZES_MIDPOINT_RACE_ROUNDS; round++)
		for (size_t i = 0; i < SIZES_MIDPOINT_RACE_MAX; i++)
			race->costs[round][i] = NAN;
	return race;
}

static size_t config_index(struct midpoint_race *race, const char *text) {
	size_t i = 0;
	while (i < race->count && strcmp(race->texts[i], text) != 0)
		i++;
	if (i == race->count && i < SIZES_MIDPOINT_RACE_MAX)
		race->texts[race->count++] = mem_strdup(text);
	return i;
}

void sizes_midpoint_races_trial(struct sizes_midpoint_races_reader *reader, const struct store_trial *trial) {
	double n = js_real_or(trial->detail, "size", NAN);
	if (strcmp(trial->phase, "bridge") != 0 || !(n > 0) || !(trial->value > 0) || trial->block < 0 ||
	    trial->block >= SIZES_MIDPOINT_RACE_ROUNDS)
		return;
	struct midpoint_race *race = race_at(reader, n);
	size_t at = race ? config_index(race, trial->config) : SIZES_MIDPOINT_RACE_MAX;
	if (at < SIZES_MIDPOINT_RACE_MAX)
		race->costs[trial->block][at] = trial->value;
}

static void race_end(struct midpoint_race *race, struct sizes *sizes) {
	json_t *configs[SIZES_MIDPOINT_RACE_MAX];
	double costs[SIZES_MIDPOINT_RACE_ROUNDS * SIZES_MIDPOINT_RACE_MAX];
	bool whole = true;
	for (size_t i = 0; i < race->count; i++) {
		configs[i] = js_parse(race->texts[i], strlen(race->texts[i]), "a trial's configuration", NULL);
		whole = whole && configs[i];
		for (size_t round = 0; round < SIZES_MIDPOINT_RACE_ROUNDS; round++)
			costs[round * race->count + i] = race->costs[round][i];
		free(race->texts[i]);
	}
	if (whole)
		sizes_midpoint_race_record(sizes, race->n, configs, race->count, costs, SIZES_MIDPOINT_RACE_ROUNDS);
	for (size_t i = 0; i < race->count; i++)
		json_decref(configs[i]);
}

void sizes_midpoint_races_end(struct sizes_midpoint_races_reader *reader, struct sizes *sizes) {
	for (size_t i = 0; i < reader->count; i++)
		race_end(&reader->races[i], sizes);
	free(reader);
}
