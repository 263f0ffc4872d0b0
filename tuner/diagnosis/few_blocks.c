/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A problem in large blocks has fewer of them than the team has threads, so that some threads have no work: with one
 * thread a large block costs little, with a large team much. Caches cost one thread as much. */
#include <math.h>

#include "tuner/diagnosis/diagnosis_probe.h"

static const double APART = 1.3;

struct few {
	size_t problem;
	int level, best;
	double side, team; /* blocks along a side of the problem; threads */
	struct study_ratio alone, all;
};

/* The only size of a problem: the length of its side; NAN. */
static double side_of(const struct study *study, size_t row) {
	double side = NAN;
	size_t count = 0;
	for (size_t c = 0; c < study_columns(study); c++)
		if (study_column(study, c)->is_problem && study_column(study, c)->numeric) {
			side = study_number(study, row, c);
			count++;
		}
	if (count == 0)
		return study_value_number(study, row, "n", study_value_number(study, row, "N", NAN));
	return count == 1 ? side : NAN;
}

static struct study_ratio ratio_of(const struct study *study, size_t column, const struct few *few, double team) {
	struct probe_scope scope = {-1, -1, few->problem, team, team};
	return study_contrast(study, column, few->level, few->best, probe_in, &scope);
}

/* The level that is fastest with this team. */
static int best_of(const struct study *study, size_t column, size_t problem, double team) {
	struct probe_scope scope = {-1, -1, problem, team, team};
	size_t row = probe_best(study, &scope);
	return row == SIZE_MAX ? STUDY_ABSENT : study_row(study, row)->level[column];
}

static bool is_few(const struct study *study, size_t column, struct few *few) {
	const struct study_column *one = study_column(study, column);
	few->side = side_of(study, few->problem) / value_number(one->level[few->level]);
	few->alone = ratio_of(study, column, few, 1);
	few->all = ratio_of(study, column, few, few->team);
	struct study_ratio apart = probe_apart(&few->all, &few->alone);
	return few->side < few->team && few->alone.pairs && few->all.pairs && apart.ratio >= APART &&
	       probe_over(study, &apart) && probe_over(study, &few->all);
}

static void report(const struct study *study, struct findings *findings, size_t column, const struct few *few) {
	char own[PROBE_TEXT], best[PROBE_TEXT], problem[PROBE_TEXT];
	probe_level(study, column, few->level, own);
	probe_level(study, column, few->best, best);
	struct finding *finding = findings_add(findings, CONFIDENCE_MEDIUM, few->all.ratio / few->alone.ratio,
	                                       "%s%s leaves too few blocks for the team, %.3g along a side for %g threads: "
	                                       "with one thread it takes %.2f times "
	                                       "as long as %s, with all of them %.2f times",
	                                       own, probe_at(study, few->problem, problem), few->side, few->team,
	                                       few->alone.ratio, best, few->all.ratio);
	finding_about(finding, study, column, few->level);
	finding_evidence(finding, EVIDENCE_CONTRAST, few->all.ratio / few->alone.ratio, "x",
	                 "%.2f times of the loss come with the team; a cache would cost one thread as much",
	                 few->all.ratio / few->alone.ratio);
	struct probe_scope scope = {(int)column, few->level, few->problem, few->team, few->team};
	probe_next_compare(finding, study, &scope, few->best);
}

/* For each block, the problem and the team that lose most. */
static void column_examine(const struct study *study, struct findings *findings, size_t column) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	const struct study_column *one = study_column(study, column),
							  *threads = study_column(study, (size_t)probe_threads(study));
	for (int l = 1; l < (int)one->levels; l++) {
		struct few worst = {.level = -1};
		for (size_t p = 0; p < problems; p++)
			for (size_t t = 0; t < threads->levels; t++) {
				struct few few = {.problem = problem[p], .level = l, .team = value_number(threads->level[t])};
				few.best = best_of(study, column, problem[p], few.team);
				if (few.team <= 1 || few.team > probe_room(study) || few.best == STUDY_ABSENT || few.best >= l ||
				    !is_few(study, column, &few))
					continue;
				if (worst.level < 0 || few.all.ratio / few.alone.ratio > worst.all.ratio / worst.alone.ratio)
					worst = few;
			}
		if (worst.level >= 0)
			report(study, findings, column, &worst);
	}
}

static void examine(const struct study *study, struct findings *findings) {
	int threads = probe_threads(study);
	for (size_t c = 0; threads >= 0 && c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (!column->is_problem && column->numeric && column->levels >= 2 && probe_tile(column) &&
		    follows(study, (int)c) && follows(study, threads))
			column_examine(study, findings, c);
	}
}

const struct diagnosis diagnosis_few_blocks = {
	.name = "few_blocks",
	.summary = "a problem has fewer blocks than the team has threads",
	.device = "cpu",
	.examine = examine,
};
