/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/figures.h"

#include "base/json/js.h"

/* A plug-in's text may be anything, so it is cleaned. */
static const char *plain(const char *text) {
	json_t *json = text ? json_string(text) : NULL;
	json_decref(json);
	return json ? text : "?";
}

json_t *figures_json(const struct state *state, double seconds) {
	struct ss_figure figures[SS_FIGURES_MAX] = {{.name = NULL}};
	if (!state->kernel->figures) {
		return NULL;
	}
	size_t count = state->kernel->figures(state->memory, &state->call, seconds, figures, SS_FIGURES_MAX);
	json_t *json = json_array();
	for (size_t i = 0; i < count && i < SS_FIGURES_MAX; i++) {
		json_array_append_new(json, json_pack("{s:s, s:o, s:s}", "name", plain(figures[i].name), "value",
		                                      js_number(figures[i].value), "unit", plain(figures[i].unit)));
	}
	return json;
}

json_t *series_json(const struct state *state) {
	struct ss_series series[SS_SERIES_MAX] = {{.name = NULL}};
	if (!state->kernel->series) {
		return NULL;
	}
	size_t count = state->kernel->series(state->memory, &state->call, series, SS_SERIES_MAX);
	json_t *json = json_array();
	for (size_t i = 0; i < count && i < SS_SERIES_MAX; i++) {
		json_t *values = json_array();
		for (size_t v = 0; series[i].values && v < series[i].count && v < FIGURES_STEPS; v++) {
			json_array_append_new(values, js_number(series[i].values[v]));
		}
		json_array_append_new(json, json_pack("{s:s, s:o}", "name", plain(series[i].name), "values", values));
	}
	return json;
}
