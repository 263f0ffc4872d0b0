/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times that follow a law. */
#ifndef TESTS_TUNER_MODEL_SCALING_MADE_H
#define TESTS_TUNER_MODEL_SCALING_MADE_H
#include <math.h>

#include "base/rng.h"
#include "tuner/model/law/scaling.h"

struct made {
	double seconds_1, sigma, kappa;
	struct scaling_point points[SCALING_POINTS_MAX];
	size_t count;
};

__attribute__((unused)) static double made_seconds(const struct made *made, double n) {
	return made->seconds_1 / n * (1 + made->sigma * (n - 1) + made->kappa * n * (n - 1));
}

__attribute__((unused)) static double made_best(const struct made *made) {
	return made->kappa > 0 ? fmax(1, sqrt((1 - made->sigma) / made->kappa)) : INFINITY;
}

/* For up to 16 numbers of threads, ended by 0. deviations: points have different, known deviations, `noise` on average.
 */
__attribute__((unused)) static void made_times(struct made *made, const double *threads, struct rng *rng, double noise,
                                               bool deviations) {
	made->count = 0;
	for (size_t i = 0; i < 16 && threads[i] > 0; i++) {
		double deviation = deviations ? noise * (0.5 + rng_unit(rng)) : noise;
		made->points[made->count++] =
			(struct scaling_point){.threads = threads[i],
		                           .seconds = made_seconds(made, threads[i]) * exp(deviation * rng_normal(rng)),
		                           .deviation = deviations ? deviation : 0};
	}
}

#endif
