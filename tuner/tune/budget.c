/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of the budget of a search is left. */
#include <config.h>

#include <math.h>

#include "src/base/json/js.h"
#include "src/base/stats.h"
#include "tuner/tune/state.h"

/* Even the shortest budget allows a few evaluations, because the duel that follows takes longer anyway. */
static const uint64_t EVALUATIONS_MIN = 8, EVALUATIONS_MIN_OF_PROGRAM = 4;
static const double SETUP_SECONDS_MAX = 0.25;

static double node_seconds_left(const struct tune *tune) {
	return fmax(0, tune->money.budget.node_seconds - tune->money.spent_before - fleet_held(tune->bench.fleet).seconds);
}

double tune_nodes(const struct tune *tune) {
	size_t nodes = tune->bench.fleet ? fleet_held(tune->bench.fleet).nodes : 1;
	return nodes ? (double)nodes : 1;
}

double tune_budget_time(const struct tune *tune) {
	if (!(tune->money.budget.node_seconds > 0))
		return tune->money.budget.seconds;
	return tune_elapsed(tune) + node_seconds_left(tune) / tune_nodes(tune);
}

/* Estimates from the trials so far what a trial of the finals takes beside its run. Before there are others, the
 * baseline tells, although it also contains what happens only once. */
static double beside_seconds(const struct tune *tune) {
	size_t count = tune->bench.beside.count < TUNE_NOISES ? tune->bench.beside.count : TUNE_NOISES;
	if (tune->task->whole_programs) /* in extra_seconds */
		return 0;
	if (count > 1)
		return stats_median(tune->bench.beside.last, count);
	double first = count ? tune->bench.beside.last[0] : tune->memory.baseline.elapsed_s;
	return tune->bench.fleet ? first : fmin(first, SETUP_SECONDS_MAX);
}

double tune_final_seconds(const struct tune *tune, double value) {
	return tune_seconds(tune, value) + beside_seconds(tune);
}

/* One process keeps what it has set up and verified, and has most of the finalists from the search; nodes have to
 * repeat that. Builds are kept everywhere. */
void tune_beside_note(struct tune *tune, const struct trial_result *result, double elapsed) {
	const json_t *reply = result->reply;
	if (result->status != TRIAL_CORRECT || tune->task->whole_programs || result->sample_count == 0)
		return;
	double wall = tune_wall(result), each = wall > 0 ? wall : stats_median(result->samples, result->sample_count);
	double built = js_real_or(json_object_get(reply, "gpu"), "compile_s", 0), kept = built;
	if (!tune->bench.fleet) /* setting up includes the build, which is not in `elapsed` */
		kept = fmax(0, js_real_or(reply, "setup_s", 0) - built) + js_real_or(reply, "verify_s", 0);
	double timed = each * (double)result->sample_count * js_real_or(reply, "batch", 1);
	tune->bench.beside.last[tune->bench.beside.count++ % TUNE_NOISES] = fmax(0, elapsed - timed - kept);
}

/* How many would race: those within the margin of the best. */
static double entries_expected(const struct tune *tune) {
	double count = 0;
	for (size_t i = 0; i < tune->memory.worked_count; i++)
		count += tune->memory.worked[i].promise <= TUNE_FINALIST_MARGIN * tune->memory.best;
	return fmin(fmax(1, count), FINALISTS_MAX);
}

/* As long as everything else fails there is nothing to compare, and the search needs the time to find something. */
static bool only_baseline_works(const struct tune *tune) {
	return tune->tally.evaluations > 1 && tune->memory.baseline.status == TRIAL_CORRECT &&
	       tune->tally.failures[TRIAL_CORRECT] + tune->tally.failures[TRIAL_CENSORED] <= 1;
}

/* The noise at hand tells how long the finals take. A race of one is none. */
static double finals_expected(const struct tune *tune) {
	double base =
		tune->memory.baseline.status == TRIAL_CORRECT ? tune_final_seconds(tune, tune->memory.baseline.value) : 0;
	double best = isnan(tune->memory.best) ? 0 : tune_final_seconds(tune, tune->memory.best),
		   entries = entries_expected(tune);
	if (only_baseline_works(tune))
		return tune_proof_seconds(tune);
	double race = entries > 1 ? ceil(RACE_BLOCKS_KEPT / tune_nodes(tune)) * entries * 1.05 * best : 0;
	return race + tune_rounds(tune, tune_pairs_expected(tune)) * (base + 2 * best) + tune_return_seconds(tune) +
	       tune_check_seconds(tune);
}

double tune_finals_kept(const struct tune *tune) {
	return fmin(RACE_SHARE_MAX * tune_budget_time(tune), finals_expected(tune));
}

void tune_budget_alone(struct tune_budget *budget) {
	if (budget->node_seconds > 0)
		*budget = (struct tune_budget){.seconds = budget->node_seconds};
}

bool tune_is_recalling(const struct tune *tune) {
	return !tune->memory.is_new && recall_left(tune->memory.recall) > 0;
}

static uint64_t evaluations_min(const struct tune *tune) {
	return tune->task->whole_programs ? EVALUATIONS_MIN_OF_PROGRAM : EVALUATIONS_MIN;
}

bool tune_spent(const struct tune *tune) {
	const struct tune_budget *budget = &tune->money.budget;
	if (budget->evaluations && tune->tally.evaluations >= budget->evaluations)
		return true;
	double time = tune_budget_time(tune);
	if (!(time > 0) || tune_is_recalling(tune))
		return false;
	if (recall_searched(tune->memory.recall))
		return true;
	return !tune_another_fits(tune, evaluations_min(tune), tune_finals_kept(tune));
}

bool tune_fits(const struct tune *tune, double seconds) {
	return !tune_promised(tune) || tune_is_recalling(tune) ||
	       tune_elapsed(tune) + seconds + tune_finals_kept(tune) < tune_budget_time(tune);
}

uint64_t tune_budget_evaluations(const struct tune *tune) {
	const struct tune_budget *budget = &tune->money.budget;
	if (budget->evaluations)
		return budget->evaluations;
	if (budget->node_seconds > 0 && tune->memory.baseline.elapsed_s > 0) {
		double nodes = tune_nodes(tune), left = node_seconds_left(tune) - tune_finals_kept(tune) * nodes;
		return left < tune->memory.baseline.elapsed_s ? 1 : (uint64_t)(left / tune->memory.baseline.elapsed_s);
	}
	if (budget->seconds > 0 && tune->memory.baseline.elapsed_s > 0) {
		double count = (budget->seconds - tune_finals_kept(tune)) / tune->memory.baseline.elapsed_s;
		if (tune->bench.fleet)
			count *= (double)fleet_alive(tune->bench.fleet);
		return count < 1 ? 1 : (uint64_t)count;
	}
	return 0;
}

uint64_t tune_evaluations_left(const struct tune *tune) {
	const struct tune_budget *budget = &tune->money.budget;
	uint64_t valid = space_valid(tune->task->space),
			 unseen = valid > tune->tally.evaluations ? valid - tune->tally.evaluations : 0;
	double time = tune_budget_time(tune), seconds = time - tune_elapsed(tune) - tune_finals_kept(tune);
	double left = (double)unseen;
	if (budget->evaluations)
		left = fmin(left, (double)(budget->evaluations - tune->tally.evaluations));
	else if (time > 0)
		left = fmin(left, seconds * (double)tune->tally.evaluations / tune_elapsed(tune));
	return left < 1 ? 1 : (uint64_t)left;
}
