/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who met between two sizes, from the store. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "tuner/sizes/impl.h"

struct meeting {
	double n;
	char *texts[SIZES_BRIDGE_MAX]; /* canonical JSON; the first is what the others are compared with */
	size_t count;
	double costs[SIZES_BRIDGE_ROUNDS][SIZES_BRIDGE_MAX];
};

struct sizes_bridges_reader {
	struct meeting meetings[SIZES_WAYS_MAX];
	size_t count;
};

struct sizes_bridges_reader *sizes_bridges_reader_new(void) {
	return mem_alloc(1, sizeof(struct sizes_bridges_reader));
}

static struct meeting *meeting_at(struct sizes_bridges_reader *reader, double n) {
	for (size_t i = 0; i < reader->count; i++)
		if (reader->meetings[i].n == n)
			return &reader->meetings[i];
	if (reader->count == SIZES_WAYS_MAX)
		return NULL;
	struct meeting *meeting = &reader->meetings[reader->count++];
	meeting->n = n;
	for (size_t round = 0; round < SIZES_BRIDGE_ROUNDS; round++)
		for (size_t i = 0; i < SIZES_BRIDGE_MAX; i++)
			meeting->costs[round][i] = NAN;
	return meeting;
}

static size_t place_of(struct meeting *meeting, const char *text) {
	size_t i = 0;
	while (i < meeting->count && strcmp(meeting->texts[i], text) != 0)
		i++;
	if (i == meeting->count && i < SIZES_BRIDGE_MAX)
		meeting->texts[meeting->count++] = mem_strdup(text);
	return i;
}

void sizes_bridges_trial(struct sizes_bridges_reader *reader, const struct store_trial *trial) {
	double n = js_real_or(trial->detail, "size", NAN);
	if (strcmp(trial->phase, "bridge") != 0 || !(n > 0) || !(trial->value > 0) || trial->block < 0 ||
	    trial->block >= SIZES_BRIDGE_ROUNDS)
		return;
	struct meeting *meeting = meeting_at(reader, n);
	size_t at = meeting ? place_of(meeting, trial->config) : SIZES_BRIDGE_MAX;
	if (at < SIZES_BRIDGE_MAX)
		meeting->costs[trial->block][at] = trial->value;
}

static void meeting_end(struct meeting *meeting, struct sizes *sizes) {
	json_t *configs[SIZES_BRIDGE_MAX];
	double costs[SIZES_BRIDGE_ROUNDS * SIZES_BRIDGE_MAX];
	bool whole = true;
	for (size_t i = 0; i < meeting->count; i++) {
		configs[i] = js_parse(meeting->texts[i], strlen(meeting->texts[i]), "a trial's configuration", NULL);
		whole = whole && configs[i];
		for (size_t round = 0; round < SIZES_BRIDGE_ROUNDS; round++)
			costs[round * meeting->count + i] = meeting->costs[round][i];
		free(meeting->texts[i]);
	}
	if (whole)
		sizes_bridge_take(sizes, meeting->n, configs, meeting->count, costs, SIZES_BRIDGE_ROUNDS);
	for (size_t i = 0; i < meeting->count; i++)
		json_decref(configs[i]);
}

void sizes_bridges_end(struct sizes_bridges_reader *reader, struct sizes *sizes) {
	for (size_t i = 0; i < reader->count; i++)
		meeting_end(&reader->meetings[i], sizes);
	free(reader);
}
