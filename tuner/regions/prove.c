/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A proof in few runs. Whole runs are long, so a large difference must be decided after three pairs, where a rank test
 * cannot decide anything: log ratios of neighbouring runs get Student's interval, with a spread of at least what runs
 * of programs show on quiet machines, because three pairs may agree by chance. Looking after each pair costs
 * confidence, so that the level of each look is 99 %. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/base/sys.h"
#include "tuner/model/student.h"
#include "tuner/regions/impl.h"

enum { PAIRS_MIN = REGIONS_PAIRS_LEAST, PAIRS_MAX = 41 };
static const double LEVEL = 0.99, SPREAD_LEAST = 0.004, MARGIN = 0.01, TIE_WIDTH = 0.03, WIDEST = 7;
static const double LIMIT_TIMES = 5, LIMIT_SECONDS = 10;

static void judge(struct regions_proof *proof) {
	struct student_interval log = student_ratio(proof->tuned, proof->plain, proof->count, LEVEL, SPREAD_LEAST);
	proof->ratio = exp(log.mean);
	/* One pair has no spread, but the document promises numbers. */
	proof->ci[0] = exp(fmax(log.low, log.mean - WIDEST));
	proof->ci[1] = exp(fmin(log.high, log.mean + WIDEST));
	proof->verdict = "undecided";
	if (proof->ci[1] < 1 - MARGIN)
		proof->verdict = "faster";
	else if (proof->ci[0] > 1 + MARGIN)
		proof->verdict = "slower";
	else if (proof->ci[0] > 1 - TIE_WIDTH && proof->ci[1] < 1 + TIE_WIDTH)
		proof->verdict = "tie";
}

static bool is_over(const struct regions_runs *runs, double budget_s, const struct regions_proof *proof) {
	if (proof->count == 0)
		return false;
	double pair = proof->plain[proof->count - 1] + proof->tuned[proof->count - 1];
	if (runs->waiting > REGIONS_BUSY) /* nothing can be decided */
		return true;
	bool decided = proof->count >= PAIRS_MIN && strcmp(proof->verdict, "undecided") != 0;
	return decided || regions_left(runs, budget_s) < pair;
}

static int pair_run(struct regions_runs *runs, double budget_s, struct rng *rng, struct regions_proof *proof,
                    struct err *err) {
	bool tuned_first = rng_below(rng, 2) == 0;
	struct regions_run run;
	for (int side = 0; side < 2; side++) {
		double known = proof->count ? proof->plain[0] : budget_s;
		double limit = fmin(LIMIT_TIMES * known + LIMIT_SECONDS, fmax(regions_left(runs, budget_s), 2 * known) + 1);
		bool tuned = tuned_first == (side == 0);
		if (regions_run_plain(runs, tuned ? runs->options->table : NULL, limit, "proof", &run, err))
			return -1;
		(tuned ? proof->tuned : proof->plain)[proof->count] = run.seconds;
	}
	proof->count++;
	return 0;
}

int regions_prove(struct regions_runs *runs, double budget_s, struct regions_proof *proof, struct err *err) {
	struct rng rng;
	double start = sys_now();
	int failed = 0;
	rng_seed(&rng, runs->options->seed);
	*proof = (struct regions_proof){.plain = mem_alloc(PAIRS_MAX, sizeof(double)),
	                                .tuned = mem_alloc(PAIRS_MAX, sizeof(double)),
	                                .verdict = "undecided"};
	while (!failed && proof->count < PAIRS_MAX && !is_over(runs, budget_s, proof) && !regions_output_is_wrong(runs)) {
		failed = pair_run(runs, budget_s, &rng, proof, err);
		if (!failed)
			judge(proof);
	}
	runs->seconds.proof += sys_now() - start;
	return failed;
}

void regions_proof_clear(struct regions_proof *proof) {
	free(proof->plain);
	free(proof->tuned);
}
