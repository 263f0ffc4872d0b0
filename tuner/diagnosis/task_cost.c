/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of work that are too small: making a task, or a call, costs more than the work in it. The number of pieces is
 * inverse to their size, so that the time falls with the size until the work outweighs that (Mohr, Kranz, Halstead,
 * Lazy task creation, 1991). Pieces that are too large leave threads without any. */
#include <math.h>

#include "tuner/diagnosis/diagnosis_probe.h"

static const char grain_names[] = "cutoff cut-off cut_off grain granularity leaf base_case task_size tasksize task";
static const char counts[] = "tasks ntasks num_tasks"; /* of processes, as batch systems call them */
static const char without[] = "none no off without never unlimited";
/* The cost must follow the number of pieces at least with this power, and one thread must pay this much for them. */
static const double POWER_LEAST = 0.3, SINGLE_LEAST = 1.3;
enum { LEVELS_LEAST = 3, PAIRS_CLEAR = 3, LEVELS_MOST = 64 };

static struct study_ratio compared(const struct study *study, size_t column, int a, int b, size_t problem_row,
                                   double least, double most) {
	struct probe_scope scope = {-1, -1, problem_row, least, most};
	return study_contrast(study, column, a, b, probe_in, &scope);
}

/* The value at which the smallest one loses most. */
static int best_find(const struct study *study, size_t column, size_t problem_row, struct study_ratio *most) {
	int best = -1;
	for (int l = 1; l < (int)study_column(study, column)->levels; l++) {
		struct study_ratio one = compared(study, column, 0, l, problem_row, 0, 0);
		if (one.pairs && (best < 0 || one.ratio > most->ratio)) {
			*most = one;
			best = l;
		}
	}
	return best;
}

/* The power of the number of pieces that the time follows from the smallest to the next size. */
static double power_of(const struct study *study, size_t column, size_t problem_row) {
	const struct study_column *one = study_column(study, column);
	struct study_ratio step = compared(study, column, 0, 1, problem_row, 0, 0);
	double smaller = value_number(one->level[0]), larger = value_number(one->level[1]);
	return smaller > 0 && step.pairs ? log(step.ratio) / log(larger / smaller) : NAN;
}

static double team_most(const struct study *study) {
	double most = NAN;
	for (size_t r = 0; r < study_rows(study); r++)
		most = fmax(most, study_value_number(study, r, "threads", NAN));
	return most;
}

static struct finding *small_add(const struct study *study, struct findings *findings, size_t column, int best,
                                 size_t problem_row, const struct study_ratio *cost, double team) {
	char own[PROBE_TEXT], other[PROBE_TEXT], problem[PROBE_TEXT];
	probe_level(study, column, 0, own);
	probe_level(study, column, best, other);
	return findings_add(
		findings, cost->pairs >= PAIRS_CLEAR ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW, cost->ratio,
		"%s%s makes pieces that are too small: it takes %.3g times as long as %s, because creating a %s "
		"costs more than the work in it",
		own, probe_at(study, problem_row, problem), cost->ratio, other, team > 1 ? "task" : "call");
}

/* The other end: as many pieces as threads are needed. */
static void large_add(const struct study *study, struct finding *finding, size_t column, int best, size_t problem_row,
                      double team) {
	int last = (int)study_column(study, column)->levels - 1;
	struct study_ratio cost = compared(study, column, last, best, problem_row, 0, 0);
	char own[PROBE_TEXT];
	if (team > 1 && last > best && cost.pairs && probe_over(study, &cost))
		finding_evidence(finding, EVIDENCE_CONTRAST, cost.ratio, "x",
		                 "%s takes %.3g times as long: so few pieces leave some of %g threads without work",
		                 probe_level(study, column, last, own), cost.ratio, team);
}

static void sizes_examine(const struct study *study, struct findings *findings, size_t column, size_t problem_row) {
	struct study_ratio cost = {.ratio = NAN};
	int best = best_find(study, column, problem_row, &cost);
	double power = power_of(study, column, problem_row), team = team_most(study);
	struct probe_case one = {.ratio = cost};
	if (best < 1 || !(power >= POWER_LEAST) || !(cost.ratio > study_chance_ratio(study, LEVELS_LEAST)) ||
	    !probe_hold(study, &one, 1))
		return;
	struct finding *finding = small_add(study, findings, column, best, problem_row, &cost, team);
	char own[PROBE_TEXT];
	finding_about(finding, study, column, 0);
	probe_about_problem(finding, study, problem_row);
	finding_evidence(finding, EVIDENCE_CONTRAST, cost.ratio, "x", "[%.3g, %.3g], %zu of %zu pairs agree", cost.ci[0],
	                 cost.ci[1], cost.agree, cost.pairs);
	finding_evidence(finding, EVIDENCE_SCALING, power, NULL,
	                 "up to %s the time follows the number of pieces to the power %.2f",
	                 probe_level(study, column, 1, own), power);
	large_add(study, finding, column, best, problem_row, team);
	finding_missing(finding, EVIDENCE_CEILING, "the time to create one task");
	probe_next_compare(finding, study, &(struct probe_scope){(int)column, 0, problem_row, 0, 0}, best);
}

/* A task for every call, beside a cutoff: one thread pays for the tasks, and more threads do not help. */
static void without_examine(const struct study *study, struct findings *findings, size_t column, int level) {
	double team = team_most(study);
	for (int l = 0; l < (int)study_column(study, column)->levels; l++) {
		struct study_ratio one = compared(study, column, level, l, SIZE_MAX, 1, 1),
						   all = compared(study, column, level, l, SIZE_MAX, team, team);
		char own[PROBE_TEXT], other[PROBE_TEXT];
		if (probe_word(study_column(study, column), l, without) || !(team > 1) || !one.pairs || !all.pairs ||
		    one.ratio < SINGLE_LEAST || all.ratio < one.ratio || !(all.ratio > study_chance_ratio(study, LEVELS_LEAST)))
			continue;
		probe_level(study, column, level, own);
		probe_level(study, column, l, other);
		struct finding *finding =
			findings_add(findings, one.pairs >= PAIRS_CLEAR ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW, all.ratio,
		                 "%s creates a task for every call: it takes %.3g times as long as %s with one thread and %.3g "
		                 "times with %g, "
		                 "because creating a task costs more than the work in it, and threads contend for them",
		                 own, one.ratio, other, all.ratio, team);
		finding_about(finding, study, column, level);
		finding_evidence(finding, EVIDENCE_CONTRAST, one.ratio, "x", "with one thread [%.3g, %.3g]", one.ci[0],
		                 one.ci[1]);
		finding_missing(finding, EVIDENCE_CEILING, "the time to create one task");
		probe_next_compare(finding, study, &(struct probe_scope){(int)column, level, SIZE_MAX, 0, 0}, l);
		return;
	}
}

static void numbers_examine(const struct study *study, struct findings *findings, size_t column) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem), before = findings_count(findings);
	sizes_examine(study, findings, column, SIZE_MAX);
	for (size_t i = 0; i < problems && problems > 1 && findings_count(findings) == before; i++)
		sizes_examine(study, findings, column, problem[i]);
}

static void examine(const struct study *study, struct findings *findings) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->is_problem || !probe_named(column, grain_names) || probe_named(column, counts) ||
		    column->levels > LEVELS_MOST || column->levels < (column->numeric ? LEVELS_LEAST : 2) ||
		    !follows(study, (int)c))
			continue;
		if (column->numeric)
			numbers_examine(study, findings, c);
		for (int l = 0; l < (int)column->levels && !column->numeric; l++)
			if (probe_word(column, l, without))
				without_examine(study, findings, c, l);
	}
}

const struct diagnosis diagnosis_task_cost = {
	.name = "task_cost",
	.summary = "creating tasks costs more than the work in them",
	.device = "cpu",
	.examine = examine,
};
