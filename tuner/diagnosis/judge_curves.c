/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws about curves over teams and sizes, and about parts. */
#include "tuner/diagnosis/judge_impl.h"

#include <math.h>
#include <stdarg.h>

enum { POINTS_LEAST = 4, SPIKE_POINTS = 5, SIZES_FLAT = 3 };
static const double LINEAR = 4, SUPER = 1.3, SUPER_STEP = 1.5, ROUGH = 0.3, SPIKE = 1.8, BUMP = 1.2, WORK = 16,
					SURE = 0.995, UNREAL = 3000, WHOLE_LEAST = 0.85, WHOLE = 1.05, WHOLE_MOST = 1.1;

/* The rows that differ from one in the size of the team alone, the smallest team first. */
struct teams {
	size_t count, at; /* at: the row itself */
	size_t row[CURVE_MAX];
	double n[CURVE_MAX], y[CURVE_MAX]; /* threads, logarithms of times */
};

static bool is_same_but(const struct study *study, size_t a, size_t b, int column) {
	for (size_t c = 0; c < study_columns(study); c++)
		if ((int)c != column && study_row(study, a)->level[c] != study_row(study, b)->level[c])
			return false;
	return true;
}

static bool teams_find(const struct study *study, size_t row, struct teams *teams) {
	int threads = probe_threads(study);
	teams->count = 0;
	for (size_t r = 0; threads >= 0 && r < study_rows(study) && teams->count < CURVE_MAX; r++) {
		double team = study_number(study, r, (size_t)threads);
		size_t at = teams->count;
		if (study_row(study, r)->over || !(team >= 1) || !is_same_but(study, row, r, threads))
			continue;
		for (teams->count++; at > 0 && teams->n[at - 1] > team; at--) {
			teams->n[at] = teams->n[at - 1];
			teams->y[at] = teams->y[at - 1];
			teams->row[at] = teams->row[at - 1];
		}
		teams->n[at] = team;
		teams->y[at] = log(study_row(study, r)->value);
		teams->row[at] = r;
	}
	for (teams->at = 0; teams->at < teams->count && teams->row[teams->at] != row;)
		teams->at++;
	return teams->at < teams->count;
}

/* How rough the curve is without a point: the bends of its lines in logarithms. */
static double roughness(const struct teams *teams, size_t without) {
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
static bool is_curve(const struct teams *teams, const struct wrong *wrong) {
	return wrong->teams_known || (wrong->few && teams->count >= POINTS_LEAST && roughness(teams, teams->at) <= ROUGH);
}

static bool suspect(struct wrong *wrong, double value, const char *text, ...) __attribute__((format(printf, 3, 4)));
static bool suspect(struct wrong *wrong, double value, const char *text, ...) {
	va_list args;
	va_start(args, text);
	vsnprintf(wrong->text, sizeof wrong->text, text, args);
	va_end(args);
	wrong->kind = EVIDENCE_SCALING;
	wrong->value = value;
	wrong->unit = "x";
	return true;
}

/* Is it far faster than the number of threads explains, and than the next smaller team suggests? A cache that holds the
 * data of a larger team holds that of a still larger one as well, so that less is enough where the gain is lost again.
 */
bool judge_beyond_linear(const struct study *study, size_t row, struct wrong *wrong) {
	struct teams teams;
	if (!teams_find(study, row, &teams) || teams.at == 0)
		return false;
	size_t i = teams.at;
	double gain = exp(teams.y[0] - teams.y[i]), all = gain * teams.n[0] / teams.n[i];
	double step = exp(teams.y[i - 1] - teams.y[i]) * teams.n[i - 1] / teams.n[i];
	bool lost = i + 1 < teams.count && teams.n[i + 1] <= probe_room(study) && teams.y[i + 1] > teams.y[i];
	bool far = all > LINEAR && step > LINEAR;
	if (!is_curve(&teams, wrong) || !(far || (lost && all > SUPER && step > SUPER_STEP)))
		return false;
	return suspect(wrong, gain, "%.4g times as fast with %g threads as with %g%s", gain, teams.n[i], teams.n[0],
	               far ? "" : ", which the next larger team loses again, so that no cache explains it");
}

/* Two hardware threads of a core can do at most twice the work of one: one of both times is wrong, the one without
 * which the curve is smoother. */
bool judge_beyond_core(const struct study *study, size_t row, struct wrong *wrong) {
	const struct study_host *host = study_host(study);
	struct teams teams;
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
	return suspect(wrong, gain, "%.3g times as fast on %d hardware threads as on %d cores, where %g is the most", gain,
	               host->threads, host->cores, most);
}

/* How far a point lies above both of its neighbours, as a ratio; 0: it is an end. */
static double spike_of(const struct teams *teams, size_t i) {
	return i == 0 || i + 1 >= teams->count ? 0 : exp(teams->y[i] - fmax(teams->y[i - 1], teams->y[i + 1]));
}

/* Is one point far above both neighbours, on a curve without other bumps, where no other curve has a bump? */
bool judge_is_spike(const struct study *study, size_t row, struct wrong *wrong) {
	struct teams teams, other;
	if (!teams_find(study, row, &teams) || !is_curve(&teams, wrong) || teams.count < SPIKE_POINTS ||
	    spike_of(&teams, teams.at) < SPIKE)
		return false;
	size_t at = teams.at;
	for (size_t i = 0; i < teams.count; i++)
		if (i != at && spike_of(&teams, i) > BUMP)
			return false;
	for (size_t r = 0; r < study_rows(study); r++)
		if (r != row && study_number(study, r, (size_t)probe_threads(study)) == teams.n[at] &&
		    teams_find(study, r, &other) && spike_of(&other, other.at) > BUMP)
			return false;
	return suspect(wrong, spike_of(&teams, at), "%.3g times as long as both %g and %g threads take, unlike all others",
	               spike_of(&teams, at), teams.n[at - 1], teams.n[at + 1]);
}

/* The largest of a configuration's times at all sizes over the smallest; NAN if one is missing. rises: or if a larger
 * size takes less time. */
static double range_of(const struct study *study, size_t row, const struct wrong *wrong, bool rises) {
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < wrong->problems; i++) {
		double time = judge_time_at(study, row, wrong->problem[i]);
		if (!(time > 0) || (rises && time < most))
			return NAN;
		least = fmin(least, time);
		most = fmax(most, time);
	}
	return wrong->problems < SIZES_FLAT ? NAN : most / least;
}

/* Is the time the same at any size, while the work grows, and so short that it would be thousands of times as fast as
 * other code? Then it is the launch that was timed, and nothing waited for the work. All other code must show how the
 * work grows. */
bool judge_ignores_size(const struct study *study, size_t row, struct wrong *wrong) {
	size_t large = wrong->problem[wrong->problems ? wrong->problems - 1 : 0];
	double own = range_of(study, row, wrong, false), time = own > 0 ? judge_time_at(study, row, large) : NAN;
	double grows = INFINITY, other = 0;
	for (size_t r = 0; time > 0 && r < study_rows(study); r++) {
		if (study_row(study, r)->over || !study_same_problem(study, r, large))
			continue;
		bool slow = study_row(study, r)->value > UNREAL * time;
		double range = range_of(study, r, wrong, slow);
		if (!slow && !(range < WORK))
			return false;
		if (slow && !(range >= WORK * own))
			return false;
		grows = slow ? fmin(grows, range) : grows;
		other = slow ? study_row(study, r)->value : other;
	}
	return other > 0 &&
	       suspect(wrong, other / time,
	               "it hardly changes with the size (%.3g times), where other code takes %.3g times as long at the "
	               "largest one: only the launch was timed, and nothing waited for the work to end (synchronize before "
	               "the clock is read)",
	               own, grows);
}

bool judge_exceeds_whole(const struct study *study, size_t row, struct wrong *wrong) {
	struct judge_parts parts;
	size_t fit = 0, rows = study_rows(study);
	judge_parts_find(study, &parts);
	double share = judge_parts_share(study, row, &parts);
	for (size_t r = 0; r < rows && share > WHOLE_MOST; r++)
		fit += judge_parts_share(study, r, &parts) <= WHOLE && judge_parts_share(study, r, &parts) >= WHOLE_LEAST;
	if (parts.count < 2 || 3 * fit < 2 * rows)
		return false;
	return suspect(wrong, share, "its parts add up to %.0f %% of the whole, elsewhere to %.0f %% or less", 100 * share,
	               100 * WHOLE);
}
