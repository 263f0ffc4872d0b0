/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdint.h>

#include "src/base/js.h"
#include "src/explain.h"
#include "tuner/diagnosis/diagnosis.h"

static json_t *problems_json(const struct study *study) {
	size_t rows[EXPLAIN_PROBLEMS_MAX], count = explain_problems(study, rows);
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:O,s:I}", "problem", study_row(study, rows[i])->problem,
		                                      "configurations", (json_int_t)explain_rows(study, rows[i])));
	return list;
}

static json_t *setup_json(const struct explain_view *view, size_t row) {
	if (row == SIZE_MAX)
		return json_null();
	const struct study_row *one = study_row(view->study, row);
	double spread = exp(1.96 * one->deviation);
	return json_pack("{s:O,s:f,s:[o,o],s:s,s:I}", "config", one->config, "median", one->value, "ci",
	                 js_number(one->value / spread), js_number(one->value * spread), "unit", view->unit, "trials", (json_int_t)one->trials);
}

/* What the duel said; without one the ratio of medians, which is no verdict. */
static void speedup_add(json_t *result, const struct explain_view *view) {
	size_t winner = study_winner(view->study), baseline = study_baseline(view->study);
	json_t *speedup = json_object_get(view->tune, "speedup");
	if (json_is_object(speedup)) {
		json_object_set(result, "speedup", speedup);
		json_object_set_new(result, "verdict", json_string(js_string_or(view->tune, "verdict", "undecided")));
	} else if (winner != SIZE_MAX && baseline != SIZE_MAX) {
		double ratio = study_row(view->study, baseline)->value / study_row(view->study, winner)->value;
		json_object_set_new(result, "speedup", json_pack("{s:o,s:n}", "ratio", js_number(ratio), "ci"));
		json_object_set_new(result, "verdict", json_string("undecided"));
	} else {
		json_object_set_new(result, "speedup", json_null());
		json_object_set_new(result, "verdict", json_string("no baseline"));
	}
}

/* The winner of a problem is sought among its own rows. */
static size_t winner_of(const struct explain_view *view) {
	size_t winner = study_winner(view->study);
	if (winner != SIZE_MAX && explain_of_problem((void *)view, view->study, winner))
		return winner;
	return SIZE_MAX;
}

static void head_add(json_t *result, const struct explain_view *view) {
	const struct study *study = view->study;
	size_t winner = winner_of(view), baseline = winner == SIZE_MAX ? SIZE_MAX : study_baseline(study);
	json_object_set_new(result, "winner", setup_json(view, winner));
	json_object_set_new(result, "baseline", setup_json(view, baseline));
	speedup_add(result, view);
}

static json_t *diagnoses_json(const struct study *study) {
	struct findings *findings = findings_new();
	findings_examine(findings, study);
	json_t *json = findings_json(findings);
	findings_free(findings);
	return json;
}

/* Absent parts are absent members, or empty lists where others rely on them. */
static void part_add(json_t *result, const char *name, json_t *part) {
	if (part)
		json_object_set_new(result, name, part);
}

json_t *explain_result(struct app *app, const struct explain_view *view) {
	const struct study *study = view->study;
	(void)app;
	json_t *result = json_pack("{s:s,s:s,s:O,s:o,s:I,s:I,s:f}", "kernel", study_kernel(study), "device",
	                           study_device(study), "problem", view->problem, "problems", problems_json(study),
	                           "configurations", (json_int_t)study_rows(study), "failures",
	                           (json_int_t)study_failures(study), "noise", study_noise(study));
	head_add(result, view);
	part_add(result, "scaling", explain_scaling(view));
	part_add(result, "effects", explain_effects(view));
	part_add(result, "roofline", explain_roofline(view));
	part_add(result, "diagnoses", diagnoses_json(study));
	return result;
}
