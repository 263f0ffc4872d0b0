/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The blocks of a duel as rows of times, and the log of all duels of the same final: blocks in which the two sides of a
 * later one met already count there as well. */
#include <math.h>

#include "base/mem.h"
#include "tuner/race/race_impl.h"

int duel_pairs_of(const struct duel *duel, size_t arm, double ended) {
	int count = 0;
	for (int row = 0; row < duel->rows; row++) {
		double seconds = duel->arms[arm].seconds[row];
		if (isnan(seconds))
			continue;
		duel->x[count] = duel->arms[SIDE_A].seconds[row];
		duel->y[count++] = seconds < 0 ? -seconds * ended : seconds;
	}
	return count;
}

/* A side whose runs were ended is not known to be as fast as they seem. */
static bool was_ended(const struct duel_log *log, const json_t *config) {
	for (size_t i = 0; i < log->count; i++)
		if (log->trials[i].seconds < 0 && json_equal(log->trials[i].config, config))
			return true;
	return false;
}

/* Sets the times of the next logged block; returns where the one after it begins. */
static size_t block_recall(struct duel *duel, const struct duel_log *log, size_t at) {
	int block = log->trials[at].block;
	for (size_t i = 0; i < duel->arm_count; i++)
		duel->arms[i].current = NAN;
	for (; at < log->count && log->trials[at].block == block; at++)
		for (size_t i = 0; i < duel->arm_count; i++)
			if (i != CONTROL && json_equal(duel->arms[i].entrant.config, log->trials[at].config))
				duel->arms[i].current = log->trials[at].seconds;
	return at;
}

void duel_log_recall(struct duel *duel) {
	const struct duel_log *log = duel->options->log;
	struct duel_arm *a = &duel->arms[SIDE_A], *b = &duel->arms[SIDE_B];
	bool counts = log && !was_ended(log, a->entrant.config);
	for (size_t at = 0; counts && at < log->count;) {
		at = block_recall(duel, log, at);
		if (isnan(a->current))
			continue;
		duel_row_add(duel);
		race_entrant_keep(&a->entrant, a->current);
		b->entrant.bounded += b->current < 0;
		if (!isnan(b->current))
			race_entrant_keep(&b->entrant, fabs(b->current));
	}
	duel->recalled = duel->judged = duel->rows;
	race_entrant_judge(&a->entrant, true);
	race_entrant_judge(&b->entrant, true);
}

static void trial_log(struct duel_log *log, const json_t *config, double seconds) {
	log->trials = mem_room(log->trials, log->count, &log->room, sizeof *log->trials);
	log->trials[log->count++] = (struct duel_logged){log->blocks, json_incref((json_t *)config), seconds};
}

void duel_log_add(const struct duel *duel) {
	struct duel_log *log = duel->options->log;
	if (log)
		log->bounded = log->bounded || duel->options->bound > 0;
	for (int row = duel->recalled; log && row < duel->rows; row++, log->blocks++)
		for (size_t i = 0; i < duel->arm_count; i++)
			if (i != CONTROL && !isnan(duel->arms[i].seconds[row]))
				trial_log(log, duel->arms[i].entrant.config, duel->arms[i].seconds[row]);
}

void duel_log_clear(struct duel_log *log) {
	for (size_t i = 0; i < log->count; i++)
		json_decref(log->trials[i].config);
	free(log->trials);
	*log = (struct duel_log){0};
}
