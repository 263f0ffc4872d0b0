/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures a configuration in the search: repeats disturbed trials, confirms a new best, and measures the best again
 * from time to time, so that the value to beat is not one lucky trial (doc/measurement.md, rule 3). */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/json/js.h"
#include "tuner/race/deviation.h"
#include "tuner/store/trial_store.h"
#include "tuner/tune/state.h"

/* Repeated measurements of the best take at most this share of the time. */
static const double PROBE_SHARE = 0.25;
/* As long as the best stays within the noise, or this, the share is halved with each probe. */
static const double DRIFT_LEAST = 0.005;
enum { CALM_MAX = 3 };
enum { TIMES_MAX = 5 /* a mean over more values would lag behind a machine that changes */ };

/* The deviation of the value once `one` is merged into `sum`. */
static double deviation_merged(double before, const struct trial_result *sum, const struct trial_result *one,
                               enum merge merge) {
	double fresh = one->status == TRIAL_CORRECT ? deviation_of_median(one->samples, one->sample_count) : 0;
	if (merge == MERGE_FIRST || sum->status != TRIAL_CORRECT)
		return fresh;
	if (one->status != TRIAL_CORRECT)
		return before;
	if (merge == MERGE_MEAN)
		return deviation_of_mean(sum->value, before, one->value, fresh);
	return one->value < sum->value ? fresh : before;
}

/* Merges `one` into sum. Returns false if `one` is a failure after a success, which changes nothing, unless its result
 * was wrong: no disturbance explains that. */
static bool merge_into(struct trial_result *sum, struct trial_result *one, enum merge merge) {
	bool worked_before = merge != MERGE_FIRST && sum->status == TRIAL_CORRECT;
	struct trial_result old = *sum;
	if (worked_before && one->status != TRIAL_CORRECT && one->status != TRIAL_CORRECTNESS)
		return false;
	if (merge != MERGE_FIRST && one->status != TRIAL_CORRECTNESS)
		one->least = fmin(old.least, one->least);
	if (worked_before && one->status == TRIAL_CORRECT)
		one->value = merge == MERGE_MEAN ? sqrt(old.value * one->value) : fmin(old.value, one->value);
	*sum = *one;
	memset(one, 0, sizeof *one);
	if (merge != MERGE_FIRST)
		trial_result_clear(&old);
	return true;
}

bool tune_merge(double *deviation, struct trial_result *sum, struct trial_result *one, enum merge merge) {
	*deviation = deviation_merged(*deviation, sum, one, merge);
	return merge_into(sum, one, merge);
}

/* Seconds, as tune_trial wrote them. */
static double recalled_build(const struct trial_result *result) {
	double seconds = js_real_or(result->reply, "build_s", 0);
	return seconds > 0 && isfinite(seconds) ? seconds : 0;
}

int tune_attempt(struct tune *tune, const char *phase, const struct trial_request *request, enum merge merge,
                 struct trial_result *sum, struct err *err) {
	struct trial_result one = {0};
	struct trial_request limited = *request;
	bool recalled = recall_take(tune->memory.recall, phase, request->config, &one);
	double begun = tune_now(tune);
	tune_limit(tune, &limited);
	if (!recalled && tune_trial(tune, SPENT_MEASURE, &limited, &one, err)) {
		trial_result_clear(&one);
		return -1;
	}
	bool cut = !recalled && tune_was_cut(&limited, &one);
	tune->money.cut = cut && merge == MERGE_FIRST;
	if (cut) {
		snprintf(tune->money.cut_message, sizeof tune->money.cut_message, "%s", one.message);
		trial_result_clear(&one);
		return 0;
	}
	tune_noise_note(tune, &one);
	if (!recalled)
		tune_beside_note(tune, &one, tune->bench.times.trial);
	if (!recalled && tune->tally.evaluations > 0 && one.status != TRIAL_TIMEOUT)
		tune->bench.times.longest = fmax(tune->bench.times.longest, tune_now(tune) - begun);
	tune->memory.is_new = tune->memory.is_new || !recalled;
	tune_pareto_record(tune, request->config, &one);
	tune_checked_note(tune, request->config, &one);
	tune->bench.current.seconds += recalled ? one.elapsed_s : tune->bench.times.trial;
	if (recalled)
		tune->bench.current.build_seconds += recalled_build(&one);
	const struct trial_result *kept = tune_merge(&tune->bench.current.deviation, sum, &one, merge) ? sum : &one;
	int failed = recalled ? 0 : trial_store(tune->task->store, tune->memory.id, phase, 0, request->config, kept, err);
	trial_result_clear(&one);
	return failed;
}

static bool is_due(const struct tune *tune) {
	if (tune->memory.best_index == UINT64_MAX || isnan(tune->memory.best))
		return false;
	double expected =
		tune->memory.probe.seconds > 0 ? tune->memory.probe.seconds : 8 * tune_seconds(tune, tune->memory.best);
	return tune_now(tune) - tune->memory.probe.at >= expected / PROBE_SHARE * (1 << tune->memory.probe.steady);
}

void tune_best_find(struct tune *tune) {
	tune->memory.best = NAN;
	tune->memory.best_index = UINT64_MAX;
	for (size_t i = 0; i < tune->memory.worked_count; i++) {
		if (tune->memory.best <= tune->memory.worked[i].value || !isfinite(tune->memory.worked[i].value))
			continue;
		tune->memory.best = tune->memory.worked[i].value;
		tune->memory.best_index = tune->memory.worked[i].index;
	}
}

/* The value to beat is the geometric mean of all measurements of the best, because a single lucky one would be a
 * threshold that nothing could reach. */
static void best_update(struct tune *tune, double value) {
	for (size_t i = 0; i < tune->memory.worked_count; i++) {
		struct measured *measured = &tune->memory.worked[i];
		if (measured->index != tune->memory.best_index)
			continue;
		double times = measured->times < TIMES_MAX ? ++measured->times : TIMES_MAX;
		measured->value *= pow(value / measured->value, 1 / times);
		break;
	}
	tune_best_find(tune);
}

static void probe_use(struct tune *tune, const struct trial_result *result, double cost) {
	if (result->status == TRIAL_CORRECT && !result->disturbed) {
		double noise = tune_noise(tune), same = fmax(DRIFT_LEAST, isnan(noise) ? 0 : 3 * noise);
		bool drifts = !(fabs(log(result->value / tune->memory.best)) <= same);
		tune->memory.probe.steady = drifts                                 ? 0
		                            : tune->memory.probe.steady < CALM_MAX ? tune->memory.probe.steady + 1
		                                                                   : CALM_MAX;
		best_update(tune, result->value);
	}
	tune->memory.probe.at = tune_now(tune);
	tune->memory.probe.seconds = cost;
}

/* Replays the probes that an interrupted run made at this point instead of measuring. */
static void probes_recall(struct tune *tune, const json_t *next) {
	struct trial_result result;
	while (tune->memory.best_index != UINT64_MAX && recall_probe(tune->memory.recall, next, &result)) {
		probe_use(tune, &result, result.elapsed_s);
		trial_result_clear(&result);
	}
}

int tune_probe_best(struct tune *tune, uint64_t next, struct err *err) {
	json_t *coming = space_config_json(tune->task->space, next);
	bool known = recall_has(tune->memory.recall, coming);
	probes_recall(tune, known ? coming : NULL);
	json_decref(coming);
	if (known || !is_due(tune) ||
	    tune_left(tune) < tune_proof_seconds(tune) + 8 * tune_seconds(tune, tune->memory.best))
		return 0;
	json_t *config = space_config_json(tune->task->space, tune->memory.best_index);
	struct trial_request request = tune_request(tune, config);
	struct trial_result result = {0};
	double begun = tune_now(tune);
	int failed = tune_trial(tune, SPENT_PROBE, &request, &result, err);
	if (!failed) {
		tune_pareto_record(tune, config, &result);
		tune_checked_note(tune, config, &result);
		probe_use(tune, &result, tune_now(tune) - begun);
		if (result.status == TRIAL_CORRECTNESS)
			tune_failure_note(tune, "probe", config, &result);
	}
	if (!failed)
		failed = trial_store(tune->task->store, tune->memory.id, "probe", 0, config, &result, err);
	trial_result_clear(&result);
	json_decref(config);
	return failed;
}
