/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The serial code of a sweep, which speedups are given over: once for each problem, on the CPU. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "src/cmd/run/references.h"
#include "src/cmd/run/sweep.h"

static bool holds(const json_t *list, const json_t *problem) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)list, i, one) if (json_equal(json_object_get(one, "problem"), problem)) return true;
	return false;
}

/* The results of a GPU are those of another machine, so the CPU's have a session of their own. */
static int store_apart(struct sweep *sweep, struct manual *host, const json_t *config,
                       const struct trial_result *result, struct err *err) {
	struct manual_store kept = {.strategy = "sweep", .total = 1};
	char *device = mem_strdup(app_device(sweep->app));
	int failed = app_device_change(sweep->app, "cpu", err) || manual_store_begin(&kept, host, sweep->args, err) ||
	             manual_store_trial(&kept, "sweep", 0, host->problem, config, result, err);
	failed = manual_store_end(&kept, failed, err) || failed;
	failed = app_device_change(sweep->app, device, err) || failed;
	free(device);
	return failed ? -1 : 0;
}

static int measure(struct sweep *sweep, struct sweep_device *device, struct manual *host, const json_t *config,
                   struct err *err) {
	struct trial_result result = {0};
	int failed = references_trial(host, config, INFINITY, &result, err);
	if (!failed)
		failed = device->manual.device
		             ? store_apart(sweep, host, config, &result, err)
		             : manual_store_trial(&sweep->kept, "sweep", 0, host->problem, config, &result, err);
	if (!failed)
		json_array_append_new(sweep->serials, sweep_row_json(host, host->problem, config, &result));
	trial_result_clear(&result);
	return failed ? -1 : 0;
}

int sweep_serial(struct sweep *sweep, struct sweep_device *device, const json_t *problem, struct err *err) {
	struct manual host;
	if (sweep->alone || !manual_host(&host, &device->manual, problem))
		return 0;
	int failed = 0;
	if (host.kernel->serial && !holds(sweep->serials, host.problem)) {
		json_t *config = references_serial_config(&host, err);
		failed = config ? measure(sweep, device, &host, config, err) : -1;
		json_decref(config);
	}
	manual_close(&host);
	return failed;
}
