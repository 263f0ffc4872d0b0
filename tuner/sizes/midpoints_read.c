/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/sizes/impl.h"

struct tally { /* for one size and configuration */
	double n;
	char *config; /* canonical JSON */
	double cost[SIZES_ROUNDS];
	size_t count;
};

struct sizes_midpoints_reader {
	struct tally tallies[SIZES_MIDPOINTS_MAX];
	size_t count;
};

struct sizes_midpoints_reader *sizes_midpoints_reader_new(void) {
	return mem_alloc(1, sizeof(struct sizes_midpoints_reader));
}

static struct tally *tally_of(struct sizes_midpoints_reader *reader, double n, const char *config) {
	for (size_t i = 0; i < reader->count; i++)
		if (reader->tallies[i].n == n && strcmp(reader->tallies[i].config, config) == 0)
			return &reader->tallies[i];
	if (reader->count == SIZES_MIDPOINTS_MAX)
		return NULL;
	struct tally *tally = &reader->tallies[reader->count++];
	*tally = (struct tally){.n = n, .config = mem_strdup(config)};
	return tally;
}

void sizes_midpoints_trial(struct sizes_midpoints_reader *reader, const struct store_trial *trial) {
	double n = js_real_or(trial->detail, "size", NAN);
	if (strcmp(trial->phase, "between") != 0 || !(n > 0) || !(trial->value > 0))
		return;
	struct tally *tally = tally_of(reader, n, trial->config);
	if (tally && tally->count < SIZES_ROUNDS)
		tally->cost[tally->count++] = trial->value;
}

void sizes_midpoints_end(struct sizes_midpoints_reader *reader, struct sizes *sizes) {
	for (size_t i = 0; i < reader->count; i++) {
		struct tally *tally = &reader->tallies[i];
		json_t *config = js_parse(tally->config, strlen(tally->config), "a trial's configuration", NULL);
		if (config)
			sizes_midpoint_record(sizes, tally->n, config, tally->cost, tally->count);
		json_decref(config);
		free(tally->config);
	}
	free(reader);
}
