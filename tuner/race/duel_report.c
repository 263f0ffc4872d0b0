/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results of a duel that has ended. */
#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "tuner/race/race_impl.h"
#include "tuner/race/look.h"
#include "tuner/race/numbers.h"

/* The signed ranks of fewer than 6 pairs cannot reach the level (five on one side have p = 2 / 2^5, 6 %), so Student's
 * t takes their place, as in the looks at so few pairs. */
static struct paired duel_control(const struct duel *duel, size_t count) {
	double level = duel->options->level;

	return count >= 2 && count < 6 && duel->options->pairs_first ? look_student(duel->x, duel->y, count, level)
	                                                             : paired_analyse(duel->x, duel->y, count, level);
}

static void side_report(const struct duel *duel, int i, struct duel_result *result) {
	const struct race_entrant *side = &duel->arms[i].entrant;

	result->failed[i] = side->failed;
	result->lost[i] = side->lost;
	result->cut[i] = side->cut && side->count == 0;
	result->median[i] = stats_median(side->samples, side->count);
	stats_median_ci(side->samples, side->count, duel->options->level, result->ci[i]);
}

static void others_report(const struct duel *duel, struct duel_result *result) {
	for (size_t i = 0; i < duel->options->other_count; i++) {
		const struct race_entrant *entrant = &duel->arms[OTHERS + i].entrant;

		result->others[i].median = stats_median(entrant->samples, entrant->count);
		result->others[i].failed = entrant->failed;
		result->others[i].lost = entrant->lost;
		if (entrant->lost)
			result->others[i].verdict = PAIRED_SLOWER;
	}
}

/* Takes the arrays of the arms, without the rows that b has no part in. */
static void pairs_report(struct duel *duel, struct duel_result *result) {
	int count = duel_pairs(duel, SIDE_B);

	result->a = duel->x;
	result->b = duel->y;
	result->paired.count = (size_t)count;
	duel->x = duel->y = NULL;
}

void duel_report(struct duel *duel, struct duel_result *result) {
	int controls = duel_pairs(duel, CONTROL);

	if (controls > 0)
		result->control = duel_control(duel, (size_t)controls);
	for (int i = 0; i < 2; i++)
		side_report(duel, i, result);
	others_report(duel, result);
	pairs_report(duel, result);
}

void duel_result_clear(struct duel_result *result) {
	free(result->a);
	free(result->b);
	free(result->others);
	*result = (struct duel_result){0};
}

double duel_noise_floor(const struct duel_result *result) {
	const double *ci = result->control.ci;

	return result->control.count < RACE_PAIRS_SHORT ? NAN : fmax(fabs(1 - ci[0]), fabs(ci[1] - 1));
}
