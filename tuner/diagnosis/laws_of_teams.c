/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A team gains no more than its threads and caches explain, a core no more than its hardware threads, and no point lies
 * alone beside its curve. That bends one way only: the more members, the less another one gains (Amdahl, Validity of
 * the single processor approach, 1967; Gunther, Guerrilla capacity planning, 2007), so that the lines through the
 * points on either side of a team say how fast it can be at best. A cache that the data come to fit into breaks that
 * from one side only, and a sharp optimum from none. What is off for all configurations alike is real. */
#include <math.h>

#include "base/stats.h"
#include "tuner/diagnosis/laws_impl.h"

enum { POINTS = 3, FAST_POINTS = 4, SLOW_POINTS = 5, SMOOTH_POINTS = 4, ROWS_MOST = 400 /* to compare all curves */ };
/* Ratios of times: of what is alike, of a gain that the next team loses, of a gain to the members of a team. SMOOTH: of
 * a suspect's distance to those of others. */
static const double LINEAR = 4, ROUGH = 0.3, SURE = 0.995, ALIKE = 1.2, LOST = 1.3, SUPER = 1.3, STEEP = 1.5,
					SMOOTH = 3, CHANCE = 0.01;

/* Rows that differ from one in one column of numbers alone, the least number first. */
struct line {
	size_t count, at; /* at: the row itself */
	size_t row[CURVE_MAX];
	double n[CURVE_MAX], x[CURVE_MAX], y[CURVE_MAX]; /* the numbers, their logarithms, logarithms of times */
};
static bool is_same_but(const struct study *study, size_t a, size_t b, int column) {
	for (size_t c = 0; c < study_columns(study); c++)
		if ((int)c != column && study_row(study, a)->level[c] != study_row(study, b)->level[c])
			return false;
	return true;
}

static bool line_find(const struct study *study, size_t row, int column, struct line *line) {
	line->count = 0;
	for (size_t r = 0; column >= 0 && r < study_rows(study) && line->count < CURVE_MAX; r++) {
		double n = study_number(study, r, (size_t)column);
		size_t at = line->count;
		if (study_row(study, r)->over || !(n > 0) || !is_same_but(study, row, r, column))
			continue;
		for (line->count++; at > 0 && line->n[at - 1] > n; at--) {
			line->n[at] = line->n[at - 1];
			line->x[at] = line->x[at - 1];
			line->y[at] = line->y[at - 1];
			line->row[at] = line->row[at - 1];
		}
		line->n[at] = n;
		line->x[at] = log(n);
		line->y[at] = log(study_row(study, r)->value);
		line->row[at] = r;
	}
	for (line->at = 0; line->at < line->count && line->row[line->at] != row;)
		line->at++;
	return line->at < line->count;
}

/* The line through the point of a row that has the same number, but differs in other columns. */
static bool other_find(const struct study *study, size_t row, int column, const struct line *line, struct line *other) {
	return row != line->row[line->at] && study_number(study, row, (size_t)column) == line->n[line->at] &&
	       line_find(study, row, column, other);
}

/* Where the straight line through the next two points on one side puts a point; NAN if there are fewer. Two that lie
 * close together say little. */
static double reach(const struct line *line, size_t i, size_t side) {
	size_t a = i + side, b = a + side;
	while (b < line->count && fabs(line->x[b] - line->x[a]) < fabs(line->x[a] - line->x[i]) / 2)
		b += side;
	if (a >= line->count || b >= line->count)
		return NAN;
	return line->y[a] + (line->y[b] - line->y[a]) / (line->x[b] - line->x[a]) * (line->x[i] - line->x[a]);
}

/* Does a team gain more than it has members? */
static bool is_super(const struct line *line) {
	return line->y[0] - line->y[line->at] > line->x[line->at] - line->x[0] + log(SUPER);
}

/* How far a team between two others lies above (positive) or below what both sides say of it; 0 if one of them agrees
 * with it. It is expected to gain no more than it has members, and to lose no more than it gained. */
static double apart(const struct line *line) {
	size_t i = line->at;
	if (i == 0 || i + 1 >= line->count || line->count < FAST_POINTS)
		return 0;
	double before = line->y[i - 1], own = line->y[i], after = line->y[i + 1];
	double left = reach(line, i, SIZE_MAX), right = reach(line, i, 1);
	double linear = before - (line->x[i] - line->x[i - 1]);
	right = isnan(right) ? after : right;
	double high = fmax(isnan(left) ? before : fmax(left, linear), right);
	if (own > high)
		return line->count < SLOW_POINTS ? 0 : own - high;
	double low = isnan(left) ? linear : fmax(fmin(left, before), linear);
	double lost = after - own > log(is_super(line) ? ALIKE : LOST) ? linear : -INFINITY;
	return fmin(0, own - fmax(fmin(low, right), lost));
}

/* How far the points but one lie above the lines through their neighbours, at most. */
static double bumps(const struct line *line, size_t without) {
	size_t a = SIZE_MAX, b = SIZE_MAX;
	double most = 0;
	for (size_t c = 0; c < line->count; c++) {
		if (c == without)
			continue;
		if (a != SIZE_MAX)
			most = fmax(most, line->y[b] - line->y[a] -
			                      (line->x[b] - line->x[a]) / (line->x[c] - line->x[a]) * (line->y[c] - line->y[a]));
		a = b;
		b = c;
	}
	return most;
}

/* Do both sides of its own line contradict a point, where no other line has the like? */
static double against_own(const struct study *study, const struct line *line, int column) {
	double far = apart(line);
	struct line other;
	if (!law_is_far(far) || !(is_super(line) || fabs(far) > SMOOTH * bumps(line, line->at)))
		return 0;
	for (size_t r = 0; r < study_rows(study); r++) {
		double also = other_find(study, r, column, line, &other) ? apart(&other) : 0;
		if (also * far > 0 && fabs(also) > fmax(log(ALIKE), fabs(far) / 2))
			return 0;
	}
	return far;
}

/* How far a point lies above what another line says, by the median of all points that both have; NAN if it lacks some.
 * without: a point that does not count. */
static double above(const struct line *line, size_t i, const struct line *other, size_t without) {
	double more[CURVE_MAX], at = NAN;
	size_t count = 0, both = 0;
	for (size_t k = 0; k < other->count; k++)
		at = other->n[k] == line->n[i] ? other->y[k] : at;
	for (size_t j = 0; j < line->count; j++)
		for (size_t k = 0; k < other->count; k++) {
			both += line->n[j] == other->n[k];
			if (line->n[j] == other->n[k] && j != i && j != without)
				more[count++] = line->y[i] - line->y[j] - (at - other->y[k]);
		}
	return both == line->count ? stats_median(more, count) : NAN;
}

static bool is_parallel(const struct line *line, const struct line *other, double far) {
	for (size_t j = 0; j < line->count; j++)
		if (j != line->at && SMOOTH * fabs(above(line, j, other, line->at)) > fabs(far))
			return false;
	return true;
}

/* How much more a team gains than it has more members than the next smaller one: the point itself, if that is too fast
 * (far < 0), otherwise the next larger one; -INFINITY: there is no such pair of teams. */
static double beyond(const struct line *line, double far) {
	size_t fast = far > 0 ? line->at + 1 : line->at;
	return fast == 0 || fast == line->count ? -INFINITY
	                                        : line->y[fast - 1] - line->y[fast] - (line->x[fast] - line->x[fast - 1]);
}

/* How far the other lines say that a point is off, at least: most of them, which have to be parallel to its own but for
 * this point, and none must have the like. If there is one, only a gain beyond the members tells which of both is off;
 * and at an end a curve may turn for itself unless there is such a gain. */
static double against_others(const struct study *study, const struct line *line, int column) {
	struct line other;
	double least = INFINITY, sign = 0;
	size_t parallel = 0, all = 0;
	for (size_t r = 0; r < study_rows(study) && study_rows(study) <= ROWS_MOST; r++) {
		double far = other_find(study, r, column, line, &other) ? above(line, line->at, &other, SIZE_MAX) : NAN;
		if (isnan(far))
			continue;
		if (!(fabs(far) > log(ALIKE)) || far * sign < 0)
			return 0;
		sign = far < 0 ? -1 : 1;
		if (far < 0 && line->at + 1 == line->count && !study_same_problem(study, r, line->row[line->at]))
			continue; /* the caches of all members may hold a smaller problem */
		all++;
		if (!is_parallel(line, &other, far))
			continue;
		parallel++;
		least = fmin(least, fabs(far));
	}
	double gain = beyond(line, sign);
	bool end = line->at == 0 || line->at + 1 == line->count;
	size_t witnesses = gain > log(STEEP) ? 1 : 2;
	return parallel < witnesses || 2 * parallel <= all || (end && gain < 0) ? 0 : sign * least;
}

static bool is_other(void *row, const struct study *study, size_t other) {
	(void)study;
	return other != *(size_t *)row;
}

static bool is_lone_in(const struct study *study, size_t row, int column, struct wrong *wrong) {
	struct line line;
	if (!line_find(study, row, column, &line) || line.count < POINTS)
		return false;
	double own = against_own(study, &line, column), far = own != 0 ? own : against_others(study, &line, column);
	if (!law_is_far(far) || (!wrong->few && !(follows_chance(study, column, NULL, is_other, &row) <= CHANCE)))
		return false;
	return law_broken(wrong, exp(fabs(far)), "x", "%.3g times as %s as %s suggest", exp(fabs(far)),
	                  far > 0 ? "slow" : "fast",
	                  own != 0 ? "its neighbours on both sides of the curve" : "all other curves");
}

/* Other numbers, as a block or a depth of unrolling, choose the code, and that may make it jump anywhere. */
static bool is_lone(const struct study *study, size_t row, struct wrong *wrong) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->numeric && !column->is_problem && probe_is_team(column) && is_lone_in(study, row, (int)c, wrong))
			return true;
	}
	return false;
}

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
		double slope = last == SIZE_MAX ? NAN : (teams->y[i] - teams->y[last]) / (teams->x[i] - teams->x[last]);
		sum += isfinite(before) && isfinite(slope) ? fabs(slope - before) : 0;
		before = slope;
		last = i;
	}
	return sum;
}

/* Do times follow the teams? In a table too small to tell, the other points of this curve must lie on a smooth one. */
static bool is_curve(const struct line *teams, const struct wrong *wrong) {
	return wrong->teams_known || (wrong->few && teams->count >= SMOOTH_POINTS && roughness(teams, teams->at) <= ROUGH);
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

const struct law laws_of_teams[] = {
	{judge_beyond_linear, LAW_WORK}, {judge_beyond_core, LAW_POINT}, {is_lone, LAW_POINT}, {0}};
