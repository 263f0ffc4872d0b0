/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serial code against one thread and against the best team: what the parallel version costs, and what it brings. */
#include <math.h>

#include "base/mem.h"
#include "tuner/reading/reading.h"

static const double COST_LEAST = 1.1, TWICE = 2, BEYOND = 1.1; /* times its threads */

struct pair {
	size_t problem, serial, one, best; /* rows; SIZE_MAX: none */
};

/* Does a team have what serial code has in the other columns, such as the version, where any team does? */
static bool is_alike(const struct study *study, size_t row, size_t serial, size_t column) {
	for (size_t c = 0; c < study_columns(study); c++) {
		int level = study_row(study, serial)->level[c];
		if (c == column || (int)c == probe_threads(study) || level == study_row(study, row)->level[c])
			continue;
		for (size_t r = 0; r < study_rows(study) && level != STUDY_ABSENT; r++)
			if (study_row(study, r)->level[c] == level && study_same_problem(study, r, serial) &&
			    study_row(study, r)->level[column] != study_row(study, serial)->level[column])
				return false;
	}
	return true;
}

/* The fastest row of serial code. */
static size_t serial_row(const struct study *study, size_t problem, size_t column, int level) {
	size_t least = SIZE_MAX;
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_row(study, r)->level[column] == level && study_usable(study, r) &&
		    study_same_problem(study, r, problem) &&
		    (least == SIZE_MAX || reading_time(study, r) < reading_time(study, least)))
			least = r;
	return least;
}

/* The fastest row of parallel code that is compared with serial code; threads: 0: of any team. */
static size_t team_row(const struct study *study, size_t serial, size_t column, double threads) {
	size_t least = SIZE_MAX;
	for (size_t r = 0; serial != SIZE_MAX && r < study_rows(study); r++) {
		if (study_row(study, r)->level[column] == study_row(study, serial)->level[column] || !study_usable(study, r) ||
		    !study_same_problem(study, r, serial) || !is_alike(study, r, serial, column) ||
		    (threads > 0 && study_value_number(study, r, "threads", 1) != threads))
			continue;
		if (least == SIZE_MAX || reading_time(study, r) < reading_time(study, least))
			least = r;
	}
	return least;
}

static double ratio(const struct study *study, size_t a, size_t b) {
	return a == SIZE_MAX || b == SIZE_MAX ? NAN : reading_time(study, a) / reading_time(study, b);
}

/* One thread of the parallel code takes longer at every problem, or clearly so. */
static void cost_report(const struct study *study, struct findings *findings, const struct pair *pairs, size_t count) {
	double most = 0, least = INFINITY;
	size_t at = 0, known = 0;
	for (size_t i = 0; i < count; i++) {
		double cost = ratio(study, pairs[i].one, pairs[i].serial);
		if (isnan(cost))
			continue;
		at = cost > most ? i : at;
		most = fmax(most, cost);
		least = fmin(least, cost);
		known++;
	}
	if (known == 0 || least <= 1 || most <= COST_LEAST || (known < 3 && most <= study_chance_ratio(study, 2)))
		return;
	char problem[PROBE_TEXT];
	probe_problem(study, pairs[at].problem, problem);
	struct finding *finding = findings_add(
		findings, CONFIDENCE_LOW, 1, "one thread of the parallel code takes %.3g times as long as serial code%s%s",
		most, *problem ? " at " : "", problem);
	for (size_t i = 0; i < count; i++) {
		double cost = ratio(study, pairs[i].one, pairs[i].serial);
		if (!isnan(cost))
			finding_evidence(finding, EVIDENCE_CONTRAST, cost, "x", "%s%s%.4g s instead of %.4g s, %+.1f %%",
			                 probe_problem(study, pairs[i].problem, problem), *problem ? ": " : "",
			                 reading_time(study, pairs[i].one), reading_time(study, pairs[i].serial), 100 * (cost - 1));
	}
}

/* The best team beside serial code in words; NULL: nothing can be told. */
static const char *gain_words(const struct study *study, const struct pair *pair, double *gain, double *team) {
	*gain = ratio(study, pair->serial, pair->best);
	*team = pair->best == SIZE_MAX ? NAN : study_value_number(study, pair->best, "threads", NAN);
	if (!(*gain > 0) || !(*team > 1) || (*gain > 1 && *gain < 1 + probe_limit(study)))
		return NULL;
	return *gain <= 1      ? "no team is faster than serial code"
	       : *gain < TWICE ? "no team is twice as fast as serial code"
	                       : "teams beat serial code";
}

static void gain_report(const struct study *study, struct findings *findings, const struct pair *pair) {
	double gain, team;
	const char *words = gain_words(study, pair, &gain, &team);
	char problem[PROBE_TEXT];
	if (!words)
		return;
	probe_problem(study, pair->problem, problem);
	struct finding *finding =
		findings_add(findings, CONFIDENCE_LOW, 1, "%s%s%s", *problem ? problem : "", *problem ? ": " : "", words);
	probe_about_problem(finding, study, pair->problem);
	char efficiency[PROBE_TEXT] = "more than its threads explain: is it the same code?";
	if (gain <= BEYOND * team)
		snprintf(efficiency, sizeof efficiency, "efficiency %.0f %%", 100 * gain / team);
	finding_evidence(finding, EVIDENCE_SCALING, gain, "x", "%.3g times as fast with %g threads, the best team; %s",
	                 gain, team, efficiency);
}

/* The same of all problems is told once. */
static void gains_report(const struct study *study, struct findings *findings, const struct pair *pairs, size_t count) {
	double least = INFINITY, most = 0, gain, team;
	const char *words = count > 1 ? gain_words(study, &pairs[0], &gain, &team) : NULL;
	for (size_t i = 0; i < count && words; i++) {
		words = gain_words(study, &pairs[i], &gain, &team) == words && gain <= BEYOND * team ? words : NULL;
		least = fmin(least, gain);
		most = fmax(most, gain);
	}
	if (words) {
		struct finding *finding = findings_add(findings, CONFIDENCE_LOW, 1, "%s at each of %zu problems", words, count);
		finding_evidence(finding, EVIDENCE_SCALING, most, "x", "%.3g to %.3g times as fast with the best team", least,
		                 most);
	}
	for (size_t i = 0; i < count && !words; i++)
		gain_report(study, findings, &pairs[i]);
}

static bool is_column(const struct study_column *column, int *level) {
	for (int l = 0; l < (int)column->levels && !column->is_problem && !column->numeric; l++)
		if (probe_word(column, l, reading_serial_words)) {
			*level = l;
			return true;
		}
	return false;
}

static void column_examine(const struct study *study, struct findings *findings, size_t column, int level) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem), teams = 0;
	mem_auto struct pair *pairs = mem_alloc(problems + 1, sizeof *pairs);
	for (size_t i = 0; i < problems; i++) {
		size_t serial = serial_row(study, problem[i], column, level);
		pairs[i] = (struct pair){.problem = problem[i],
		                         .serial = serial,
		                         .one = team_row(study, serial, column, 1),
		                         .best = team_row(study, serial, column, 0)};
		teams += pairs[i].best != SIZE_MAX;
	}
	/* A value "serial" of a parameter such as first_touch also has teams: it is not serial code. */
	bool code = teams > 0;
	for (size_t r = 0; r < study_rows(study) && code; r++)
		code = study_row(study, r)->level[column] != level || study_value_number(study, r, "threads", 1) == 1;
	if (code) {
		cost_report(study, findings, pairs, problems);
		gains_report(study, findings, pairs, problems);
	}
}

static void examine(const struct study *study, struct findings *findings) {
	int threads = probe_threads(study), level;
	for (size_t c = 0; c < study_columns(study) && threads >= 0; c++) {
		if (!is_column(study_column(study, c), &level))
			continue;
		reading_auto struct reading_list list = reading_series_find(study, (size_t)threads, 3);
		if (list.count && reading_follows(study, (size_t)threads, &list) != READING_NO)
			column_examine(study, findings, c, level);
	}
}

const struct diagnosis reading_serial = {
	.name = "serial",
	.summary = "serial code against one thread, and against the best team",
	.examine = examine,
};
