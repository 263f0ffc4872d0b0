/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Teams are chosen together: what a change of the team costs decides whether regions may differ. */
#include "tests/tap.h"
#include "tests/tuner/regions/made.h"
#include "tuner/regions/regions_impl.h"

enum { TEAMS = 4, REGIONS = 3 };
static const unsigned teams[TEAMS] = {0, 1, 2, 4};

static struct regions_record *alternating(double change) {
	const double none[REGIONS] = {0};
	const struct made made = {
		.regions = REGIONS, .columns = 1, .blocks = 1, .calls = 100, .log = none, .growth = 1, .seed = 1};
	struct regions_record *record = record_made(&made);
	struct omp_record *raw = (struct omp_record *)record->raw;
	static const unsigned timed[] = {8, 1, 2, 4};
	raw->default_threads = 8;
	raw->team_count = 4;
	for (uint32_t i = 0; i < 4; i++) {
		raw->teams[i] = timed[i];
		for (uint32_t j = 0; j < 4; j++)
			raw->team_cost[i][j] = (float)(i == j ? 1e-6 : 1e-6 + change);
	}
	return record;
}

static void effects_set(struct regions_effect *effects, const double *log) {
	for (size_t i = 0; i < REGIONS * TEAMS; i++)
		effects[i] = (struct regions_effect){.log = log[i], .error = 0.001, .stretches = 8};
}

static void plan(double change, const double *log, size_t *level) {
	struct regions_record *record = alternating(change);
	struct regions_effect effects[REGIONS * TEAMS];
	effects_set(effects, log);
	const struct regions_plan_task task = {.baseline = record,
	                                       .exploring = record,
	                                       .effects = effects,
	                                       .teams = teams,
	                                       .team_count = TEAMS,
	                                       .threads_min_gain = 0.02};
	regions_plan(&task, level);
	regions_record_free(record);
}

/* One team for all, or one thread where that is better. */
static void plan_common(bool uniform, const double *log, size_t *level) {
	struct regions_record *record = alternating(1e-3);
	struct regions_effect effects[REGIONS * TEAMS];
	effects_set(effects, log);
	const struct regions_plan_task task = {.baseline = record,
	                                       .exploring = record,
	                                       .effects = effects,
	                                       .teams = teams,
	                                       .team_count = TEAMS,
	                                       .threads_min_gain = 0.02};
	regions_plan_common(&task, uniform, level);
	regions_record_free(record);
}

int main(void) {
	/* Levels: default (8), 1, 2, 4. The first region wants 2, the second 4, the third one thread. */
	static const double own[] = {0, 0.9, -0.5, -0.2, 0, 1.5, -0.2, -0.5, 0, -1, -0.3, -0.1};
	static const double none[REGIONS * TEAMS] = {0, 0.9, 0.5, 0.2, 0, 0.9, 0.5, 0.2, 0, 0.01, 0.5, 0.2};
	static const double small[REGIONS * TEAMS] = {0, -0.01, -0.01, 0, 0, 0, -0.015, 0, 0, -0.012, 0, 0};
	size_t level[REGIONS];
	plan(0, own, level);
	ok(level[0] == 2 && level[1] == 3 && level[2] == 1, "changes are free: each region has its own team");
	plan(1e-3, own, level);
	ok(level[0] == level[1] && level[2] == 1, "changes are dear: one team for both, and one thread costs no change");
	ok(level[0] == 2 || level[0] == 3, "one team for both regions is better than the default");
	plan(0, none, level);
	ok(level[0] == 0 && level[1] == 0 && level[2] == 0, "slower teams are not chosen");
	plan(0, small, level);
	ok(level[0] == 0 && level[1] == 0 && level[2] == 0, "a gain below 2 %% is not worth a change");
	plan_common(false, own, level);
	ok(level[0] == level[1] && level[0] >= 2 && level[2] == 1,
	   "a plan without changes has one team, and single threads");
	plan_common(true, own, level);
	ok(level[0] == level[1] && level[1] == level[2], "a plan of one team has no other");
	plan_common(true, none, level);
	ok(level[0] == 0 && level[1] == 0 && level[2] == 0, "a plan of one team is the default where nothing is better");
	return tap_done();
}
