/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Some threads have more work than others, which wait for them. Counters of each thread show it, and so does a schedule
 * that hands out work on demand, if it is faster than equal shares. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"

static const double UNEVEN = 1.15;

/* The busiest thread over the mean, by the counter that best measures work; NAN: not counted. */
static double imbalance_of(const struct study *study, size_t row, const char **name) {
	static const char *const telling[] = {"instructions", "task_clock", "user_time", "cycles"};
	const json_t *list = json_object_get(study_row(study, row)->counted, "counters");
	for (size_t t = 0; t < sizeof telling / sizeof *telling; t++) {
		js_each (one, list) {
			double imbalance = js_real_or(one, "imbalance", NAN);
			if (strcmp(js_string_or(one, "name", ""), telling[t]) == 0 && isfinite(imbalance)) {
				*name = telling[t];
				return imbalance;
			}
		}
	}
	return NAN;
}

static double counters_examine(const struct study *study, struct findings *findings) {
	size_t row = study_winner(study);
	const char *name = NULL;
	double imbalance = row == SIZE_MAX ? NAN : imbalance_of(study, row, &name);
	if (!(imbalance > UNEVEN) || !(study_value_number(study, row, "threads", 1) > 1))
		return imbalance;
	struct finding *finding =
		findings_add(findings, CONFIDENCE_MEDIUM, imbalance,
	                 "the busiest thread of the best configuration has %.2f times the mean work", imbalance);
	finding_evidence(finding, EVIDENCE_COUNTER, imbalance, "x", "%s of the busiest thread over the mean", name);
	int schedule = study_find(study, "schedule");
	if (schedule < 0) {
		mem_auto char *words = probe_words(study, row, "schedule chunk");
		finding_missing(finding, EVIDENCE_CONTRAST, "another schedule, which may even it out");
		finding_next(finding, "sweep %s %s --over schedule=static,dynamic,guided", study_kernel(study), words);
	}
	return imbalance;
}

static void schedule_report(const struct study *study, struct findings *findings, size_t column,
                            const struct probe_case *found, double imbalance) {
	struct probe_scope scope = {(int)column, found->a, found->problem_row, 2, 0};
	size_t row = probe_best(study, &scope);
	char other[PROBE_TEXT], problem[PROBE_TEXT];
	bool clear = imbalance > UNEVEN || (found->ratio.pairs >= 5 && found->ratio.agree == found->ratio.pairs);
	probe_level(study, column, found->b, other);
	struct finding *finding = findings_add(findings, clear ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, found->ratio.ratio,
	                                       "work is uneven%s: %s is %.2f times as fast as equal shares",
	                                       probe_at(study, found->problem_row, problem), other, found->ratio.ratio);
	finding_about(finding, study, column, found->a);
	probe_about_problem(finding, study, found->problem_row);
	finding_evidence(finding, EVIDENCE_CONTRAST, found->ratio.ratio, "x",
	                 "static over %s [%.2f, %.2f], %zu of %zu pairs agree", other, found->ratio.ci[0],
	                 found->ratio.ci[1], found->ratio.agree, found->ratio.pairs);
	finding_known(finding, EVIDENCE_COUNTER, imbalance, "x", "the work of each thread (--counters SOFTWARE)",
	              "the busiest thread over the mean: %.2f", imbalance);
	probe_next_counters(finding, study, row, "SOFTWARE");
}

/* Uneven work is evened out by handing it out on demand: guided shares alone say nothing where dynamic ones were
 * tried and are slower than equal ones at their best. */
static bool is_denied(const struct study *study, size_t column, const struct probe_case *found) {
	const struct study_column *one = study_column(study, column);
	double best[2] = {NAN, NAN};
	for (int level = 0; level < (int)one->levels; level++) {
		struct probe_scope scope = {(int)column, level, found->problem_row, 2, 0};
		bool dynamic = probe_word(one, level, "dynamic");
		size_t row = dynamic || probe_word(one, level, "static") ? probe_best(study, &scope) : SIZE_MAX;
		if (row != SIZE_MAX)
			best[dynamic] = fmin(best[dynamic], study_row(study, row)->value);
	}
	return best[1] > best[0];
}

/* Reports the best of the schedules that hand out work on demand if it beats static, in teams of cores that are alike:
 * those of several kinds have a diagnosis of their own. */
static bool schedule_examine(const struct study *study, struct findings *findings, size_t column, size_t problem_row,
                             double imbalance) {
	const struct study_column *one = study_column(study, column);
	struct probe_scope scope = {-1, -1, problem_row, 2, study_host(study)->fast_cores};
	struct probe_case cases[PROBE_CASES];
	size_t count = 0, best = SIZE_MAX;
	for (int a = 0; a < (int)one->levels; a++)
		for (int b = 0; probe_word(one, a, "static") && b < (int)one->levels && count < PROBE_CASES; b++)
			if (probe_word(one, b, "dynamic guided tasks taskloop"))
				cases[count++] = (struct probe_case){
					study_contrast(study, column, a, b, probe_in, &scope), problem_row, a, b, {0}, false};
	probe_hold(study, cases, count);
	for (size_t i = 0; i < count; i++)
		if (cases[i].holds && (best == SIZE_MAX || cases[i].ratio.ratio > cases[best].ratio.ratio))
			best = i;
	if (best != SIZE_MAX && is_denied(study, column, &cases[best]))
		return false;
	if (best != SIZE_MAX)
		schedule_report(study, findings, column, &cases[best], imbalance);
	return best != SIZE_MAX;
}

static void examine(const struct study *study, struct findings *findings) {
	double imbalance = counters_examine(study, findings);
	int column = study_find(study, "schedule");
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	if (column < 0 || study_column(study, (size_t)column)->is_problem || !follows(study, column))
		return;
	if (!schedule_examine(study, findings, (size_t)column, SIZE_MAX, imbalance) && problems > 1)
		for (size_t i = 0; i < problems; i++)
			schedule_examine(study, findings, (size_t)column, problem[i], imbalance);
}

const struct diagnosis diagnosis_load_imbalance = {
	.name = "load_imbalance",
	.summary = "some threads have more work than others",
	.device = "cpu",
	.examine = examine,
};
