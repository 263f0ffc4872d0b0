/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>

#include "src/base/json/js.h"
#include "src/cmd/replay/output.h"

static json_t *space_json_of(const struct record *record) {
	uint64_t all = space_valid(record->space);
	return json_pack("{s:o,s:I,s:I,s:I,s:o,s:o,s:o,s:o}", "cartesian", js_number(space_cartesian(record->space)),
	                 "configurations", (json_int_t)all, "valid", (json_int_t)record->correct, "failed",
	                 (json_int_t)(all - record->correct), "optimum", js_number(record->optimum), "median",
	                 js_number(record->median), "worst", js_number(record->worst), "best",
	                 space_config_json(record->space, record->best));
}

const char *replay_chosen_by(const struct replay *run) {
	return isnan(run->noise) ? "the least value" : "repeats of the leaders";
}

/* null: nothing worked. */
static json_t *chosen_json(const struct record *record, const struct replay *run) {
	if (run->chosen.times == 0)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:I,s:s}", "config", space_config_json(record->space, run->chosen.index), "value",
	                 js_number(record->rows[run->chosen.index].value), "measured", js_number(run->chosen.value),
	                 "measurements", (json_int_t)run->chosen.times, "by", replay_chosen_by(run));
}

static json_t *evaluations_json(const struct record *record, const struct replay *run, bool noisy) {
	json_t *list = json_array();
	double best = NAN;
	for (size_t i = 0; i < run->count; i++) {
		const struct replay_step *step = &run->steps[i];
		best = fmin(best, step->value);
		json_t *one = json_pack("{s:o,s:o,s:o,s:o}", "config", space_config_json(record->space, step->index), "value",
		                        js_number(step->value), "best", js_number(best), "seconds", js_number(step->seconds));
		if (noisy)
			json_object_set_new(one, "measured", js_number(step->measured));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *runs_json(const struct replay_output *output) {
	json_t *list = json_array();
	for (size_t i = 0; i < output->count; i++)
		if (output->played[i])
			json_array_append_new(list,
			                      json_pack("{s:I,s:o,s:o}", "seed", (json_int_t)(output->seed + i), "evaluations",
			                                evaluations_json(output->record, &output->runs[i], output->noise > 0),
			                                "chosen", chosen_json(output->record, &output->runs[i])));
	return list;
}

json_t *replay_output_json(const struct replay_output *output) {
	const struct record *record = output->record;
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:f,s:b,s:o,s:o}", "schema", "sweetspot-replay/1", "file",
	                 output->path, "format", record->format, "kernel", record->kernel, "device", record->device,
	                 "problem", record->problem, "objective", record->objective, "unit", record->unit, "strategy",
	                 output->strategy, "noise", output->noise, "interrupted", output->interrupted, "space",
	                 space_json_of(record), "runs", runs_json(output));
}
