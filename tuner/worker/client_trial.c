/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/worker/client_trial.h"
#include "tuner/worker/impl.h"

/* The first question makes the worker open every event once, which takes long. */
static const double ANSWER_SECONDS = 120;
enum { ROWS_MAX = 1 << 16 };

/* ctx: the name of the list that the answer has. */
static int list_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	json_t *list;
	result->status = TRIAL_CORRECT;
	return js_array(answer, ctx, ROWS_MAX, &list, err);
}

static void worker_counters_set(json_t *request, const char *const *names);

static json_t *counters_request_json(const struct counters_subject *subject, const char *const *asked) {
	json_t *request = json_pack("{s:s,s:[]}", "op", "counters", "counters");
	worker_counters_set(request, asked);
	if (subject->kernel)
		json_object_set_new(request, "kernel", json_string(subject->kernel));
	else
		json_object_set_new(request, "program", json_boolean(subject->program));
	if (subject->device)
		json_object_set_new(request, "device", json_string(subject->device));
	if (subject->kernel && subject->library)
		json_object_set_new(request, "library", json_string(subject->library));
	return request;
}

static json_t *exchange(struct worker *worker, const struct worker_question *question, struct err *err) {
	struct trial_result result = {0};
	json_t *answer = NULL;
	if (worker_exchange(worker, question, &result, err) == 0) {
		if (result.status == TRIAL_CORRECT)
			answer = json_incref(result.reply);
		else
			err_set(err, ERR_FAILED, "`sweetspot list counters` shows what this machine can count",
			        "the worker did not report what it can count: %.200s", result.message);
	}
	trial_result_clear(&result);
	return answer;
}

json_t *worker_counters(struct worker *worker, const struct counters_subject *subject, const char *const *asked,
                        struct err *err) {
	json_t *request = counters_request_json(subject, asked), *answer = NULL;
	const struct worker_question question = {.request = request,
	                                         .library = subject->library,
	                                         .timeout_s = ANSWER_SECONDS,
	                                         .use = list_use,
	                                         .ctx = (char[]){"events"}};
	answer = exchange(worker, &question, err);
	json_decref(request);
	return answer;
}

json_t *worker_metrics(struct worker *worker, const json_t *which, struct err *err) {
	js_auto json_t *request = json_copy((json_t *)which);
	char list[] = "metrics", plan[] = "pmus";
	json_object_set_new(request, "op", json_string("metrics"));
	const struct worker_question question = {.request = request,
	                                         .timeout_s = ANSWER_SECONDS,
	                                         .use = list_use,
	                                         .ctx = json_object_get(which, "cpu") ? plan : list};
	return exchange(worker, &question, err);
}

json_t *worker_prove(struct worker *worker, struct err *err) {
	js_auto json_t *request = json_pack("{s:s}", "op", "prove");
	const struct worker_question question = {
		.request = request, .timeout_s = ANSWER_SECONDS, .use = list_use, .ctx = (char[]){"rows"}};
	return exchange(worker, &question, err);
}

size_t worker_counters_usable(const json_t *answer, bool *slow) {
	size_t usable = 0;
	*slow = false;
	js_each (event, json_object_get(answer, "events")) {
		usable += json_is_string(json_object_get(event, "source"));
		*slow = *slow || js_bool_or(event, "rerun", false);
	}
	return usable;
}

static const double CLOCK_DROP = 0.8;
static const double MHZ_MAX = 1e5; /* a higher clock is nonsense and would make all others look slow */
enum { SAMPLES_MAX = 100000 };

int worker_samples_read(const json_t *answer, const char *key, struct trial_result *result, struct err *err) {
	json_t *array;
	if (js_array(answer, key, SAMPLES_MAX, &array, err))
		return -1;
	size_t count = json_array_size(array);
	if (count == 0)
		return err_set(err, ERR_FAILED, NULL, "the list of %s is empty", key);
	free(result->samples);
	result->samples = mem_alloc(count, sizeof *result->samples);
	for (size_t i = 0; i < count; i++) {
		double x = json_number_value(json_array_get(array, i));
		if (!(x > 0) || !isfinite(x))
			return err_set(err, ERR_FAILED, NULL, "number %zu of the %s is not positive and finite", i, key);
		result->samples[i] = x;
	}
	result->sample_count = count;
	result->least = stats_min(result->samples, count);
	return 0;
}

/* The hypervisor or other processes took more than 2 % of the timed part. */
static bool noisy(const json_t *answer) {
	const json_t *noise = json_object_get(answer, "noise"), *samples = json_object_get(answer, "samples");
	double timed = 0, batch = js_real_or(answer, "batch", 1);
	double lost = js_real_or(noise, "steal_s", 0) + js_real_or(noise, "run_delay_s", 0);
	js_each (sample, samples)
		timed += json_number_value(sample) * batch;
	return lost > 0.02 * timed;
}

int worker_status_read(const json_t *answer, struct trial_result *result, struct err *err) {
	const char *word;
	if (js_string(answer, "status", &word, err))
		return -1;
	if (!trial_status_find(word, &result->status))
		return err_set(err, ERR_FAILED, NULL, "unknown trial status \"%s\"", word);
	snprintf(result->message, sizeof result->message, "%s", js_string_or(answer, "message", ""));
	return 0;
}

int worker_energies_read(const json_t *answer, enum trial_objective objective, struct trial_result *result,
                         struct err *err) {
	struct trial_result energies = {0};
	int failed = worker_samples_read(answer, "energy_j", &energies, err);
	if (!failed && energies.sample_count != result->sample_count)
		failed = err_set(err, ERR_FAILED, NULL, "the numbers of energies and of samples differ");
	for (size_t i = 0; i < result->sample_count && !failed; i++)
		result->samples[i] = energies.samples[i] * (objective == TRIAL_OBJECTIVE_EDP ? result->samples[i] : 1);
	if (!failed)
		result->least = stats_min(result->samples, result->sample_count);
	trial_result_clear(&energies);
	return failed;
}

/* A trial, and the worker that remembers the clocks of earlier ones. */
struct asked {
	struct worker *worker;
	const struct trial_request *request;
};

/* Flags a trial whose GPU clock fell well below that of the session's other trials, or was held down by heat or by the
 * hardware. The power limit alone is no disturbance, because it comes back with every trial of a configuration that
 * draws this much. */
static void clock_check(struct worker *worker, const json_t *gpu, struct trial_result *result) {
	double mhz = js_real_or(gpu, "sm_mhz", NAN);
	const char *throttle = js_string_or(gpu, "throttle", "");
	if (!(mhz > 0 && mhz < MHZ_MAX))
		mhz = NAN;
	bool slow = mhz < CLOCK_DROP * worker->sm_mhz,
		 hot = strstr(throttle, "heat") || strstr(throttle, "hardware") || strstr(throttle, "brake");
	worker->sm_mhz = mhz > worker->sm_mhz ? mhz : worker->sm_mhz;
	if (!slow && !hot)
		return;
	result->disturbed = true;
	snprintf(result->disturbance, sizeof result->disturbance, "the GPU's clock was %.0f of %.0f MHz%s%.40s", mhz,
	         worker->sm_mhz, *throttle ? ": " : "", throttle);
}

static int answer_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	const struct asked *asked = ctx;
	const struct trial_request *request = asked->request;
	if (worker_status_read(answer, result, err))
		return -1;
	result->disturbed = (result->status == TRIAL_CENSORED || result->status == TRIAL_CORRECT) && noisy(answer);
	if (result->status == TRIAL_CORRECT && json_is_object(json_object_get(answer, "gpu")))
		clock_check(asked->worker, json_object_get(answer, "gpu"), result);
	if (result->status == TRIAL_CENSORED) {
		result->value = request->limit_s;
		if (json_array_size(json_object_get(answer, "samples")) && worker_samples_read(answer, "samples", result, err))
			return -1;
	} else if (result->status == TRIAL_CORRECT) {
		if (worker_samples_read(answer, "samples", result, err) ||
		    (request->objective && worker_energies_read(answer, request->objective, result, err)))
			return -1;
		result->value = stats_median(result->samples, result->sample_count);
		const json_t *placement = json_object_get(answer, "placement");
		if (placement && !js_bool_or(placement, "ok", true)) {
			result->status = TRIAL_RUNTIME;
			result->value = NAN;
			snprintf(result->message, sizeof result->message,
			         "threads ran outside of the places that they were bound to");
		}
	}
	return 0;
}

/* Sets "counters" if there are any. */
static void worker_counters_set(json_t *request, const char *const *names) {
	json_t *array = names && names[0] ? json_array() : NULL;
	for (; array && *names; names++)
		json_array_append_new(array, json_string(*names));
	if (array)
		json_object_set_new(request, "counters", array);
}

static json_t *request_json(const struct trial_request *request) {
	json_t *json = json_pack("{s:s,s:s,s:O,s:O,s:I,s:i,s:i,s:f,s:f,s:f,s:f,s:b}", "op", "trial", "kernel",
	                         request->kernel, "problem", request->problem, "config", request->config, "seed",
	                         (json_int_t)(request->seed & INT64_MAX), "samples", request->samples, "warmup",
	                         request->warmup, "min_sample_s", request->min_sample_s, "limit_s", request->limit_s,
	                         "settles_s", request->settles_s, "cut_s", request->cut_s, "verify", !request->trusted);
	worker_counters_set(json, request->counters);
	if (request->check)
		json_object_set_new(json, "verify", json_string("always"));
	if (request->series)
		json_object_set_new(json, "series", json_true());
	if (request->device)
		json_object_set_new(json, "device", json_string(request->device));
	if (request->flush_l2)
		json_object_set_new(json, "flush_l2", json_true());
	if (request->objective || request->energy)
		json_object_set_new(
			json, "objective",
			json_string(trial_objective_word(request->objective ? request->objective : TRIAL_OBJECTIVE_ENERGY)));
	if (request->library)
		json_object_set_new(json, "library", json_string(request->library));
	return json;
}

static int worker_trial(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	js_auto json_t *json = request_json(request);
	struct asked asked = {ctx, request};
	const struct worker_question question = {.request = json,
	                                         .library = request->library,
	                                         .timeout_s = request->timeout_s,
	                                         .use = answer_use,
	                                         .ctx = &asked};
	return worker_exchange(ctx, &question, result, err);
}

struct runner worker_runner(struct worker *worker) {
	return (struct runner){.ctx = worker, .run = worker_trial};
}
