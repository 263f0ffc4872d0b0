/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times over threads as a law: Amdahl (Validity of the single processor approach to achieving large scale computing
 * capabilities, 1967) and Gunther's universal scalability law (Guerrilla capacity planning, 2007, chapter 4):
 *
 *     seconds(N) = seconds_1 (1 + sigma (N - 1) + kappa N (N - 1)) / N
 *
 * sigma is the share that does not run in parallel (contention), kappa the cost of each pair of threads (coherency);
 * Amdahl has kappa = 0. 0 <= sigma <= 1, kappa >= 0.
 *
 * Fitted to log seconds by weighted least squares; intervals are 95 % by profile likelihood with Student's t, so that
 * they hold at a bound as well. Points that contradict all others (Bonferroni's test of deleted residuals: Cook and
 * Weisberg, Residuals and influence in regression, 1982, section 2.2.2) are left out and marked.
 *
 * The caller leaves out numbers of threads beyond the hardware's, because oversubscription does not follow such a law.
 */
#ifndef TUNER_MODEL_LAW_SCALING_H
#define TUNER_MODEL_LAW_SCALING_H
#include <stdbool.h>
#include <stddef.h>

enum { SCALING_POINTS_MAX = 256 };

struct scaling_point {
	double threads, seconds;
	double deviation; /* standard error of log seconds; 0: unknown */
};

enum scaling_law { SCALING_AMDAHL, SCALING_USL, SCALING_LAWS };

struct scaling_fit {
	double seconds_1, seconds_1_ci[2];
	double sigma, sigma_ci[2];
	double kappa, kappa_ci[2];               /* the upper end may be INFINITY if one thread was not measured */
	double best_threads, best_threads_ci[2]; /* threads of the smallest time, >= 1; INFINITY: it falls for ever */
	double aicc;                             /* INFINITY if there are too few points */
	double residual_deviation;               /* of log seconds */
	const char *doubt;                       /* why the law does not describe the times, for messages; NULL: it does */
	bool good;
};

struct scaling {
	enum scaling_law
		law; /* the better one by AICc; with too few points for that, USL if the interval of kappa excludes 0 */
	struct scaling_fit fit[SCALING_LAWS];
	size_t points, outliers;
	double residual[SCALING_POINTS_MAX]; /* log(measured / law) of the better law */
	bool outlier[SCALING_POINTS_MAX];    /* left out of the fit */
	bool superlinear; /* faster than in proportion to the threads, beyond the noise, which sigma = 0 does not explain */
	/* the fitted points, for scaling_seconds and scaling_speedup */
	double threads[SCALING_POINTS_MAX], log_seconds[SCALING_POINTS_MAX], weight[SCALING_POINTS_MAX];
};

/* 0: `out` has a law that describes the times. -1: *refusal says what the data lack. Then out->points is 0 if nothing
 * could be fitted; otherwise everything is there to be shown, but the better law does not describe the times. */
int scaling_fit(const struct scaling_point *points, size_t count, struct scaling *out, const char **refusal);
/* The seconds by the better law, threads >= 1. ci may be NULL: the 95 % interval of the mean, not of one measurement.
 */
double scaling_seconds(const struct scaling *scaling, double threads, double ci[2]);
double scaling_speedup(const struct scaling *scaling, double threads, double ci[2]); /* over one thread */
const char *scaling_law_word(enum scaling_law law);                                  /* "amdahl", "usl" */
#endif
