/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A team gains no more than its threads and caches explain, a core no more than its hardware threads. */
#include <math.h>

#include "tuner/diagnosis/laws_impl.h"

enum { POINTS_LEAST = 4 };
static const double LINEAR = 4, ROUGH = 0.3, SURE = 0.995;

static bool teams_find(const struct study *study, size_t row, struct line *teams) {
	return line_find(study, row, probe_threads(study), teams);
}

/* How rough the curve is without a point: the bends of its lines in logarithms. */
static double roughness(const struct line *teams, size_t without) {
	double before = NAN, sum = 0;
	size_t last = SIZE_MAX;
	for (size_t i = 0; i < teams->count; i++) {
		if (i == without)
			continue;
		double slope = last == SIZE_MAX ? NAN : (teams->y[i] - teams->y[last]) / log(teams->n[i] / teams->n[last]);
		sum += isfinite(before) && isfinite(slope) ? fabs(slope - before) : 0;
		before = slope;
		last = i;
	}
	return sum;
}

/* Do times follow the teams? In a table too small to tell, the other points of this curve must lie on a smooth one. */
static bool is_curve(const struct line *teams, const struct wrong *wrong) {
	return wrong->teams_known || (wrong->few && teams->count >= POINTS_LEAST && roughness(teams, teams->at) <= ROUGH);
}

/* Is it far faster than the number of threads explains, and than the next smaller team suggests? */
static bool judge_beyond_linear(const struct study *study, size_t row, struct wrong *wrong) {
	struct line teams;
	if (!teams_find(study, row, &teams) || teams.at == 0)
		return false;
	size_t i = teams.at;
	double gain = exp(teams.y[0] - teams.y[i]), all = gain * teams.n[0] / teams.n[i];
	double step = exp(teams.y[i - 1] - teams.y[i]) * teams.n[i - 1] / teams.n[i];
	if (!is_curve(&teams, wrong) || !(all > LINEAR && step > LINEAR))
		return false;
	return law_broken(wrong, gain, "x", "%.4g times as fast with %g threads as with %g", gain, teams.n[i], teams.n[0]);
}

/* Two hardware threads of a core can do at most twice the work of one: one of both times is wrong, the one without
 * which the curve is smoother. */
static bool judge_beyond_core(const struct study *study, size_t row, struct wrong *wrong) {
	const struct study_host *host = study_host(study);
	struct line teams;
	size_t cores = SIZE_MAX, all = SIZE_MAX;
	if (host->cores < 1 || host->threads <= host->cores || !teams_find(study, row, &teams) || !is_curve(&teams, wrong))
		return false;
	for (size_t i = 0; i < teams.count; i++) {
		cores = teams.n[i] == host->cores ? i : cores;
		all = teams.n[i] == host->threads ? i : all;
	}
	if (cores == SIZE_MAX || all == SIZE_MAX || (teams.at != cores && teams.at != all))
		return false;
	double gain = exp(teams.y[cores] - teams.y[all]), most = (double)host->threads / host->cores;
	if (gain < SURE * most || roughness(&teams, teams.at) > roughness(&teams, teams.at == cores ? all : cores))
		return false;
	return law_broken(wrong, gain, "x",
	                  "%.3g times as fast on %d hardware threads as on %d cores, where %g is the most", gain,
	                  host->threads, host->cores, most);
}

const struct law laws_of_teams[] = {{judge_beyond_linear, LAW_WORK}, {judge_beyond_core, LAW_POINT}, {NULL}};
