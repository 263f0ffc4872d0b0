/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics: figures of a configuration that follow from its time, such as GFLOP/s. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/json/js.h"
#include "tuner/spec/cuda/impl.h"

enum { METRICS_MAX = 32 };
static const double MILLISECONDS = 1e3;

static int evaluate(const struct cuda_kernel *kernel, const json_t *config, double seconds, const json_t *formula,
                    const char *name, double *value, struct err *err) {
	struct cuda_names names = cuda_names_of(kernel, config);
	cuda_names_set(&names, "time", value_real(MILLISECONDS * seconds));
	int failed = cuda_evaluate(&names, formula, name, value, err);
	free(names.at);
	return failed;
}

int cuda_metrics_check(const struct cuda_kernel *kernel, const json_t *baseline, struct err *err) {
	json_t *all, *formula;
	const char *name;
	double value;
	if (!json_object_get(kernel->json, "Metrics"))
		return 0;
	if (js_object(kernel->json, "Metrics", &all, err))
		return -1;
	if (json_object_size(all) > METRICS_MAX)
		return err_set(err, ERR_USAGE, NULL, "Metrics has more than %d members", METRICS_MAX);
	json_object_foreach(all, name, formula) {
		if (!*name || !json_is_string(formula))
			return err_set(err, ERR_USAGE, "\"Metrics\": {\"GFLOP/s\": \"2 * n**3 / time / 1e6\"}",
			               "Metrics: \"%.60s\" needs a name and an expression", name);
		if (evaluate(kernel, baseline, 1, formula, name, &value, err))
			return err_prefix(err, "Metrics");
	}
	return 0;
}

static json_t *metric_json(const struct cuda_kernel *kernel, const json_t *config, double seconds, const char *name,
                           const json_t *formula) {
	struct err why = {0};
	double value = NAN;
	bool known = seconds > 0 && evaluate(kernel, config, seconds, formula, name, &value, &why) == 0;
	const char *reason = known ? NULL : *why.what ? why.what : "its time is not known";
	return json_pack("{s:n,s:s,s:o,s:n,s:O,s:s?}", "group", "name", name, "value", js_number(known ? value : NAN),
	                 "unit", "formula", formula, "reason", reason);
}

void cuda_metrics_add(const struct cuda_kernel *kernel, json_t *setup) {
	json_t *all = json_object_get(kernel->json, "Metrics"), *config = json_object_get(setup, "config"), *formula;
	json_t *before = json_object_get(setup, "metrics"),
		   *metrics = json_is_array(before) ? json_copy(before) : json_array();
	const char *name;
	json_object_foreach(all, name, formula)
		json_array_append_new(metrics, metric_json(kernel, config, js_real_or(setup, "median", NAN), name, formula));
	if (config && json_object_size(all))
		json_object_set(setup, "metrics", metrics);
	json_decref(metrics);
}
