/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the budget of a search still allows. */
#include <config.h>

#include <math.h>

#include "tuner/tune_state.h"

/* What the finals may take of the time, at most, when their cost is reckoned up beforehand. */
static const double FINALS_SHARE_MAX = 0.6;
/* Even the shortest time is worth a look at a few: the duel that follows takes longer. */
static const uint64_t EVALUATIONS_MIN = 8, EVALUATIONS_MIN_OF_PROGRAM = 4;
static const int RACE_BLOCKS_EXPECTED = 6, DUEL_PAIRS_EXPECTED = 21;

static double finals_seconds(const struct tune *tune) {
	double base = tune->baseline.status == TRIAL_CORRECT ? tune_seconds(tune, tune->baseline.value) : 0;
	double best = isnan(tune->best) ? 0 : tune_seconds(tune, tune->best);
	double race = RACE_BLOCKS_EXPECTED * FINALISTS_MAX * 1.05 * best;
	double duel = DUEL_PAIRS_EXPECTED * (base + 2 * best);
	double share = FINALS_SHARE_MAX * tune->budget.seconds;
	return race + duel < share ? race + duel : share;
}

bool tune_is_recalling(const struct tune *tune) {
	return !tune->measured && recall_left(tune->recall) > 0;
}

bool tune_spent(const struct tune *tune) {
	const struct tune_budget *budget = &tune->budget;
	if (budget->evaluations && tune->evaluations >= budget->evaluations)
		return true;
	if (!(budget->seconds > 0) || tune_is_recalling(tune))
		return false;
	if (recall_searched(tune->recall))
		return true;
	if (tune->evaluations < (tune->task->whole_programs ? EVALUATIONS_MIN_OF_PROGRAM : EVALUATIONS_MIN))
		return false;
	return tune_elapsed(tune) + finals_seconds(tune) >= budget->seconds;
}

uint64_t tune_budget_evaluations(const struct tune *tune) {
	const struct tune_budget *budget = &tune->budget;
	if (budget->evaluations)
		return budget->evaluations;
	if (budget->seconds > 0 && tune->baseline.elapsed_s > 0) {
		double count = (budget->seconds - finals_seconds(tune)) / tune->baseline.elapsed_s;
		if (tune->fleet)
			count *= (double)fleet_alive(tune->fleet);
		return count < 1 ? 1 : (uint64_t)count;
	}
	return 0;
}

uint64_t tune_evaluations_left(const struct tune *tune) {
	const struct tune_budget *budget = &tune->budget;
	uint64_t valid = space_valid(tune->task->space), unseen = valid > tune->evaluations ? valid - tune->evaluations : 0;
	double left = (double)unseen, seconds = budget->seconds - tune_elapsed(tune) - finals_seconds(tune);
	if (budget->evaluations)
		left = fmin(left, (double)(budget->evaluations - tune->evaluations));
	else if (budget->seconds > 0)
		left = fmin(left, seconds * (double)tune->evaluations / tune_elapsed(tune));
	return left < 1 ? 1 : (uint64_t)left;
}
