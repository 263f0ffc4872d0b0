/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps what is known about whether settings work: how many of their runs were checked, which ones failed after they
 * had worked, and the runs that are checked before a winner is trusted (doc/measurement.md, rule 11). */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "tuner/tune/state.h"

/* A kernel whose verification takes no longer than this, its run included, is verified in every trial of the finals. */
static const double CHEAP_SECONDS = 2e-3;
/* The time for checking a winner where no budget limits it is at least this. */
static const double CHECK_SECONDS_LEAST = 5;
/* Trials of the winner that race and duel usually take, besides its pairs. */
enum { CHECKED_USUALLY = 5 };

void tune_checked_note(struct tune *tune, const json_t *config, const struct trial_result *result) {
	double verify = js_real_or(result->reply, "verify_s", 0);
	uint64_t runs = verify > 0;
	if (tune->task->whole_programs)
		runs = tune->task->checked && !json_object_get(result->reply, "unchecked") ? result->sample_count : 0;
	if (result->status != TRIAL_CORRECT || runs == 0)
		return;
	if (verify > 0 && !(tune->finals.trust.verify_s > 0 && tune->finals.trust.verify_s <= verify))
		tune->finals.trust.verify_s = verify;
	char *key = js_canonical(config);
	json_object_set_new(tune->finals.trust.checked, key,
	                    json_integer((json_int_t)runs + js_int_or(tune->finals.trust.checked, key, 0)));
	free(key);
}

uint64_t tune_checked_runs(const struct tune *tune, const json_t *config) {
	char *key = js_canonical(config);
	uint64_t runs = (uint64_t)js_int_or(tune->finals.trust.checked, key, 0);
	free(key);
	return runs;
}

bool tune_verifies_again(const struct tune *tune) {
	return !tune->task->whole_programs && tune->finals.trust.verify_s > 0 &&
	       tune->finals.trust.verify_s + tune_seconds(tune, tune->memory.best) <= CHEAP_SECONDS;
}

bool tune_has_fallen(const struct tune *tune, const json_t *config) {
	char *key = js_canonical(config);
	bool fallen = json_object_get(tune->finals.trust.fallen, key);
	free(key);
	return fallen;
}

void tune_fall(struct tune *tune, const json_t *config) {
	uint64_t index = UINT64_MAX;
	char *key = js_canonical(config);
	json_object_set_new(tune->finals.trust.fallen, key, json_true());
	free(key);
	if (space_config_read(tune->task->space, config, NULL, &index, NULL))
		return;
	for (size_t i = 0; i < tune->memory.worked_count; i++)
		if (tune->memory.worked[i].index == index)
			tune->memory.worked[i].value = tune->memory.worked[i].promise = INFINITY;
	if (tune->memory.cut_index == index)
		tune->memory.cut_index = UINT64_MAX;
	tune_best_find(tune);
}

static bool is_known(const struct tune *tune, const json_t *config, const char *status) {
	size_t i;
	json_t *failed;
	json_array_foreach(tune->tally.failed, i, failed) {
		if (json_object_get(failed, "phase") && strcmp(js_string_or(failed, "status", ""), status) == 0 &&
		    json_equal(json_object_get(failed, "config"), config))
			return true;
	}
	return false;
}

/* Counts once what a configuration does wrong again and again. A wrong result is never a disturbance, so that one is
 * enough; crashes and hangs are judged by the race and the duel. */
void tune_failure_note(struct tune *tune, const char *phase, const json_t *config, const struct trial_result *result) {
	const char *status = trial_status_word(result->status);
	if (result->status == TRIAL_CORRECT || result->status == TRIAL_CENSORED)
		return;
	if (!is_known(tune, config, status)) {
		tune->tally.failures[result->status]++;
		json_array_append_new(tune->tally.failed, json_pack("{s:s,s:O,s:s,s:s}", "status", status, "config", config,
		                                                    "message", result->message, "phase", phase));
	}
	if (result->status == TRIAL_CORRECTNESS && !json_equal(config, tune->task->baseline))
		tune_fall(tune, config);
}

static bool is_checked(const struct tune *tune, const json_t *config) {
	return tune_checked_runs(tune, config) > 0;
}

double tune_check_seconds(const struct tune *tune) {
	double pairs = 2 * tune_pairs_expected(tune) + CHECKED_USUALLY, most = RACE_SHARE_CHECK * tune_budget_time(tune);
	if (!tune->task->checked || isnan(tune->memory.best) || !tune_is_useful(tune))
		return 0;
	return fmin(most,
	            fmax(0, TUNE_CHECKED_RUNS - pairs) / tune_nodes(tune) * tune_final_seconds(tune, tune->memory.best));
}

int tune_winner_check(struct tune *tune, const json_t *winner, struct err *err) {
	uint64_t runs = tune_checked_runs(tune, winner);
	double value = tune->finals.dueled ? tune->finals.duel.median[0] : tune->memory.best;
	double seconds =
		tune_promised(tune) ? tune_left(tune) : fmax(CHECK_SECONDS_LEAST, RACE_SHARE_CHECK_SPENT * tune_elapsed(tune));
	if (!is_checked(tune, winner) || runs >= TUNE_CHECKED_RUNS || !(tune_final_seconds(tune, value) <= seconds))
		return 0;
	struct trial_request request = tune_request(tune, NULL);
	struct race_observer observer = tune_race_observer(tune);
	struct race_options options = race_defaults;
	struct race_entry entry = {.config = winner, .estimate = value};
	size_t only;
	request.check = true;
	options.phase = "check";
	options.blocks_min = options.blocks_max = (int)(TUNE_CHECKED_RUNS - runs);
	options.blocks = tune->bench.fleet ? &tune->bench.blocks : NULL;
	options.clock = tune_race_clock(tune, seconds);
	options.clock.end = tune_elapsed(tune) + seconds;
	struct runner runner = tune_runner(tune, SPENT_VERIFY);
	tune_spend_nodes(tune, SPENT_VERIFY);
	int rc = race_run(&runner, &request, &entry, 1, &options, &observer, &only, err);
	tune_spend_nodes(tune, SPENT_IDLE);
	if (entry.failed == TRIAL_CORRECT || (rc && err->code != ERR_NOTHING))
		return rc;
	*err = (struct err){0};
	tune_fall(tune, winner);
	return 0;
}

/* A configuration that an interrupted run of this search found wrong stays wrong. */
static int earlier_see(void *ctx, const struct store_trial *trial) {
	static const char *const phases[] = {"probe", "race", "duel", "check"};
	struct tune *tune = ctx;
	struct trial_result result = {.status = TRIAL_CORRECTNESS};
	bool later = false;
	for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
		later = later || strcmp(trial->phase, phases[i]) == 0;
	json_t *config = later && strcmp(trial->status, trial_status_word(result.status)) == 0
	                     ? js_parse(trial->config, strlen(trial->config), "the store", NULL)
	                     : NULL;
	snprintf(result.message, sizeof result.message, "%s", trial->message ? trial->message : "");
	if (config)
		tune_failure_note(tune, trial->phase, config, &result);
	json_decref(config);
	return 0;
}

int tune_earlier_failures(struct tune *tune, struct err *err) {
	return tune->task->resume ? store_trials_each(tune->task->store, tune->memory.id, NULL, earlier_see, tune, err) : 0;
}
