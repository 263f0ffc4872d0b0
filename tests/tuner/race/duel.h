/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A duel of two configurations whose times are simulated. */
#ifndef TESTS_TUNER_RACE_DUEL_H
#define TESTS_TUNER_RACE_DUEL_H
#include "tests/tap.h"
#include "tests/tuner/race/noise.h"
#include "tuner/race/race.h"

static json_t *configs[2];

static inline void duel_configs_make(void) {
	for (int i = 0; i < 2; i++)
		configs[i] = json_pack("{s:i}", "i", i);
}

static inline void duel_configs_free(void) {
	for (int i = 0; i < 2; i++)
		json_decref(configs[i]);
}

static inline int duel_of(struct sim *sim, const struct duel_options *options, const struct race_observer *observer,
                          struct duel_result *result, struct err *err) {
	struct trial_request request = {.kernel = "simulated", .limit_s = 0.01, .samples = 7};
	struct runner runner = {.ctx = sim, .run = sim_run};

	memset(err, 0, sizeof *err);
	return duel_run(&runner, &request, configs[0], configs[1], options, observer, result, err);
}

#endif
