/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "src/cmd/tune/tune_impl.h"

void tune_counters_annotate(struct app *app, json_t *result) {
	json_t *counting = json_object_get(result, "counting");
	const char *why, *fix;
	if (!counting)
		return;
	const json_t *sources = counters_sources(app);
	bool hardware = app_device(app) ? js_bool_or(js_named(sources, "cupti"), "usable", false)
	                                : counters_hardware(sources, &why, &fix);
	json_object_set_new(counting, "hardware", json_boolean(hardware));
}
