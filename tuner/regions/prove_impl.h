/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole runs with settings of ours against whole runs as they are. */
#ifndef TUNER_REGIONS_PROVE_IMPL_H
#define TUNER_REGIONS_PROVE_IMPL_H
#include "tuner/race/race.h"
#include "tuner/regions/regions.h"
#include "tuner/result/result.h"

struct regions_runs;

struct regions_proving {
	const struct regions_record *baseline;
	double budget_s;
	double spare_s; /* of the budget, for other settings if these seem to gain nothing; 0: there are none */
	double level;   /* of the interval, over all looks */
};

struct regions_proof {
	double *plain, *tuned; /* seconds of each pair */
	size_t count, judged;  /* judged: that count for certain */
	struct race_watch watch;
	double ratio, ci[2];  /* of tuned / plain */
	enum verdict verdict; /* of the settings found */
	json_t *seen;         /* evidence of the runs with the settings */
	double *region_s;     /* of the first tuned runs: the least time in each region of the baseline, NAN: not entered */
};

/* Pairs of whole runs in random order until the verdict is clear or the budget ends. */
int regions_prove(struct regions_runs *runs, const struct regions_proving *proving, struct regions_proof *proof,
                  struct err *err);
void regions_proof_clear(struct regions_proof *proof);
/* Enough for the least number of pairs. */
double regions_proof_seconds(double plain_s, double tuned_s);
#endif
