/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places winner and baseline in the roofline model (Williams, Waterman, Patterson 2009; see roofline.h). */
#include <config.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/explain/explain.h"

static const double GIGA = 1e9;

/* The name of a kernel's operation -> the measured peaks to compare it with. */
static const struct {
	const char *op, *peaks[3];
} peaks[] = {
	{"floating-point operation", {"fp32", "fp64"}},
	{"flop", {"fp32", "fp64"}},
	{"relaxation", {"addmin"}},
	{"pair", {"addmin"}},
};

static void roof_add(json_t *roofs, const char *name, const char *level, double roof, double rate, const char *unit) {
	if (!(roof > 0) || !(rate > 0) || !isfinite(rate / roof))
		return;
	json_t *one = json_pack("{s:s,s:f,s:s,s:f}", "name", name, "value", roof, "unit", unit, "share", rate / roof);
	if (level)
		json_object_set_new(one, "level", json_string(level));
	json_array_append_new(roofs, one);
}

static const char *op_of(const struct study *study, size_t row) {
	return js_string_or(json_object_get(study_row(study, row)->detail, "work"), "op", "operation");
}

static json_t *roofs_json(const struct study *study, size_t row, double ops, double bytes) {
	static const char *const cpu[] = {"dram", "l3", "l2", "l1d", NULL}, *const gpu[] = {"dram", "l2", NULL};
	bool on_cpu = strcmp(study_device(study), "cpu") == 0;
	double team = on_cpu ? fmax(1, study_value_number(study, row, "threads", 1)) : 0;
	json_t *roofs = json_array();
	for (const char *const *level = on_cpu ? cpu : gpu; *level; level++)
		roof_add(roofs, "read", *level, study_ceiling(study, "read", *level, team), bytes / GIGA, "GB/s");
	for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
		for (size_t p = 0; strcmp(peaks[i].op, op_of(study, row)) == 0 && peaks[i].peaks[p]; p++)
			roof_add(roofs, peaks[i].peaks[p], NULL, study_ceiling(study, peaks[i].peaks[p], NULL, team), ops / GIGA,
			         strcmp(peaks[i].peaks[p], "addmin") == 0 ? "Gpair/s" : "GFLOP/s");
	return roofs;
}

/* Bytes moved to or from memory, if a counter measured them. */
static double counted_bytes(const struct study *study, size_t row) {
	double read = study_metric(study, row, "read_volume");
	return read > 0 ? read : study_metric(study, row, "dram_volume");
}

static json_t *position(const struct study *study, size_t row) {
	if (row == SIZE_MAX)
		return NULL;
	double seconds = study_row(study, row)->value, ops = study_work(study, row, "ops"),
		   bytes = study_work(study, row, "bytes"), counted = counted_bytes(study, row);
	if (!(ops > 0))
		return NULL;
	bytes = bytes > 0 ? bytes : NAN;
	double moved = counted > 0 ? counted : bytes;
	return json_pack("{s:O,s:f,s:s,s:o,s:o,s:o,s:o,s:o}", "config", study_row(study, row)->config, "seconds", seconds,
	                 "op", op_of(study, row), "ops_per_s", js_number(ops / seconds), "bytes_per_s",
	                 js_number(bytes / seconds), "counted_bytes_per_s", js_number(counted / seconds), "intensity",
	                 js_number(ops / moved), "roofs", roofs_json(study, row, ops / seconds, moved / seconds));
}

static bool was_measured(const struct study *study) {
	int most = strcmp(study_device(study), "cpu") == 0 ? INT_MAX : 0;
	return study_ceiling(study, "read", "dram", most) > 0 || study_ceiling(study, "fp32", NULL, most) > 0;
}

json_t *explain_roofline(const struct explain_view *view, size_t winner_row, size_t baseline_row) {
	json_t *winner = strcmp(view->unit, "s") == 0 ? position(view->study, winner_row) : NULL;
	json_t *baseline = winner ? position(view->study, baseline_row) : NULL;
	if (!winner)
		return NULL;
	json_t *roofline = json_pack("{s:O}", "winner", winner);
	if (baseline)
		json_object_set(roofline, "baseline", baseline);
	if (!was_measured(view->study)) {
		bool gpu = strcmp(study_device(view->study), "cpu") != 0;
		json_object_set_new(roofline, "missing", json_string("the ceilings of this machine have not been measured"));
		json_object_set_new(roofline, "next",
		                    gpu ? json_sprintf("sweetspot machine --ceilings --device %s", study_device(view->study))
		                        : json_string("sweetspot machine --ceilings"));
	}
	json_decref(winner);
	json_decref(baseline);
	return roofline;
}
