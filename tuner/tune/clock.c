/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accounts for the seconds of a run. It does one thing at a time, and a trial reports its times of building and
 * verification. */
#include <config.h>

#include <math.h>

#include "base/json/js.h"
#include "tuner/tune/state.h"

static const char *const words[SPENT_COUNT] = {
	[SPENT_IDLE] = "idle",     [SPENT_BUILD] = "build",       [SPENT_MEASURE] = "measure",
	[SPENT_VERIFY] = "verify", [SPENT_PROBE] = "probe",       [SPENT_RACE] = "race",
	[SPENT_DUEL] = "duel",     [SPENT_COUNTERS] = "counters", [SPENT_SEARCH] = "search",
};

enum tune_spending tune_spend(struct tune *tune, enum tune_spending on) {
	enum tune_spending before = tune->spending;
	double now = tune_now(tune);
	tune->spent[before] += now - tune->spent_at;
	tune->spent_at = now;
	tune->spending = on;
	return before;
}

void tune_spend_nodes(struct tune *tune, enum tune_spending on) {
	if (tune->fleet)
		tune_spend(tune, on);
}

static void move(struct tune *tune, enum tune_spending from, enum tune_spending to, double seconds) {
	tune->spent[from] -= seconds;
	tune->spent[to] += seconds;
}

static double built_seconds(const struct tune *tune) {
	return tune->task->builder ? builder_figures(tune->task->builder).waited_s : 0;
}

/* Seconds of the builds that are used for the first time, whenever they were made. */
static double used_seconds(const struct tune *tune) {
	return tune->task->builder ? builder_figures(tune->task->builder).used_s : 0;
}

static double part(const json_t *reply, const char *key, double most) {
	double seconds = js_real_or(reply, key, 0);
	return seconds > 0 ? fmin(seconds, most) : 0;
}

/* A program whose worker was lost is run once more by a new one, because somebody else may have killed it. */
static int trial_run(struct tune *tune, const struct trial_request *request, struct trial_result *result,
                     struct err *err) {
	const struct runner *runner = tune->task->runner;
	double begun = tune_now(tune);
	int failed = runner->run(runner->ctx, request, result, err);
	struct trial_request again = *request;
	if (request->left_s > 0)
		again.left_s = request->left_s - (tune_now(tune) - begun);
	if (failed || !result->lost || !tune->task->whole_programs || tune_interrupted(tune) ||
	    (request->left_s > 0 && !(again.left_s > 0)))
		return failed;
	trial_result_clear(result);
	return runner->run(runner->ctx, &again, result, err);
}

/* A trial counts as what it is made for, less the time for its build and its verification. The reply keeps the time of
 * the build for a resumed search, which does not build it again. */
int tune_trial(struct tune *tune, enum tune_spending on, const struct trial_request *request,
               struct trial_result *result, struct err *err) {
	double built = built_seconds(tune), used = used_seconds(tune), begun = tune_now(tune);
	enum tune_spending before = tune_spend(tune, on);
	int failed = trial_run(tune, request, result, err);
	tune_spend(tune, before);
	double all = tune_now(tune) - begun, build = fmin(built_seconds(tune) - built, all);
	build += part(json_object_get(result->reply, "gpu"), "compile_s", all - build);
	double own_build = tune->task->builder ? used_seconds(tune) - used : build;
	tune->build_seconds += own_build;
	if (own_build > 0 && json_is_object(result->reply))
		json_object_set_new(result->reply, "build_s", json_real(own_build));
	double verify = part(result->reply, "verify_s", all - build);
	move(tune, on, SPENT_BUILD, build);
	move(tune, on, SPENT_VERIFY, verify);
	if (result->status == TRIAL_CORRECT || tune->task->whole_programs)
		tune->restart_seconds = 0;
	else if (result->status == TRIAL_TIMEOUT || result->status == TRIAL_RUNTIME)
		tune->restart_seconds = tune->baseline.elapsed_s; /* it opens its device and computes its reference again */
	/* The runner and the store use the same time, so that a resumed search learns the same. */
	tune->trial_seconds = fmax(0, (result->elapsed_s > 0 ? result->elapsed_s : all) - build);
	return failed;
}

static int race_trial(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct tune *tune = ctx;
	return tune_trial(tune, tune->finals, request, result, err);
}

struct runner tune_runner(struct tune *tune, enum tune_spending on) {
	tune->finals = on;
	return (struct runner){.ctx = tune, .run = race_trial};
}

/* The time of an interrupted run is only known as a whole. */
json_t *tune_seconds_json(const struct tune *tune) {
	json_t *seconds = json_object();
	double rest = tune_elapsed(tune) - tune->spent_before;
	for (int i = 1; i < SPENT_COUNT; i++) {
		json_object_set_new(seconds, words[i], json_real(tune->spent[i]));
		rest -= tune->spent[i];
	}
	json_object_set_new(seconds, words[SPENT_IDLE], json_real(fmax(rest, 0)));
	if (tune->spent_before > 0)
		json_object_set_new(seconds, "earlier", json_real(tune->spent_before));
	return seconds;
}

json_t *tune_building_json(const struct tune *tune) {
	if (!tune->task->builder)
		return NULL;
	const struct build_figures figures = builder_figures(tune->task->builder);
	return json_pack("{s:i,s:s,s:i,s:I,s:I,s:I,s:o,s:f,s:o}", "jobs", (int)figures.jobs, "when",
	                 figures.jobs == 1 ? "one by one"
	                 : figures.beside  ? "beside measurements"
	                                   : "between measurements",
	                 "ahead", (int)tune->ahead.depth, "reused", (json_int_t)figures.found, "stopped",
	                 (json_int_t)figures.stopped, "given_up", (json_int_t)figures.given_up, "patience_s",
	                 js_number(figures.patience_s), "seconds", figures.spent_s, "unfit_s",
	                 js_number(tune->ahead.unfit_s > 0 ? tune->ahead.unfit_s : NAN));
}
