/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/run/references.h"

#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "src/show/results.h"

enum { SAMPLES = 5 };
/* Limits of a trial: a serial run may take this many times longer than the configuration under test before we stop
 * waiting. */
static const double TIMEOUT_MIN_S = 20, TIMEOUT_MAX_S = 120, TIMEOUT_RUNS = 500;

int references_trial(const struct manual *manual, const json_t *config, double median, struct trial_result *result,
                     struct err *err) {
	struct trial_request request = manual_request(manual, config);
	request.samples = manual->samples < SAMPLES ? manual->samples : SAMPLES;
	request.timeout_s = fmin(manual->timeout_s, fmin(TIMEOUT_MAX_S, fmax(TIMEOUT_MIN_S, TIMEOUT_RUNS * median)));
	return manual->runner.run(manual->runner.ctx, &request, result, err);
}

static json_t *reference_json(const json_t *config, const struct trial_result *result, double median) {
	bool right = result->status == TRIAL_CORRECT;
	return json_pack("{s:O,s:s,s:o,s:o}", "config", config, "status", trial_status_word(result->status), "median",
	                 js_number(right ? result->value : NAN), "speedup",
	                 js_number(right ? result->value / median : NAN));
}

/* Returns NULL with err on failure. A reference that equals the configuration under test is not measured again. */
static json_t *against(struct manual *manual, const json_t *config, const json_t *reference, double median,
                       struct err *err) {
	struct trial_result result = {.status = TRIAL_CORRECT, .value = median};
	json_t *json = NULL;
	if (json_equal(config, reference) || references_trial(manual, reference, median, &result, err) == 0)
		json = reference_json(reference, &result, median);
	trial_result_clear(&result);
	return json;
}

static json_t *one_thread_config(struct manual *manual, struct err *err) {
	json_t *over = json_pack("{s:i}", "threads", 1);
	json_t *config = manual_config(manual, over, err);
	json_decref(over);
	return config;
}

json_t *references_serial_config(struct manual *manual, struct err *err) {
	json_t *words = json_pack("{s:i}", "threads", 1), *config = NULL;
	if (!manual->kernel->serial || params_words(&manual->params, manual->kernel->serial, NULL, words, err) == 0)
		config = params_complete(&manual->params, manual->problem, words, err);
	json_decref(words);
	return config;
}

/* Takes ownership of `reference`. */
static int add(json_t *references, const char *name, struct manual *manual, const json_t *config, json_t *reference,
               double median, struct err *err) {
	json_t *json = reference ? against(manual, config, reference, median, err) : NULL;
	json_decref(reference);
	if (json)
		json_object_set_new(references, name, json);
	return json ? 0 : -1;
}

/* A kernel of a GPU is compared with the serial code of the CPU's kernel. */
static json_t *host_measure(json_t *references, struct manual *manual, const json_t *config, double median,
                            struct err *err) {
	struct manual host;
	if (!manual->device || !manual_host(&host, manual, manual->problem))
		return references;
	int failed = host.kernel->serial &&
	             add(references, "serial", &host, config, references_serial_config(&host, err), median, err);
	manual_close(&host);
	if (!failed)
		return references;
	json_decref(references);
	return NULL;
}

json_t *references_measure(struct manual *manual, const json_t *config, double median, struct err *err) {
	json_t *references = json_object();
	bool has_serial = manual->kernel->serial || !manual->kernel->team_given;
	if (!manual->kernel->openmp)
		return host_measure(references, manual, config, median, err);
	if (add(references, "one_thread", manual, config, one_thread_config(manual, err), median, err) ||
	    (has_serial && add(references, "serial", manual, config, references_serial_config(manual, err), median, err))) {
		json_decref(references);
		return NULL;
	}
	json_t *one = json_object_get(references, "one_thread");
	double threads = (double)js_int_or(config, "threads", 1);
	json_object_set_new(one, "efficiency", js_number(js_real_or(one, "speedup", NAN) / threads));
	return references;
}

static void line_print(const json_t *reference, const char *what, FILE *out) {
	double speedup = js_real_or(reference, "speedup", NAN), efficiency = js_real_or(reference, "efficiency", NAN);
	char time[32];
	if (!reference)
		return;
	ui_seconds(js_real_or(reference, "median", NAN), time, sizeof time);
	if (!isfinite(speedup)) {
		fprintf(out, "speedup over %s: unknown (%s)\n", what, js_string_or(reference, "status", "?"));
		return;
	}
	fprintf(out, speedup < 0.1 ? "speedup over %s: %.2gx (%s)" : "speedup over %s: %.2fx (%s)", what, speedup, time);
	if (isfinite(efficiency))
		fprintf(out, ", efficiency %.*f %%", efficiency < 0.1 ? 2 : 0, 100 * efficiency);
	fputc('\n', out);
}

void references_print(const json_t *references, FILE *out) {
	line_print(json_object_get(references, "one_thread"), "one thread", out);
	line_print(json_object_get(references, "serial"), "serial code", out);
}
