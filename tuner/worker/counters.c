/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/worker/counters.h"

#include "base/json/js.h"
#include "tuner/worker/impl.h"

/* The first question makes the worker open every event once, which takes long. */
static const double ANSWER_SECONDS = 120;
enum { EVENTS_MAX = 4096, METRICS_MAX = 1 << 16 };

static int answer_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	json_t *events;
	(void)ctx;
	result->status = TRIAL_CORRECT;
	return js_array(answer, "events", EVENTS_MAX, &events, err);
}

static json_t *request_json(const struct counters_subject *subject, const char *const *asked) {
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
	json_t *request = request_json(subject, asked), *answer = NULL;
	const struct worker_question question = {
		.request = request, .library = subject->library, .timeout_s = ANSWER_SECONDS, .use = answer_use};
	answer = exchange(worker, &question, err);
	json_decref(request);
	return answer;
}

static int metrics_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	json_t *metrics;
	(void)ctx;
	result->status = TRIAL_CORRECT;
	return js_array(answer, "metrics", METRICS_MAX, &metrics, err);
}

json_t *worker_metrics(struct worker *worker, const char *chip, const char *prefix, struct err *err) {
	json_t *request = json_pack("{s:s,s:s}", "op", "metrics", "prefix", prefix);
	if (chip)
		json_object_set_new(request, "chip", json_string(chip));
	const struct worker_question question = {.request = request, .timeout_s = ANSWER_SECONDS, .use = metrics_use};
	json_t *answer = exchange(worker, &question, err);
	json_decref(request);
	return answer;
}

size_t worker_counters_usable(const json_t *answer, bool *slow) {
	size_t usable = 0, i;
	json_t *event;
	*slow = false;
	json_array_foreach(json_object_get(answer, "events"), i, event) {
		usable += json_is_string(json_object_get(event, "source"));
		*slow = *slow || js_bool_or(event, "rerun", false);
	}
	return usable;
}
