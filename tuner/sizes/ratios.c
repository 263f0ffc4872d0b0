/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ratios of configurations to the best of their size, from stored trials: paired within the blocks of a race or a duel;
 * failing that, from the medians of the search, which were measured one after the other and count for less. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/sizes/impl.h"
#include "tuner/trial/trial.h"
#include "tuner/race/numbers.h"

/* Reads midpoint races back from the store. */
struct midpoint_race {
	double n;
	char *texts[SIZES_MIDPOINT_RACE_MAX]; /* canonical JSON; the first one is the reference */
	size_t count;
	double costs[SIZES_MIDPOINT_RACE_ROUNDS][SIZES_MIDPOINT_RACE_MAX];
};

struct races_reader {
	struct midpoint_race races[SIZES_MIDPOINTS_MAX];
	size_t count;
};

static struct midpoint_race *race_at(struct races_reader *reader, double n) {
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

static void races_trial(struct races_reader *reader, const struct store_trial *trial) {
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

static void races_end(struct races_reader *reader, struct sizes *sizes) {
	for (size_t i = 0; i < reader->count; i++)
		race_end(&reader->races[i], sizes);
}

struct midpoint_tally { /* for one size and configuration */
	double n;
	char *config; /* canonical JSON */
	double cost[SIZES_ROUNDS];
	size_t count;
};

struct midpoints_reader {
	struct midpoint_tally tallies[SIZES_MIDPOINTS_MAX];
	size_t count;
};

static struct midpoint_tally *tally_of(struct midpoints_reader *reader, double n, const char *config) {
	for (size_t i = 0; i < reader->count; i++)
		if (reader->tallies[i].n == n && strcmp(reader->tallies[i].config, config) == 0)
			return &reader->tallies[i];
	if (reader->count == SIZES_MIDPOINTS_MAX)
		return NULL;
	struct midpoint_tally *tally = &reader->tallies[reader->count++];
	*tally = (struct midpoint_tally){.n = n, .config = mem_strdup(config)};
	return tally;
}

static void midpoints_trial(struct midpoints_reader *reader, const struct store_trial *trial) {
	double n = js_real_or(trial->detail, "size", NAN);
	if (strcmp(trial->phase, "between") != 0 || !(n > 0) || !(trial->value > 0))
		return;
	struct midpoint_tally *tally = tally_of(reader, n, trial->config);
	if (tally && tally->count < SIZES_ROUNDS)
		tally->cost[tally->count++] = trial->value;
}

static void midpoints_end(struct midpoints_reader *reader, struct sizes *sizes) {
	for (size_t i = 0; i < reader->count; i++) {
		struct midpoint_tally *tally = &reader->tallies[i];
		js_auto json_t *config = js_parse(tally->config, strlen(tally->config), "a trial's configuration", NULL);
		if (config)
			sizes_midpoint_record(sizes, tally->n, config, tally->cost, tally->count);
		free(tally->config);
	}
}

struct tally { /* for one configuration in the trials of one search */
	const json_t *config;
	char *text;
	double in_block, alone; /* NAN: none */
	double *logs;           /* of pairs; for the best itself its costs in rounds with other sizes */
	size_t count, failures;
};

struct reader {
	struct tally *tallies; /* the first is the best of the point */
	size_t count;
	int block;
	char phase[16];
	struct midpoints_reader *midpoints;
	struct races_reader *midpoint_races;
};

static void block_end(struct reader *reader) {
	double own = reader->tallies[0].in_block;
	for (size_t i = 0; i < reader->count; i++) {
		struct tally *tally = &reader->tallies[i];
		if (i > 0 && own > 0 && tally->in_block > 0) {
			tally->logs = mem_grow(tally->logs, tally->count + 1, sizeof *tally->logs);
			tally->logs[tally->count++] = log(tally->in_block / own);
		}
		tally->in_block = NAN;
	}
}

static void round_record(struct tally *best, const struct store_trial *trial) {
	if (strcmp(trial->config, best->text) != 0 || !(trial->value > 0))
		return;
	best->logs = mem_grow(best->logs, best->count + 1, sizeof *best->logs);
	best->logs[best->count++] = trial->value;
}

static bool is_paired(const char *phase) {
	return strcmp(phase, "race") == 0 || strcmp(phase, "duel") == 0 || strcmp(phase, "cross") == 0;
}

static void trial_record(struct tally *tally, const struct store_trial *trial, bool paired) {
	bool correct = strcmp(trial->status, trial_status_word(TRIAL_CORRECT)) == 0;
	if (paired && correct)
		tally->in_block = trial->value;
	else if (correct || strcmp(trial->status, trial_status_word(TRIAL_CENSORED)) == 0)
		tally->alone = trial->value;
	else
		tally->failures++;
}

static int on_trial(void *ctx, const struct store_trial *trial) {
	struct reader *reader = ctx;
	bool paired = is_paired(trial->phase), searched = strcmp(trial->phase, "search") == 0;
	if (paired && (trial->block != reader->block || strcmp(trial->phase, reader->phase) != 0)) {
		block_end(reader);
		reader->block = trial->block;
		snprintf(reader->phase, sizeof reader->phase, "%s", trial->phase);
	}
	midpoints_trial(reader->midpoints, trial);
	races_trial(reader->midpoint_races, trial);
	if (strcmp(trial->phase, "turns") == 0)
		round_record(&reader->tallies[0], trial);
	for (size_t i = 0; i < reader->count && (paired || searched); i++)
		if (strcmp(reader->tallies[i].text, trial->config) == 0)
			trial_record(&reader->tallies[i], trial, paired);
	return 0;
}

static void tally_add(struct reader *reader, const json_t *config) {
	char *text = js_canonical(config);
	for (size_t i = 0; i < reader->count; i++) {
		if (strcmp(reader->tallies[i].text, text) == 0) {
			free(text);
			return;
		}
	}
	reader->tallies[reader->count++] = (struct tally){.config = config, .text = text, .in_block = NAN, .alone = NAN};
}

static void ratio_apply(struct sizes *sizes, size_t point, const struct reader *reader, const struct tally *tally) {
	if (tally->count > 0)
		sizes_ratio_set(sizes, point, tally->config, exp(stats_median(tally->logs, tally->count)), tally->count);
	else if (tally->failures > 0)
		sizes_ratio_set(sizes, point, tally->config, INFINITY, RACE_PAIRS_OF_RATIO);
	else if (tally->alone > 0 && reader->tallies[0].alone > 0)
		sizes_ratio_set(sizes, point, tally->config, tally->alone / reader->tallies[0].alone, 0);
}

static int point_read(struct sizes *sizes, size_t at, struct store *store, struct err *err) {
	struct tally tallies[SIZES_MAX + SIZES_CANDIDATES_MAX];
	mem_auto struct midpoints_reader *midpoints = mem_alloc(1, sizeof *midpoints);
	mem_auto struct races_reader *races = mem_alloc(1, sizeof *races);
	struct reader reader = {.tallies = tallies, .block = -1, .midpoints = midpoints, .midpoint_races = races};
	js_each (candidate, sizes->entries[at].candidates)
		tally_add(&reader, candidate);
	for (size_t i = 0; i < sizes->count; i++)
		tally_add(&reader, sizes->entries[i].point.config);
	int failed = store_trials_each(store, sizes->entries[at].point.search, NULL, on_trial, &reader, err);
	block_end(&reader);
	midpoints_end(midpoints, sizes);
	races_end(races, sizes);
	sizes_rounds_record(sizes, at, tallies[0].logs, tallies[0].count);
	for (size_t i = 0; i < reader.count; i++) {
		if (i > 0 && !failed)
			ratio_apply(sizes, at, &reader, &tallies[i]);
		free(tallies[i].text);
		free(tallies[i].logs);
	}
	return failed;
}

int sizes_ratios_read(struct sizes *sizes, struct store *store, struct err *err) {
	for (size_t i = 0; i < sizes->count; i++)
		if (sizes->entries[i].point.search && point_read(sizes, i, store, err))
			return -1;
	return 0;
}
