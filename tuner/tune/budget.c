/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of the budget of a search is left. */
#include <config.h>

#include <math.h>

#include "tuner/tune/state.h"

/* The finals may take at most this share of the time when their cost is estimated in advance. */
static const double FINALS_SHARE_MAX = 0.6;
/* Even the shortest budget allows a few evaluations, because the duel that follows takes longer anyway. */
static const uint64_t EVALUATIONS_MIN = 8, EVALUATIONS_MIN_OF_PROGRAM = 4;
static const double SETUP_SECONDS_MAX = 0.25;
static const int RACE_BLOCKS_EXPECTED = 6, DUEL_PAIRS_EXPECTED = 21;

static double node_seconds_left(const struct tune *tune) {
	return fmax(0, tune->budget.node_seconds - tune->spent_before - fleet_held(tune->fleet).seconds);
}

static double nodes_held(const struct tune *tune) {
	size_t nodes = tune->fleet ? fleet_held(tune->fleet).nodes : 1;
	return nodes ? (double)nodes : 1;
}

double tune_budget_time(const struct tune *tune) {
	if (!(tune->budget.node_seconds > 0))
		return tune->budget.seconds;
	return tune_elapsed(tune) + node_seconds_left(tune) / nodes_held(tune);
}

/* Blocks of the finals run on one node each. Nodes that only wait for the next block cost the same, so that parallel
 * blocks divide the cost. The runs of a program may be so long that one node has to make the last pairs alone, and a
 * budget in seconds must last for that. */
static double at_once(const struct tune *tune, int blocks) {
	bool divided = tune->budget.node_seconds > 0 || (tune->fleet && !tune->task->whole_programs);
	return divided ? fmin(nodes_held(tune), blocks) : 1;
}

/* The seconds to measure a configuration of this value once more, by what that took for the best. INFINITY: it was not
 * done yet. */
static double again_seconds(const struct tune *tune, double value) {
	return tune->probe_cost > 0 && tune->best > 0 ? tune->probe_cost * fmax(1, value / tune->best) : INFINITY;
}

/* Nodes do not measure the best again. A trial of their search takes about as long, whatever a node does before and
 * after the runs; those of a slow configuration take longer. NAN: too few trials to tell. */
static double on_node_seconds(const struct tune *tune, double value) {
	if (!tune->fleet || tune->task->whole_programs || tune->evaluations < EVALUATIONS_MIN || !(tune->best > 0))
		return NAN;
	double mean = fleet_seconds(tune->fleet) / (double)tune->evaluations;
	return mean + fmax(0, tune_seconds(tune, value) - tune_seconds(tune, tune->best));
}

/* With a budget in node-seconds a trial costs all of its time and not only that of its runs. A kernel is set up and
 * verified as well, in about half of the time of a trial of the search, which has more samples; what was measured
 * before may need neither to be built nor to be verified again. */
double tune_final_seconds(const struct tune *tune, double value) {
	double runs = tune_seconds(tune, value), all = tune->baseline.elapsed_s * fmin(1, value / tune->baseline.value);
	double setup = fmin(SETUP_SECONDS_MAX, fmax(tune->probe_cost, fmin(all / 2, again_seconds(tune, value))));
	if (tune->budget.node_seconds > 0)
		return fmax(runs, all);
	double on_node = on_node_seconds(tune, value);
	if (isfinite(on_node))
		return fmax(runs, on_node);
	return tune->task->whole_programs || !isfinite(all) ? runs : fmax(runs, setup);
}

/* How many would race: those within the margin of the best. */
static double entries_expected(const struct tune *tune) {
	double count = 0;
	for (size_t i = 0; i < tune->worked_count; i++)
		count += tune->worked[i].promise <= TUNE_FINALIST_MARGIN * tune->best;
	return fmin(fmax(1, count), FINALISTS_MAX);
}

/* As long as everything else fails there is nothing to compare, and the search needs the time to find something. */
static bool only_baseline_works(const struct tune *tune) {
	return tune->evaluations > 1 && tune->baseline.status == TRIAL_CORRECT &&
	       tune->failures[TRIAL_CORRECT] + tune->failures[TRIAL_CENSORED] <= 1;
}

/* On one machine the noise at hand tells how long the finals take. A race of one is none. */
static double finals_alone(const struct tune *tune, double base, double best) {
	double entries = entries_expected(tune), pairs = tune_pairs_expected(tune);
	if (only_baseline_works(tune))
		return tune_proof_seconds(tune);
	double race = entries > 1 ? RACE_BLOCKS_EXPECTED * entries * 1.05 * best : 0;
	return race + pairs * (base + 2 * best);
}

double tune_finals_kept(const struct tune *tune) {
	double base = tune->baseline.status == TRIAL_CORRECT ? tune_final_seconds(tune, tune->baseline.value) : 0;
	double best = isnan(tune->best) ? 0 : tune_final_seconds(tune, tune->best);
	double race = RACE_BLOCKS_EXPECTED * FINALISTS_MAX * 1.05 * best / at_once(tune, RACE_BLOCKS_EXPECTED);
	double duel = DUEL_PAIRS_EXPECTED * (base + 2 * best) / at_once(tune, DUEL_PAIRS_EXPECTED);
	double share = FINALS_SHARE_MAX * tune_budget_time(tune);
	return fmin(share, tune->fleet ? race + duel : finals_alone(tune, base, best));
}

void tune_budget_alone(struct tune_budget *budget) {
	if (budget->node_seconds > 0)
		*budget = (struct tune_budget){.seconds = budget->node_seconds};
}

bool tune_is_recalling(const struct tune *tune) {
	return !tune->measured && recall_left(tune->recall) > 0;
}

static uint64_t evaluations_min(const struct tune *tune) {
	return tune->task->whole_programs ? EVALUATIONS_MIN_OF_PROGRAM : EVALUATIONS_MIN;
}

bool tune_spent(const struct tune *tune) {
	const struct tune_budget *budget = &tune->budget;
	if (budget->evaluations && tune->evaluations >= budget->evaluations)
		return true;
	double time = tune_budget_time(tune);
	if (!(time > 0) || tune_is_recalling(tune))
		return false;
	if (recall_searched(tune->recall))
		return true;
	if (!tune->fleet && tune_promised(tune))
		return !tune_another_fits(tune, evaluations_min(tune), tune_finals_kept(tune));
	if (tune->evaluations < evaluations_min(tune))
		return false;
	return tune_elapsed(tune) + tune_finals_kept(tune) >= time;
}

bool tune_fits(const struct tune *tune, double seconds) {
	return !tune_promised(tune) || tune_is_recalling(tune) ||
	       tune_elapsed(tune) + seconds + tune_finals_kept(tune) < tune_budget_time(tune);
}

uint64_t tune_budget_evaluations(const struct tune *tune) {
	const struct tune_budget *budget = &tune->budget;
	if (budget->evaluations)
		return budget->evaluations;
	if (budget->node_seconds > 0 && tune->baseline.elapsed_s > 0) {
		double nodes = nodes_held(tune), left = node_seconds_left(tune) - tune_finals_kept(tune) * nodes;
		return left < tune->baseline.elapsed_s ? 1 : (uint64_t)(left / tune->baseline.elapsed_s);
	}
	if (budget->seconds > 0 && tune->baseline.elapsed_s > 0) {
		double count = (budget->seconds - tune_finals_kept(tune)) / tune->baseline.elapsed_s;
		if (tune->fleet)
			count *= (double)fleet_alive(tune->fleet);
		return count < 1 ? 1 : (uint64_t)count;
	}
	return 0;
}

uint64_t tune_evaluations_left(const struct tune *tune) {
	const struct tune_budget *budget = &tune->budget;
	uint64_t valid = space_valid(tune->task->space), unseen = valid > tune->evaluations ? valid - tune->evaluations : 0;
	double time = tune_budget_time(tune), seconds = time - tune_elapsed(tune) - tune_finals_kept(tune);
	double left = (double)unseen;
	if (budget->evaluations)
		left = fmin(left, (double)(budget->evaluations - tune->evaluations));
	else if (time > 0)
		left = fmin(left, seconds * (double)tune->evaluations / tune_elapsed(tune));
	return left < 1 ? 1 : (uint64_t)left;
}
