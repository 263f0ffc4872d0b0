/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times over threads as a law: Amdahl (Validity of the single processor approach to achieving large scale computing
 * capabilities, 1967) and Gunther's universal scalability law (Guerrilla Capacity Planning, 2007, chapter 4):
 *     seconds(N) = seconds_1 (1 + sigma (N - 1) + kappa N (N - 1)) / N
 * sigma: the share that does not run in parallel (contention); kappa: what each pair of threads costs (coherency);
 * Amdahl has kappa = 0. 0 <= sigma <= 1, kappa >= 0.
 *
 * Fitted to log seconds by weighted least squares; intervals are 95 % by profile likelihood with Student's t, so that
 * they hold at a bound as well. Points that all others speak against (Bonferroni's test of deleted residuals: Cook and
 * Weisberg, Residuals and Influence in Regression, 1982, section 2.2.2) are left out and marked.
 *
 * The caller leaves out counts over the hardware threads that there are: oversubscription follows no such law. */
#ifndef TUNER_MODEL_LAW_SCALING_H
#define TUNER_MODEL_LAW_SCALING_H
#include <stdbool.h>
#include <stddef.h>

enum { SCALING_POINTS_MAX = 256 };

struct scaling_point {
	double threads, seconds;
	double deviation; /* standard error of log seconds; 0: not known */
};

enum scaling_law { SCALING_AMDAHL, SCALING_USL, SCALING_LAWS };

struct scaling_fit {
	double seconds_1, seconds_1_ci[2];
	double sigma, sigma_ci[2];
	double kappa, kappa_ci[2];               /* an upper end may be INFINITY where one thread was not measured */
	double best_threads, best_threads_ci[2]; /* where the law has its least time, >= 1; INFINITY: nowhere */
	double aicc;                             /* INFINITY: too few points for it */
	double residual_deviation;               /* of log seconds */
	const char *doubt;                       /* why not good, in plain words; NULL: good */
	bool good;
};

struct scaling {
	enum scaling_law law; /* the better one: by AICc, and where there are too few points for it, USL
	                         where the interval of kappa leaves 0 out */
	struct scaling_fit fit[SCALING_LAWS];
	size_t points, outliers;
	double residual[SCALING_POINTS_MAX]; /* log(measured / law), of the better law */
	bool outlier[SCALING_POINTS_MAX];    /* left out of the fit */
	bool superlinear; /* faster than the threads grow, beyond the noise: sigma = 0 explains no more */
	/* what was fitted: for scaling_seconds and scaling_speedup */
	double threads[SCALING_POINTS_MAX], log_seconds[SCALING_POINTS_MAX], weight[SCALING_POINTS_MAX];
};

/* 0: `out` has a law that is good. -1: *refusal says in plain words what the data lack; out->points is 0 where nothing
 * could be fitted, else all is there to be shown, and the better law is not good. */
int scaling_fit(const struct scaling_point *points, size_t count, struct scaling *out, const char **refusal);
/* By the better law, threads >= 1. ci, which may be NULL: 95 % of the mean, not of one measurement. */
double scaling_seconds(const struct scaling *scaling, double threads, double ci[2]);
double scaling_speedup(const struct scaling *scaling, double threads, double ci[2]); /* over one thread */
const char *scaling_law_word(enum scaling_law law);                                  /* "amdahl", "usl" */

#endif
