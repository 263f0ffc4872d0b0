/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A resumed search on several nodes reports all earlier results before it asks for more. It cannot be replayed in order
 * like a sequential one, because the order in which nodes answered depended on times that are gone. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/json/js.h"
#include "tuner/race/deviation.h"
#include "tuner/tune/parallel/parallel.h"

static void outcome_apply(void *ctx, const char *config, const struct trial_result *result) {
	struct parallel *parallel = ctx;
	struct tune *tune = parallel->tune;
	struct err err = {0};
	uint64_t index;
	json_t *object = js_parse(config, strlen(config), "a configuration", &err);
	if (object && space_config_read(tune->task->space, object, NULL, &index, &err) == 0) {
		tune->bench.current.seconds = result->elapsed_s;
		tune->bench.current.deviation =
			result->status == TRIAL_CORRECT ? deviation_of_median(result->samples, result->sample_count) : 0;
		tune_pareto_record(tune, object, result);
		tune_evaluated(tune, index, result);
	}
	json_decref(object);
}

int parallel_recall(struct parallel *parallel, struct err *err) {
	struct tune *tune = parallel->tune;
	if (!recall_take(tune->memory.recall, "baseline", tune->task->baseline, &tune->memory.baseline))
		return 0;
	parallel->recalled = true;
	if (tune->memory.baseline.status == TRIAL_CORRECT)
		fleet_reference_set(parallel->fleet, tune->memory.baseline.value);
	else
		fleet_baseline_give_up(parallel->fleet);
	if (tune->task->whole_programs)
		tune_program_look(tune);
	if (tune_baseline_done(tune, err))
		return -1;
	recall_each(tune->memory.recall, outcome_apply, parallel);
	return 0;
}
