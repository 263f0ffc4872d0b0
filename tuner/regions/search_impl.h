/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the stages of a search inside the runs of a program. */
#ifndef TUNER_REGIONS_SEARCH_IMPL_H
#define TUNER_REGIONS_SEARCH_IMPL_H
#include "tuner/regions/impl.h"

enum { REGIONS_TEAMS_MOST = 8, REGIONS_PLANS_MOST = 3 };
/* The share of the time from which on a region matters, the gain that another setting must bring, and the share of the
 * budget for the search. */
#define REGIONS_SHARE_LEAST  0.01
#define REGIONS_GAIN_LEAST   0.02
#define REGIONS_SEARCH_SHARE 0.55
/* The gain that a plan needs over the default. */
#define REGIONS_PLAN_GAIN_LEAST 0.005

struct regions_search {
	struct regions_runs *runs;
	struct regions_record *baseline;
	double baseline_s, budget_s;
	unsigned teams[REGIONS_TEAMS_MOST];
	size_t team_count;
	struct regions_effect *effects; /* baseline's regions x teams */
	size_t *level;
	/* Teams for all regions that may be best together, the one that fits each region best first: the more changes of
	 * the team a plan has, the less of its gain by region remains. */
	size_t *plans[REGIONS_PLANS_MOST];
	double plan_s[REGIONS_PLANS_MOST]; /* of all regions, as modelled */
	size_t plan_count;
	double plan_log[REGIONS_PLANS_MOST]; /* logarithm of its time against the default's, as it is judged */
	size_t plan;                         /* the one that is proposed; SIZE_MAX: the default */
	double *seen; /* logarithm of each region's time with its team among the others', NAN where that was not seen */
	struct regions_found *found;
	struct regions_sizes *sizes; /* of regions whose calls differ */
	size_t sizes_count;
};

double regions_seconds_in(const struct regions_region *region);
/* The limit of one run. */
double regions_limit_s(const struct regions_search *search);

/* One or two runs in which stretches of time have different teams; sets effects and levels. */
int regions_explore(struct regions_search *search, struct err *err);
/* One run in which the chosen teams, with several schedules, alternate with the default; sets found->settings. */
int regions_check(struct regions_search *search, struct err *err);
/* The plan that ranks behind the one that is proposed, but before the default; SIZE_MAX: none does. */
size_t regions_plan_next(const struct regions_search *search);

static inline bool regions_setting_changes(const struct regions_setting *setting) {
	return setting->threads || setting->kind || setting->chunk;
}
/* Sets the gain of each region and what else `found` tells. */
void regions_settings_finish(const struct regions_search *search);
int regions_settings_write(const struct regions_search *search, struct err *err);
/* The same regions without any change: what is not proven must not reach a job script by `export`. */
int regions_settings_write_none(const struct regions_search *search, struct err *err);

/* Proves the settings found or, if that fails and the budget allows, those of a second plan, and keeps the better ones.
 * other: of the plan that is not kept; its count is 0 if there was none. Both are to be cleared. */
int regions_prove_plans(const struct regions_search *search, struct regions_proof *proof, struct regions_proof *other,
                        struct err *err);
#endif
