/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/explain/roofline.h"

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/machine/ceilings.h"
#include "src/show/counters.h"

/* Other groups have metrics of the same name for the traffic between cache levels. */
static bool is_memory_volume(const json_t *metric) {
	const char *group = js_string_or(metric, "group", "");
	bool cpu = strcmp(group, "MEM") == 0 || strcmp(group, "SIMULATED") == 0;
	return (cpu || strcmp(group, "GPU") == 0) &&
	       strcmp(js_string_or(metric, "name", ""), cpu ? "read_volume" : "dram_volume") == 0 &&
	       strcmp(js_string_or(metric, "unit", ""), "B") == 0;
}

/* Adds the bytes moved between caches and memory, if a counter group measured them. */
static void measured_add(json_t *roofline, const json_t *metrics) {
	double bytes = NAN;
	json_t *by = NULL;
	js_each (metric, metrics) {
		bytes = is_memory_volume(metric) ? js_real_or(metric, "value", NAN) : NAN;
		if (isfinite(bytes)) {
			by = json_sprintf("%s: %s", js_string_or(metric, "group", "?"), js_string_or(metric, "name", "?"));
			break;
		}
	}
	json_object_set_new(roofline, "measured_bytes", js_number(bytes));
	json_object_set_new(roofline, "measured_by", by ? by : json_null());
}

/* The largest team, up to `threads`, for which ceilings were measured. */
static int team_of(const json_t *ceilings, int threads) {
	int most = 0;
	js_each (one, ceilings) {
		int team = (int)js_int_or(one, "threads", 0);
		most = team <= threads && team > most ? team : most;
	}
	return most;
}

static bool is_roof(const json_t *ceiling) {
	const char *name = js_string_or(ceiling, "name", "");
	const struct ceiling_gpu *gpu =
		json_object_get(ceiling, "device") ? ceiling_gpu_find(name, js_string_or(ceiling, "level", NULL)) : NULL;
	const struct ceiling_kind *kind = gpu ? &gpu->kind : ceiling_kind_find(name);
	return kind && (kind->group == CEILING_BANDWIDTH || kind->group == CEILING_PEAK);
}

/* {"threads" or "device", "roofs":[{"name","level"?,"value","unit"}]}, new reference; null if no ceilings were measured
 * on this machine. */
static json_t *ceilings_json(struct app *app, int threads) {
	json_t *ceilings = ceilings_load(app, NULL), *roofs = json_array(), *one;
	int team = team_of(ceilings, threads);
	size_t i;
	json_array_foreach(ceilings, i, one) {
		if ((!app_device(app) && js_int_or(one, "threads", 0) != team) || !is_roof(one))
			continue;
		json_t *roof = json_pack("{s:O,s:O,s:O}", "name", json_object_get(one, "name"), "value",
		                         json_object_get(one, "value"), "unit", json_object_get(one, "unit"));
		if (json_object_get(one, "level"))
			json_object_set(roof, "level", json_object_get(one, "level"));
		json_array_append_new(roofs, roof);
	}
	json_decref(ceilings);
	if (json_array_size(roofs))
		return app_device(app) ? json_pack("{s:s,s:o}", "device", app_device(app), "roofs", roofs)
		                       : json_pack("{s:i,s:o}", "threads", team, "roofs", roofs);
	json_decref(roofs);
	return json_null();
}

json_t *roofline_json(struct app *app, const json_t *document, double seconds) {
	const json_t *work = json_object_get(document, "work"), *config = json_object_get(document, "config");
	double ops = js_real_or(work, "ops", NAN), bytes = js_real_or(work, "bytes", NAN);
	if (!(ops > 0) || !(seconds > 0))
		return NULL;
	bytes = bytes > 0 ? bytes : NAN;
	json_t *roofline =
		json_pack("{s:o,s:s,s:o,s:o,s:o,s:o,s:o}", "ops", js_number(ops), "op", js_string_or(work, "op", "operation"),
	              "bytes", js_number(bytes), "seconds", js_number(seconds), "ops_per_s", js_number(ops / seconds),
	              "bytes_per_s", js_number(bytes / seconds), "intensity", js_number(ops / bytes));
	measured_add(roofline, json_object_get(document, "metrics"));
	json_object_set_new(roofline, "ceilings", ceilings_json(app, (int)js_int_or(config, "threads", 1)));
	return roofline;
}

static void roof_print(const json_t *ceilings, FILE *out) {
	char value[48];
	js_each (roof, json_object_get(ceilings, "roofs")) {
		if (strcmp(js_string_or(roof, "level", ""), "dram") != 0 || strcmp(js_string_or(roof, "name", ""), "read") != 0)
			continue;
		counters_value(js_real_or(roof, "value", NAN), js_string_or(roof, "unit", ""), value, sizeof value);
		if (json_object_get(ceilings, "device"))
			fprintf(out, "memory read bandwidth of this GPU (measured ceiling): %s\n", value);
		else
			fprintf(out, "memory read bandwidth of %d thread%s (measured ceiling): %s\n",
			        (int)js_int_or(ceilings, "threads", 1), js_int_or(ceilings, "threads", 1) == 1 ? "" : "s", value);
	}
}

void roofline_print(const json_t *roofline, FILE *out) {
	double bytes = js_real_or(roofline, "bytes", NAN), measured = js_real_or(roofline, "measured_bytes", NAN);
	double seconds = js_real_or(roofline, "seconds", NAN);
	const char *op = js_string_or(roofline, "op", "operation");
	char rate[48];
	if (!json_is_object(roofline) || !(seconds > 0))
		return;
	fprintf(out, "%.4g %ss/s", js_real_or(roofline, "ops_per_s", NAN), op);
	counters_value(bytes / seconds, "B/s", rate, sizeof rate);
	if (bytes > 0)
		fprintf(out, ", at least %s of memory traffic (%.3g %ss per byte)", rate,
		        js_real_or(roofline, "intensity", NAN), op);
	counters_value(measured / seconds, "B/s", rate, sizeof rate);
	bool simulated = strncmp(js_string_or(roofline, "measured_by", ""), "SIMULATED", 9) == 0;
	if (measured >= 0)
		fprintf(out, ", %s %s", rate, simulated ? "simulated" : "counted");
	fputc('\n', out);
	roof_print(json_object_get(roofline, "ceilings"), out);
}
