/* SPDX-License-Identifier: GPL-3.0-or-later */
/* More threads than the machine can run at once take turns: caches are refilled, and barriers wait for threads that are
 * not running. Locks have a diagnosis of their own. */
#include <math.h>

#include "tuner/diagnosis/diagnosis_probe.h"

struct collapse {
	struct probe_scope scope;
	double room, few, many; /* threads */
	struct study_ratio ratio;
	double trend; /* growth of time that the smaller teams suggest */
};

/* The growth of time per doubling of the team before the machine is full; at least 1. */
static double trend_of(const struct study *study, const struct curve *curve, size_t within, double many) {
	if (within == 0)
		return 1;
	struct study_ratio before = curve_gain(study, curve, curve->level[within], curve->level[within - 1]);
	double doublings = log2(many / curve->threads[within]) / log2(curve->threads[within] / curve->threads[within - 1]);
	return before.pairs ? fmax(1, pow(before.ratio, doublings)) : 1;
}

static bool collapse_find(const struct study *study, struct collapse *collapse) {
	struct probe_case cases[CURVE_MAX] = {0};
	struct curve curve;
	size_t within = SIZE_MAX, count = 0, most = SIZE_MAX;
	if (!curve_make(study, collapse->scope, &curve))
		return false;
	for (size_t i = 0; i < curve.count; i++)
		within = curve.threads[i] <= collapse->room ? i : within;
	for (size_t i = within + 1; within != SIZE_MAX && i < curve.count; i++)
		cases[count++] =
			(struct probe_case){.ratio = curve_gain(study, &curve, curve.level[i], curve.level[within]), .a = (int)i};
	probe_hold(study, cases, count);
	for (size_t i = 0; i < count; i++)
		if (cases[i].holds && (most == SIZE_MAX || cases[i].ratio.ratio > cases[most].ratio.ratio))
			most = i;
	if (most == SIZE_MAX)
		return false;
	collapse->few = curve.threads[within];
	collapse->many = curve.threads[cases[most].a];
	collapse->ratio = cases[most].ratio;
	collapse->trend = trend_of(study, &curve, within, collapse->many);
	return collapse->ratio.ci[0] > collapse->trend * (1 + probe_limit(study));
}

static void collapse_report(const struct study *study, struct findings *findings, const struct collapse *collapse) {
	struct probe_scope scope = collapse->scope;
	char own[PROBE_TEXT] = "";
	scope.least = scope.most = collapse->many;
	size_t row = probe_best(study, &scope);
	double delay = row == SIZE_MAX ? NAN : study_counter(study, row, "run_delay");
	if (scope.column >= 0)
		probe_level(study, (size_t)scope.column, scope.level, own);
	struct finding *finding =
		findings_add(findings, isfinite(delay) || collapse->ratio.pairs >= 3 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
	                 collapse->ratio.ratio,
	                 "%s%s%g threads oversubscribe %g hardware thread%s: it takes %.1f times as long as with %g", own,
	                 *own ? ": " : "", collapse->many, collapse->room, probe_s(collapse->room), collapse->ratio.ratio,
	                 collapse->few);
	if (scope.column >= 0)
		finding_about(finding, study, (size_t)scope.column, scope.level);
	finding_evidence(finding, EVIDENCE_SCALING, collapse->ratio.ratio, "x",
	                 "%g threads take %.2f times as long as %g [%.2f, %.2f]; the trend up to there is %.2f times",
	                 collapse->many, collapse->ratio.ratio, collapse->few, collapse->ratio.ci[0], collapse->ratio.ci[1],
	                 collapse->trend);
	finding_evidence(finding, EVIDENCE_MACHINE, collapse->room, NULL, "%g hardware thread%s", collapse->room,
	                 probe_s(collapse->room));
	finding_known(finding, EVIDENCE_COUNTER, delay, "s", "run delay and involuntary switches (--counters SOFTWARE)",
	              "runnable threads waited %.3g s for a processor", delay);
	probe_next_counters(finding, study, row, "SOFTWARE");
}

/* Examines single values of words if the kernel as a whole shows nothing. */
static void values_examine(const struct study *study, struct findings *findings, struct collapse *collapse) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->is_problem || column->numeric || !follows(study, (int)c))
			continue;
		for (int l = 0; l < (int)column->levels; l++) {
			collapse->scope = (struct probe_scope){(int)c, l, SIZE_MAX, 0, 0};
			if (collapse_find(study, collapse))
				collapse_report(study, findings, collapse);
		}
	}
}

static void examine(const struct study *study, struct findings *findings) {
	struct collapse collapse = {.scope = PROBE_ALL, .room = probe_room(study)};
	int threads = probe_threads(study);
	if (threads < 0 || !isfinite(collapse.room) || probe_lock_column(study) >= 0 || !follows(study, threads))
		return;
	if (collapse_find(study, &collapse))
		collapse_report(study, findings, &collapse);
	else
		values_examine(study, findings, &collapse);
}

const struct diagnosis diagnosis_oversubscription = {
	.name = "oversubscription",
	.summary = "more threads than hardware threads",
	.device = "cpu",
	.examine = examine,
};
