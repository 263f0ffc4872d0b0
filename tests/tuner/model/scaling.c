/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits scaling laws to times that follow a law with 5 % noise: the truth must be within the 95 % intervals. */
#include "tuner/model/law/scaling.h"

#include <math.h>

#include "base/rng.h"
#include "tests/tuner/model/scaling_made.h"
#include "tests/tap.h"

enum { DRAWS = 200, LEAST = 180 };
static const double NOISE = 0.05;

static const double grids[][16] = {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 4, 8, 16, 32, 64}, {2, 4, 6, 8, 12, 16, 24, 32}};
static const struct law {
	double sigma, kappa;
} laws[] = {{0, 0}, {0.02, 0}, {0.3, 0}, {1, 0}, {0, 0.002}, {0.1, 0.01}, {0.6, 0.05}};

struct held {
	int seconds_1, sigma, kappa, best, at_more, speedup, amdahl_sigma, good;
};

static bool within(double value, const double ci[2]) {
	return ci[0] <= value * (1 + 1e-9) && value <= ci[1] * (1 + 1e-9) + 1e-12;
}

static void count_held(struct held *held, const struct made *made, const struct scaling *scaling) {
	const struct scaling_fit *fit = &scaling->fit[SCALING_USL], *amdahl = &scaling->fit[SCALING_AMDAHL];
	double ci[2], more = 2 * made->points[made->count - 1].threads;
	held->seconds_1 += within(made->seconds_1, fit->seconds_1_ci);
	held->sigma += within(made->sigma, fit->sigma_ci);
	held->kappa += within(made->kappa, fit->kappa_ci);
	held->best += within(made_best(made), fit->best_threads_ci);
	held->amdahl_sigma += made->kappa > 0 || within(made->sigma, amdahl->sigma_ci);
	struct scaling usl = *scaling;
	usl.law = SCALING_USL;
	scaling_seconds(&usl, more, ci);
	held->at_more += within(made_seconds(made, more), ci);
	scaling_speedup(&usl, more, ci);
	held->speedup += within(made->seconds_1 / made_seconds(made, more), ci);
	held->good += scaling->fit[scaling->law].good;
}

static void check(const struct held *held, size_t grid, const struct law *law, bool deviations) {
	ok(held->seconds_1 >= LEAST && held->sigma >= LEAST && held->kappa >= LEAST && held->best >= LEAST &&
	       held->amdahl_sigma >= LEAST && held->at_more >= LEAST && held->speedup >= LEAST && held->good >= LEAST,
	   "grid %zu%s, sigma %g, kappa %g: time %d, sigma %d, kappa %d, best %d, Amdahl's sigma %d, time and speedup at "
	   "twice "
	   "the threads %d %d of %d; good %d",
	   grid, deviations ? " with deviations" : "", law->sigma, law->kappa, held->seconds_1, held->sigma, held->kappa,
	   held->best, held->amdahl_sigma, held->at_more, held->speedup, DRAWS, held->good);
}

static void covers(size_t grid, const struct law *law, bool deviations) {
	struct held held = {0};
	struct rng rng;
	rng_seed(&rng, 100 * grid + (uint64_t)(law - laws));
	for (int draw = 0; draw < DRAWS; draw++) {
		struct made made = {.seconds_1 = 3, .sigma = law->sigma, .kappa = law->kappa};
		struct scaling scaling;
		const char *refusal;
		made_times(&made, grids[grid], &rng, NOISE, deviations);
		scaling_fit(made.points, made.count, &scaling, &refusal);
		count_held(&held, &made, &scaling);
	}
	check(&held, grid, law, deviations);
}

int main(void) {
	for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
		for (size_t l = 0; l < sizeof laws / sizeof *laws; l++)
			covers(g, &laws[l], (g + l) % 3 == 0);
	return tap_done();
}
