/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weak scaling: the size grows with the team, so that each member has the same work, and times that stay the same are
 * ideal (Gustafson, Reevaluating Amdahl's law, 1988). */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/reading/reading.h"

enum { POINTS_LEAST = 3, TEAMS_LEAST = 2, LOGARITHM = 4, LOOSE = 5 };
static const double SAME = 0.04, IDEAL = 0.9, BEYOND = 1.5, ALONE = 1.1, GAIN = 1.5, TEAM_MOST = 1e5;
static const char cubic_kernels[] = "fw floyd warshall gemm matmul mm dgemm sgemm lu cholesky";

struct weak {
	size_t *rows, count; /* in the order of teams */
	int team;            /* column */
	int size;            /* column that grows with the team; -1: the table says that the work of each is constant */
	bool joint;          /* all sizes do so together: the sides of a grid */
	int power; /* size^power grows as the team does; LOGARITHM: 2^size does, as the scale of a graph; LOOSE: the
	            * size grows, in no known proportion */
};

static bool is_team(const struct study_column *column) {
	return !column->is_problem && column->numeric && column->levels >= TEAMS_LEAST && probe_is_team(column);
}

static bool is_of_each(const char *name) {
	return strcasestr(name, " per ") || strcasestr(name, "_per_") || strchr(name, '/');
}

static bool is_size(const struct study *study, const struct weak *weak, size_t column) {
	const struct study_column *own = study_column(study, column);
	return (int)column == weak->size || (weak->joint && own->is_problem && own->numeric);
}

/* The size of a row, or the product of its sides. */
static double size_of(const struct study *study, const struct weak *weak, size_t row) {
	double size = 1;
	for (size_t c = 0; c < study_columns(study); c++)
		size *= is_size(study, weak, c) ? study_number(study, row, c) : 1;
	return size;
}

/* Do two rows differ in nothing but the team and the size? */
static bool is_same_series(const struct study *study, const struct weak *weak, size_t a, size_t b) {
	for (size_t c = 0; c < study_columns(study); c++)
		if ((int)c != weak->team && !is_size(study, weak, c) &&
		    study_row(study, a)->level[c] != study_row(study, b)->level[c])
			return false;
	return true;
}

/* Equal work of each does not take much less time with more members, whatever a name says. */
static bool some_gain(const struct study *study) {
	struct weak weak = {.size = -1};
	for (size_t c = 0; c < study_columns(study) && !study_is_rate(study); c++)
		for (size_t i = 0; i < study_rows(study) * study_rows(study) && is_team(study_column(study, c)); i++) {
			size_t a = i / study_rows(study), b = i % study_rows(study);
			weak.team = (int)c;
			if (is_same_series(study, &weak, a, b) && study_number(study, b, c) > study_number(study, a, c) &&
			    reading_time(study, a) > GAIN * reading_time(study, b))
				return true;
		}
	return false;
}

/* Is a rate of each thread the inverse of the time, which is then that of each thread's own work? */
static bool is_inverse(const struct study *study, const char *name) {
	static const double NEAR = 0.05;
	double first = study_figure(study, 0, name) * reading_time(study, 0);
	bool inverse = strcasestr(name, "/thread") || strcasestr(name, "per thread") || strcasestr(name, "per-thread");
	for (size_t r = 0; r < study_rows(study) && inverse; r++)
		inverse = fabs(study_figure(study, r, name) * reading_time(study, r) / first - 1) <= NEAR;
	return inverse;
}

/* A member of the problem is the work of one member of a team, "n per rank", or a column is named "weak efficiency". */
static bool work_is_named(const struct study *study) {
	js_each (figure, json_object_get(study_row(study, 0)->detail, "figures"))
		if (probe_text_has(js_string_or(figure, "name", ""), "weak") ||
		    is_inverse(study, js_string_or(figure, "name", "")))
			return true;
	js_members (name, value, study_row(study, 0)->problem)
		if (is_of_each(name) &&
		    (study_find(study, name) < 0 || study_column(study, (size_t)study_find(study, name))->numeric))
			return true;
	return false;
}

bool reading_work_each(const struct study *study) {
	return work_is_named(study) && !some_gain(study);
}

static int by_team(const void *a, const void *b, void *ctx) {
	const struct weak *weak = ((void **)ctx)[0];
	const struct study *study = ((void **)ctx)[1];
	double x = study_number(study, *(const size_t *)a, (size_t)weak->team),
		   y = study_number(study, *(const size_t *)b, (size_t)weak->team);
	return (x > y) - (x < y);
}

/* Each team once. */
static bool is_single(const struct study *study, const struct weak *weak) {
	for (size_t i = 1; i < weak->count; i++)
		if (study_number(study, weak->rows[i], (size_t)weak->team) ==
		    study_number(study, weak->rows[i - 1], (size_t)weak->team))
			return false;
	return weak->count >= TEAMS_LEAST;
}

static bool grows_with(const struct study *study, const struct weak *weak, int power) {
	double first = NAN;
	for (size_t i = 1; i < weak->count && power == LOOSE; i++)
		if (weak->count < POINTS_LEAST || study_number(study, weak->rows[i], (size_t)weak->team) > TEAM_MOST ||
		    !(size_of(study, weak, weak->rows[i]) > size_of(study, weak, weak->rows[i - 1])))
			return false;
	for (size_t i = 0; i < weak->count && power != LOOSE; i++) {
		double size = size_of(study, weak, weak->rows[i]);
		double each = (power == LOGARITHM ? exp2(size) : pow(size, power)) /
		              study_number(study, weak->rows[i], (size_t)weak->team);
		first = i ? first : each;
		if (!(fabs(log(each / first)) <= power * SAME))
			return false;
	}
	return true;
}

/* How many times the work of the smallest team a row has. The size may grow so that the memory of each member stays the
 * same, while the work of a matrix's product or of all shortest paths grows as its third power. */
static double work_of(const struct study *study, const struct weak *weak, size_t row) {
	double first = study_work(study, weak->rows[0], "ops"), own = study_work(study, row, "ops");
	double size = size_of(study, weak, row) / size_of(study, weak, weak->rows[0]);
	if (first > 0 && own > 0)
		return own / first;
	if (weak->power == 2 && probe_text_has(study_kernel(study), cubic_kernels))
		return size * size * size;
	return study_number(study, row, (size_t)weak->team) / study_number(study, weak->rows[0], (size_t)weak->team);
}

/* The time of the smallest team over that of another one, by the work of both. A rate is that of the whole team, which
 * should grow with it.
 */
static double efficiency_of(const struct study *study, const struct weak *weak, size_t row) {
	double members =
		study_number(study, row, (size_t)weak->team) / study_number(study, weak->rows[0], (size_t)weak->team);
	double work = weak->size < 0 ? members : work_of(study, weak, row);
	return reading_time(study, weak->rows[0]) / reading_time(study, row) * (study_is_rate(study) ? 1 : work) / members;
}

/* Where all members together get no more done than one alone, the work may have grown faster than the size. */
static bool may_be_square(const struct study *study, const struct weak *weak, double efficiency, double members) {
	bool linear = weak->size >= 0 && weak->power == 1 && !study_is_rate(study);
	return linear && efficiency * members <= ALONE && !(study_work(study, weak->rows[0], "ops") > 0);
}

/* Nobody knows how much more work it is. */
static void loose_report(const struct study *study, struct findings *findings, const struct weak *weak) {
	size_t first = weak->rows[0], last = weak->rows[weak->count - 1];
	const char *team = study_column(study, (size_t)weak->team)->name;
	struct finding *finding = findings_add(
		findings, CONFIDENCE_MEDIUM, 1,
		"the work grows with %s: at %g the %s is %.3g times that at %g, and the time %.3g times as long", team,
		study_number(study, last, (size_t)weak->team),
		weak->joint ? "product of all sizes" : study_column(study, (size_t)weak->size)->name,
		size_of(study, weak, last) / size_of(study, weak, first), study_number(study, first, (size_t)weak->team),
		reading_time(study, last) / reading_time(study, first));
	finding_about(finding, study, (size_t)weak->team, study_row(study, last)->level[weak->team]);
}

/* best: of other sizes; NAN if there are none. */
static void report(const struct study *study, struct findings *findings, const struct weak *weak, double best) {
	static const char *const powers[] = {"", "", "^2", "^3", ""};
	const char *team = study_column(study, (size_t)weak->team)->name;
	size_t first = weak->rows[0], last = weak->rows[weak->count - 1];
	double efficiency = efficiency_of(study, weak, last);
	double from = study_number(study, first, (size_t)weak->team), to = study_number(study, last, (size_t)weak->team);
	char range[48] = "";
	if (efficiency > BEYOND && !study_is_rate(study)) {
		findings_add(
			findings, CONFIDENCE_MEDIUM, 1,
			"weak scaling: %g %s are %.3g times as fast as %g, though each has the same work: no team gains that, and "
			"the time of %g is suspect: measure it again",
			to, team, reading_time(study, first) / reading_time(study, last), from, from);
		return;
	}
	if (best > BEYOND && !study_is_rate(study)) /* the size does not tell the work */
		return;
	if (100 * best >= 100 * efficiency + 1)
		snprintf(range, sizeof range, " to %.0f", 100 * best);
	bool square = may_be_square(study, weak, efficiency, to / from);
	if (square)
		snprintf(range, sizeof range, " %%, or %.0f", 100 * efficiency * to / from);
	struct finding *finding = findings_add(
		findings, weak->count > POINTS_LEAST ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW, 1,
		"weak scaling: with %g %s, each with the %s that %g %s, the efficiency is %.0f%s %%%s%s", to, team,
		square ? "size" : "work", from, from == 1 ? "has alone" : "had", 100 * efficiency, range,
		square ? " if the work grows as the square of the size" : "",
		efficiency >= IDEAL ? ", which is near the ideal" : ": the rest is what the members cost each other");
	finding_about(finding, study, (size_t)weak->team, study_row(study, last)->level[weak->team]);
	for (size_t i = 1; i < weak->count; i++)
		finding_evidence(finding, EVIDENCE_SCALING, efficiency_of(study, weak, weak->rows[i]), NULL, "%g %s: %.0f %%",
		                 study_number(study, weak->rows[i], (size_t)weak->team), team,
		                 100 * efficiency_of(study, weak, weak->rows[i]));
	if (weak->size >= 0)
		finding_evidence(finding, EVIDENCE_FIGURE, weak->power, NULL, "%s%s%s grows as %s does",
		                 weak->power == LOGARITHM ? "2^" : "",
		                 weak->joint ? "the product of all sizes" : study_column(study, (size_t)weak->size)->name,
		                 powers[weak->power], team);
}

/* Does the size grow as the team does in each series of several teams? Sets `worst` to the one with the least
 * efficiency of the largest team, and `most` to the best of these; they use the memory of `rows`. */
static bool series_grow(const struct study *study, const struct weak *all, size_t *rows, struct weak *worst,
                        double *most) {
	double least = INFINITY;
	size_t used = 0, first = 0;
	*most = NAN;
	for (size_t i = 0; i < all->count; i++) {
		struct weak weak = *all;
		bool seen = false;
		for (size_t k = 0; k < i && !seen; k++)
			seen = is_same_series(study, all, all->rows[k], all->rows[i]);
		if (seen)
			continue;
		weak.rows = rows + (first = used);
		for (size_t k = i; k < all->count; k++)
			if (is_same_series(study, all, all->rows[i], all->rows[k]))
				rows[used++] = all->rows[k];
		weak.count = used - first;
		if (weak.count == 1) { /* as that of one thread for each rank, where ranks were varied with two each */
			used = first;
			continue;
		}
		if (!is_single(study, &weak) || !grows_with(study, &weak, weak.power))
			return false;
		double efficiency = efficiency_of(study, &weak, weak.rows[weak.count - 1]);
		*worst = efficiency < least ? weak : *worst;
		least = fmin(least, efficiency);
		*most = first ? fmax(*most, efficiency) : efficiency;
	}
	*most = least < *most ? *most : NAN;
	return used > 0;
}

/* Is there a size, or the product of all, that grows with the team by one of these powers? */
static bool powers_report(const struct study *study, struct findings *findings, struct weak *all, int from, int to) {
	mem_auto size_t *rows = mem_alloc(all->count + 1, sizeof *rows);
	size_t columns = study_columns(study), sides = 0;
	for (size_t c = 0; c < columns; c++)
		sides += study_column(study, c)->is_problem && study_column(study, c)->numeric;
	for (size_t c = sides > 1 ? 0 : columns; c < 2 * columns; c++) {
		all->size = (int)(c % columns);
		all->joint = c < columns;
		if (!study_column(study, c % columns)->is_problem || !study_column(study, c % columns)->numeric)
			continue;
		for (all->power = from; all->power <= to; all->power++) {
			struct weak worst = *all;
			double most;
			if (!series_grow(study, all, rows, &worst, &most))
				continue;
			if (all->power == LOOSE)
				loose_report(study, findings, &worst);
			else
				report(study, findings, &worst, most);
			return true;
		}
	}
	return false;
}

static void sizes_report(const struct study *study, struct findings *findings, struct weak *all) {
	if (!powers_report(study, findings, all, 1, LOGARITHM) && !study_is_rate(study))
		powers_report(study, findings, all, LOOSE, LOOSE);
}

/* Sizes of the work of each: a statement for all of them, from the worst to the best efficiency of the largest team. */
static bool each_report(const struct study *study, struct findings *findings, size_t column) {
	struct weak worst = {0};
	double least = INFINITY, most = 0;
	reading_auto struct reading_list list = reading_series_find(study, column, POINTS_LEAST);
	for (size_t i = 0; i < list.count; i++) {
		struct weak weak = {list.series[i].rows, list.series[i].count, (int)column, -1, false, 0};
		double efficiency = efficiency_of(study, &weak, weak.rows[weak.count - 1]);
		worst = efficiency < least ? weak : worst;
		least = fmin(least, efficiency);
		most = fmax(most, efficiency);
	}
	if (list.count)
		report(study, findings, &worst, list.count > 1 ? most : NAN);
	return list.count > 0;
}

static void examine(const struct study *study, struct findings *findings) {
	size_t *rows = mem_alloc(study_rows(study) + 1, sizeof *rows), count = 0;
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_usable(study, r))
			rows[count++] = r;
	for (size_t c = 0; c < study_columns(study) && count >= TEAMS_LEAST; c++) {
		struct weak weak = {.rows = rows, .count = count, .team = (int)c};
		void *ctx[] = {&weak, (void *)study};
		if (!is_team(study_column(study, c)))
			continue;
		qsort_r(rows, count, sizeof *rows, by_team, ctx);
		if (!reading_work_each(study) || !each_report(study, findings, c))
			sizes_report(study, findings, &weak);
	}
	free(rows);
}

const struct diagnosis reading_weak = {
	.name = "weak",
	.summary = "the efficiency of teams in which each thread has the same amount of work",
	.examine = examine,
};
