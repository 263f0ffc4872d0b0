/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the winner with its neighbours: is it a peak or part of a plateau? */
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/explain/explain_table_impl.h"
#include "tuner/model/effects/landscape.h"
#include "tuner/result/result.h"

static json_t *step_json(const struct study_column *column, const struct landscape_step *step) {
	return json_pack("{s:o,s:o,s:o,s:b}", "value", value_json(column->level[step->level]), "ratio",
	                 js_number(step->ratio), "ci", js_reals(step->ci, 2), "measured", step->measured);
}

/* all: also steps that were not measured. A table may lack what cannot exist, such as serial code with eight threads,
 * so that nothing is predicted for it. */
static json_t *param_json(const struct study_column *column, const struct landscape_param *param, bool all) {
	json_t *steps = json_array();
	for (size_t i = 0; i < 2; i++)
		if (param->step[i].level >= 0 && (all || param->step[i].measured) &&
		    (i == 0 || param->step[1].level != param->step[0].level))
			json_array_append_new(steps, step_json(column, &param->step[i]));
	json_t *json = json_pack("{s:s,s:s,s:o,s:I,s:I}", "param", column->name, VERDICT_MEMBER,
	                         landscape_verdict_word(param->verdict), "steps", steps, "near", (json_int_t)param->near,
	                         "wide", (json_int_t)param->wide);
	if (param->ordered && param->first >= 0 && param->last >= param->first)
		json_object_set_new(
			json, "range",
			json_pack("[o,o]", value_json(column->level[param->first]), value_json(column->level[param->last])));
	return json;
}

struct tally {
	size_t sharp, flat, unclear;
};

/* Only a peak over an ordered parameter makes a winner fragile. It is normal that another word is slower, and that
 * fewer threads take longer, so neither of them counts. */
static struct tally tally_of(const struct explain_view *view, const struct explain_table *table,
                             const struct landscape *landscape) {
	struct tally tally = {0};
	for (size_t p = 0; p < table->params; p++) {
		const struct landscape_param *param = &landscape->param[p];
		if (strcmp(explain_table_param(view, table, p)->name, "threads") == 0)
			continue;
		tally.sharp += param->verdict == LANDSCAPE_SHARP && param->ordered;
		tally.flat += param->verdict == LANDSCAPE_FLAT;
		tally.unclear += param->verdict == LANDSCAPE_UNCLEAR && param->ordered;
	}
	return tally;
}

static const char *word_of(const struct tally *tally) {
	if (tally->sharp)
		return "fragile";
	if (tally->flat && !tally->unclear)
		return "plateau";
	return tally->flat ? "partly flat" : "unclear";
}

static json_t *landscape_json(const struct explain_view *view, const struct explain_table *table,
                              const struct landscape *landscape) {
	const struct tally tally = tally_of(view, table, landscape);
	const char *word = word_of(&tally);
	json_t *params = json_array();
	for (size_t p = 0; p < table->params; p++)
		json_array_append_new(
			params, param_json(explain_table_param(view, table, p), &landscape->param[p], !view->item->table));
	json_t *json =
		json_pack("{s:s,s:b,s:b,s:o,s:o}", VERDICT_MEMBER, word, "fragile", tally.sharp > 0, "plateau",
	              strcmp(word, "plateau") == 0, "params", params, "predicted_r2", js_number(landscape->predicted_r2));
	if (*landscape->reason)
		json_object_set_new(json, "reason", json_string(landscape->reason));
	return json;
}

json_t *explain_landscape(const struct explain_view *view, struct explain_table *table, size_t winner) {
	struct landscape_data data = {0};
	struct landscape landscape;
	json_t *json = NULL;
	data.winner = explain_table_row(table, winner);
	if (explain_table_response(table, &data.measured) && data.winner < table->rows) {
		data.response = explain_table_surrogate(table);
		if (landscape_make(&landscape, &data) == 0)
			json = landscape_json(view, table, &landscape);
		landscape_clear(&landscape);
	}
	return json;
}
