/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <string.h>

#include "base/json/js.h"
#include "tuner/worker/impl.h"

static const double DESCRIBE_SECONDS = 20;

static int machine_check(const json_t *answer, struct err *err) {
	static const char *const texts[] = {"node", "host", "topology"};
	const char *text;
	json_t *machine;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (js_string(answer, texts[i], &text, err))
			return -1;
	/* Another version may measure in another way, or not understand what it is asked. */
	const char *version = js_string_or(answer, "version", PACKAGE_VERSION);
	if (strcmp(version, PACKAGE_VERSION) != 0)
		return err_set(err, ERR_UNAVAILABLE, NULL, "its worker is version %.40s, and this is %s", version,
		               PACKAGE_VERSION);
	return js_object(answer, "machine", &machine, err);
}

int worker_machine_ask(struct worker *worker, struct err *err) {
	json_t *request = json_pack("{s:s}", "op", "machine"), *answer = NULL;
	double seconds = worker->options.launch->answer_seconds;
	enum broken broken = worker_ask(worker, request, seconds > 0 ? seconds : -1, &answer);
	struct trial_result result = {0};
	json_decref(request);
	if (broken == BROKEN_NO && machine_check(answer, err) == 0) {
		worker->machine = answer;
		return 0;
	}
	json_decref(answer);
	if (broken == BROKEN_NO) { /* err has the reason */
		worker_stop(worker, 0);
		return -1;
	}
	if (broken == BROKEN_INTERRUPTED)
		worker_stop(worker, 0);
	else
		worker_broken_result(worker, broken, seconds, 0, &result);
	if (broken == BROKEN_INTERRUPTED)
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	return worker_lost(worker) ? worker_lost_error(worker, err) : err_set(err, ERR_FAILED, NULL, "%s", result.message);
}

const json_t *worker_machine(struct worker *worker, struct err *err) {
	return worker_start(worker, NULL, err) ? NULL : worker->machine;
}

/* A plug-in that takes the worker down is bad input; a worker that dies on its own is an error of ours. */
static int describe_error(enum broken broken, const char *library, const char *message, struct err *err) {
	if (broken == BROKEN_INTERRUPTED)
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	if (library)
		return err_set(err, ERR_USAGE, "check the code that runs when it is loaded (constructors)",
		               "the plug-in %s can't be loaded: %s", library, message);
	return err_set(err, ERR_FAILED, "run `sweetspot-worker describe` by hand to see what is wrong",
	               "the worker did not describe its kernels: %s", message);
}

json_t *worker_describe(struct worker *worker, const char *library, bool counters, struct err *err) {
	if (worker_start(worker, library, err))
		return NULL;
	json_t *request = json_pack("{s:s,s:b}", "op", "describe", "counters", counters), *answer = NULL;
	if (library)
		json_object_set_new(request, "library", json_string(library));
	enum broken broken = worker_ask(worker, request, DESCRIBE_SECONDS, &answer);
	json_decref(request);
	json_t *error = broken == BROKEN_NO ? json_object_get(answer, "error") : NULL;
	if (broken == BROKEN_NO && !(library && error))
		return answer;
	struct trial_result result = {0};
	if (error) {
		err_set(err, ERR_USAGE, js_string_or(error, "hint", NULL), "%s", js_string_or(error, "what", "bad plug-in"));
	} else {
		worker_broken_result(worker, broken, DESCRIBE_SECONDS, 0, &result);
		describe_error(broken, library, result.message, err);
	}
	json_decref(answer);
	return NULL;
}
