/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A gain that nodes report must also be seen on the tuner's own clock: if a run of the winner is shorter by so much,
 * its answer comes earlier by so much. What an answer takes besides its run is the same for both sides of a pair and
 * cancels (doc/fleet.md has the limits). */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/base/stats.h"
#include "tuner/tune/state.h"

/* Differences may remain unexplained up to a share of the gain, so many standard errors, or the jitter of a connection.
 */
static const double SHARE = 0.25, DEVIATIONS = 4, JITTER_SECONDS = 2e-3;

/* Kernels run an unknown number of times in a trial, and a metric is not a time. */
static bool applies(const struct tune *tune) {
	return tune->bench.fleet && tune->task->whole_programs && !tune->task->goal.metric && !tune_is_metered(tune);
}

static size_t node_of(const struct tune *tune, const json_t *reply) {
	const char *name = js_string_or(reply, "node", "");
	size_t node = 0;
	while (node < tune->task->pool->count && strcmp(fleet_name(tune->bench.fleet, node), name) != 0)
		node++;
	return node;
}

void tune_gain_note(struct tune *tune, const char *phase, int block, const json_t *config,
                    const struct trial_result *result) {
	struct tune_gain *gain = &tune->finals.gain;
	double said = tune_wall(result), verify = tune->task->checked ? js_real_or(result->reply, "verify_s", 0) : 0;
	if (!applies(tune) || strcmp(phase, "duel") != 0 || result->status != TRIAL_CORRECT || !(said > 0))
		return;
	gain->trials = mem_grow(gain->trials, gain->count + 1, sizeof *gain->trials);
	gain->trials[gain->count++] = (struct tune_gain_trial){.block = block,
	                                                       .baseline = json_equal(config, tune->task->baseline),
	                                                       .node = node_of(tune, result->reply),
	                                                       .said = said,
	                                                       .seen = result->elapsed_s - verify};
}

void tune_gain_clear(struct tune *tune) {
	free(tune->finals.gain.trials);
	tune->finals.gain = (struct tune_gain){.nodes = tune->finals.gain.nodes};
}

/* The next pair of a node; false: there are no more. A control is a second trial of the winner in its block. */
static bool pair_next(const struct tune_gain *gain, size_t node, size_t *at, const struct tune_gain_trial *pair[2]) {
	while (*at < gain->count) {
		int block = gain->trials[*at].block;
		pair[0] = pair[1] = NULL;
		for (; *at < gain->count && gain->trials[*at].block == block; ++*at) {
			const struct tune_gain_trial *trial = &gain->trials[*at];
			if (trial->node == node && !pair[trial->baseline])
				pair[trial->baseline] = trial;
		}
		if (pair[0] && pair[1])
			return true;
	}
	return false;
}

/* Do the answers of a node take what its times say, as far as the pairs tell? */
static bool confirms(struct tune_gain *gain, size_t node) {
	double *said = mem_alloc(gain->count + 1, sizeof *said), *rest = mem_alloc(gain->count + 1, sizeof *rest);
	const struct tune_gain_trial *pair[2];
	size_t count = 0;
	for (size_t at = 0; pair_next(gain, node, &at, pair); count++) {
		said[count] = pair[1]->said - pair[0]->said;
		rest[count] = pair[1]->seen - pair[0]->seen - said[count];
	}
	double claim = stats_median(said, count), left = stats_median(rest, count);
	double noise = count ? stats_mad(rest, count) / sqrt((double)count) : 0;
	bool good = count < RACE_PAIRS_LEAST || fabs(left) <= SHARE * fabs(claim) + DEVIATIONS * noise + JITTER_SECONDS;
	if (!good) {
		gain->said = claim;
		gain->seen = claim + left;
	}
	free(said);
	free(rest);
	return good;
}

/* The last node is not quarantined, because everything else that it measured would be lost as well. */
static void distrust(struct tune *tune, size_t node) {
	char reason[160];
	snprintf(reason, sizeof reason,
	         "its times do not add up: it reports a gain of %.3g s a run, but its answers come %.3g s earlier",
	         tune->finals.gain.said, tune->finals.gain.seen);
	if (fleet_alive(tune->bench.fleet) > 1)
		fleet_distrust(tune->bench.fleet, node, reason);
	if (!tune->finals.gain.nodes)
		tune->finals.gain.nodes = json_array();
	json_array_append_new(tune->finals.gain.nodes,
	                      json_pack("{s:s,s:o,s:o}", "name", fleet_name(tune->bench.fleet, node), "said_s",
	                                js_number(tune->finals.gain.said), "seen_s", js_number(tune->finals.gain.seen)));
}

bool tune_gain_is_seen(struct tune *tune) {
	bool good = true;
	if (!applies(tune) || tune->finals.duel.verdict != PAIRED_FASTER || tune->finals.duel.lost[1])
		return true;
	for (size_t node = 0; node < tune->task->pool->count; node++)
		if (!fleet_is_quarantined(tune->bench.fleet, node) && !confirms(&tune->finals.gain, node)) {
			distrust(tune, node);
			good = false;
		}
	return good;
}
