/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>

#include "src/base/json/js.h"
#include "src/cmd/replay/score_output.h"

static const struct {
	enum score_figure figure;
	const char *name;
} scores[] = {
	{SCORE_TIME, "score_time"},
	{SCORE_EVALS, "score_evals"},
	{SCORE_TIME_MEDIAN, "score_time_median"},
	{SCORE_EVALS_MEDIAN, "score_evals_median"},
	{SCORE_TIME_EXPECTED, "score_time_expected"},
	{SCORE_EVALS_EXPECTED, "score_evals_expected"},
};
enum { SCORES = sizeof scores / sizeof *scores };

static json_t *ci_json(const struct score_result *result, size_t figure) {
	return json_pack("[o,o]", js_number(result->low[figure]), js_number(result->high[figure]));
}

static json_t *figure_json(const struct score_result *result, size_t figure) {
	return json_pack("{s:o,s:o}", "value", js_number(result->value[figure]), "ci", ci_json(result, figure));
}

static void points_name(size_t i, char *name, size_t size) {
	snprintf(name, size, "%llu", (unsigned long long)score_points[i]);
}

static void targets_name(size_t i, char *name, size_t size) {
	snprintf(name, size, "%g%%", score_targets[i] * 100);
}

/* Makes {"10": .., "25": ..} from figures that belong together. */
typedef json_t *figure_value(const void *from, size_t figure);
static json_t *list_json(const void *from, figure_value *value, size_t first, size_t count,
                         void (*name_of)(size_t i, char *name, size_t size)) {
	json_t *object = json_object();
	for (size_t i = 0; i < count; i++) {
		char name[32];
		name_of(i, name, sizeof name);
		json_object_set_new(object, name, value(from, first + i));
	}
	return object;
}

static void figures_add(json_t *object, const void *from, figure_value *value) {
	for (size_t i = 0; i < SCORES; i++)
		json_object_set_new(object, scores[i].name, value(from, scores[i].figure));
	json_object_set_new(object, "ratio_at", list_json(from, value, SCORE_RATIO, SCORE_POINTS, points_name));
	json_object_set_new(object, "ratio_at_mean", list_json(from, value, SCORE_RATIO_MEAN, SCORE_POINTS, points_name));
	json_object_set_new(object, "evals_to", list_json(from, value, SCORE_TO, SCORE_TARGETS, targets_name));
}

static json_t *result_value(const void *from, size_t figure) {
	return figure_json(from, figure);
}

static json_t *peer_value(const void *from, size_t figure) {
	return js_number(((const double *)from)[figure]);
}

static json_t *result_json(const struct score_result *result) {
	json_t *object =
		json_pack("{s:o,s:o}", "score", js_number(result->value[SCORE_TIME]), "ci", ci_json(result, SCORE_TIME));
	figures_add(object, result, result_value);
	return object;
}

static json_t *space_result(const struct score_space *space, const struct score_table *runs,
                            const struct score_result *result) {
	const struct score_axis *axis = space->axis;
	json_t *object = json_pack(
		"{s:s,s:s,s:s,s:I,s:I,s:o,s:o,s:{s:I,s:I,s:o},s:I,s:o}", "file", space->path, "kernel", space->record->kernel,
		"device", space->record->device, "configurations", (json_int_t)space_valid(space->record->space), "valid",
		(json_int_t)space->record->correct, "optimum", js_number(axis->optimum), "median", js_number(axis->median),
		"score_axis", "start", (json_int_t)axis->start, "cutoff_95", (json_int_t)axis->cutoff, "evaluation_s",
		js_number(axis->each), "runs", (json_int_t)score_table_runs(runs), "ms_per_proposal",
		js_number(1e3 * score_table_asking(runs)));
	if (space->peers)
		json_object_set_new(object, "peers_space", json_string(space->peers));
	json_object_update_new(object, result_json(result));
	return object;
}

static json_t *entry_json(const struct score_output *output, const struct score_entry *entry) {
	json_t *per_space = json_array();
	for (size_t i = 0; i < output->space_count; i++)
		json_array_append_new(per_space, space_result(&output->spaces[i], entry->tables[i], &entry->results[i]));
	const struct score_result *all = &entry->results[output->space_count];
	return json_pack("{s:s,s:o,s:o,s:o,s:o}", "strategy", entry->strategy->name, "score",
	                 js_number(all->value[SCORE_TIME]), "ci", ci_json(all, SCORE_TIME), "over_all", result_json(all),
	                 "per_space", per_space);
}

static json_t *peers_json(const struct score_output *output) {
	json_t *rows = json_array();
	for (size_t i = 0; i < output->peer_count; i++) {
		json_t *row = json_pack("{s:s}", "name", output->peers[i].name);
		figures_add(row, output->peers[i].figures, peer_value);
		json_array_append_new(rows, row);
	}
	return json_pack("{s:s,s:o}", "file", output->peers_path, "over_all", rows);
}

/* The members of the first strategy are repeated at the top of the document; "strategies" has all of them. */
json_t *score_output_json(const struct score_output *output) {
	json_t *list = json_array();
	for (size_t i = 0; i < output->entry_count; i++)
		json_array_append_new(list, entry_json(output, &output->entries[i]));
	json_t *document =
		json_pack("{s:s,s:I,s:I,s:b}", "schema", "sweetspot-score/1", "repeat", (json_int_t)output->repeat, "seed",
	              (json_int_t)output->seed, "interrupted", output->interrupted);
	json_object_update(document, json_array_get(list, 0));
	json_object_set_new(document, "strategies", list);
	if (output->peers_path)
		json_object_set_new(document, "peers", peers_json(output));
	return document;
}
