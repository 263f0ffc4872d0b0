/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The serial code of a sweep, which speedups are given over: once for each problem, on the CPU. */
#include <config.h>

#include <math.h>

#include "src/base/json/js.h"
#include "src/cmd/run/references.h"
#include "src/cmd/run/sweep.h"

static bool holds(const json_t *list, const json_t *problem) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)list, i, one) if (json_equal(json_object_get(one, "problem"), problem)) return true;
	return false;
}

static int measure(struct sweep *sweep, struct sweep_device *device, const struct manual *host, const json_t *config,
                   struct err *err) {
	struct trial_result result = {0};
	int failed = references_trial(host, config, INFINITY, &result, err);
	if (!failed && !device->manual.device)
		failed = manual_store_trial(&sweep->kept, "sweep", 0, host->problem, config, &result, err);
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
