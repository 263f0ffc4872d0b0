/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory is saturated: the bytes per second are close to the highest measured rate (Williams, Waterman, Patterson,
 * Roofline, 2009), or a large problem stops gaining from threads while a smaller one, which fits the caches, keeps
 * scaling.
 */
#include <math.h>

#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"

static const double NEAR = 0.7, ABOVE = 1.15 /* a larger share comes from caches, not memory */,
					WELL = 0.5 /* efficiency up to the point where it stops */;

static double ceiling_of(const struct study *study, double threads) {
	static const char *const names[] = {"read", "copy", "triad"};
	double most = NAN;
	for (size_t i = 0; i < sizeof names / sizeof *names && threads >= 1; i++)
		most = fmax(most, study_ceiling(study, names[i], "dram", threads));
	return most;
}

/* GB/s: counted, otherwise the least that the work needs. */
static double rate_of(const struct study *study, size_t row, bool *counted) {
	double rate = study_metric(study, row, "read_bandwidth");
	*counted = isfinite(rate);
	return *counted ? rate : study_work(study, row, "bytes") / study_row(study, row)->value / 1e9;
}

/* The share of the memory's bandwidth; NAN: unknown. */
static double share_of(const struct study *study, size_t row, bool *counted) {
	return rate_of(study, row, counted) / ceiling_of(study, study_value_number(study, row, "threads", 1));
}

static void share_add(struct finding *finding, const struct study *study, size_t row, double share, bool counted) {
	bool ignored;
	finding_known(finding, EVIDENCE_CEILING, 100 * share, "%", "the bandwidth of the memory here (machine --ceilings)",
	              "%s%.3g GB/s, %.3g %% of the highest measured rate", counted ? "counted " : "at least ",
	              rate_of(study, row, &ignored), 100 * share);
	probe_topdown_add(finding, study, row, "backend_bound.memory", "backend memory bound");
	if (!counted)
		finding_missing(finding, EVIDENCE_COUNTER, "the bytes from memory (--counters MEM)");
}

static void next_add(struct finding *finding, const struct study *study, size_t row, double share) {
	if (isfinite(share))
		probe_next_counters(finding, study, row, "MEM");
	else
		finding_next(finding, "machine --ceilings");
}

/* Looks for a problem whose best time is all memory traffic, and whose data does not fit any cache as far as is known.
 */
static void rate_examine(const struct study *study, struct findings *findings, size_t problem) {
	struct probe_scope scope = {-1, -1, problem, 0, 0};
	size_t row = probe_best(study, &scope);
	bool counted = false;
	double share = row == SIZE_MAX ? NAN : share_of(study, row, &counted);
	char text[PROBE_TEXT];
	if (!(share >= NEAR && share <= ABOVE) || study_work(study, row, "bytes") <= study_cache(study))
		return;
	probe_problem(study, problem, text);
	struct finding *finding = findings_add(findings, counted ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, 1,
	                                       "%s%s its best time is limited by memory: %.3g %% of the measured bandwidth",
	                                       *text ? text : "the problem", *text ? ":" : " as a whole:", 100 * share);
	probe_about_problem(finding, study, problem);
	share_add(finding, study, row, share, counted);
	next_add(finding, study, row, share);
}

static enum confidence confidence_of(const struct study *study, const struct saturation *one, double share) {
	double bytes = study_work(study, one->problem, "bytes");
	if (share >= NEAR && share <= ABOVE)
		return CONFIDENCE_HIGH;
	return study_cache(study) > 0 && bytes > study_cache(study) ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
}

static void saturation_report(const struct study *study, struct findings *findings, const struct saturation *one) {
	size_t row = saturation_row(study, one, one->stop);
	bool counted = false;
	double share = row == SIZE_MAX ? NAN : share_of(study, row, &counted);
	double efficiency = one->curve.speedup[one->curve.stop].ratio * one->curve.threads[0] / one->stop;
	char own[PROBE_TEXT], other[PROBE_TEXT];
	if (row == SIZE_MAX || efficiency < WELL || (counted && share < WELL))
		return;
	struct finding *finding =
		findings_add(findings, confidence_of(study, one, share), one->others.ratio / one->own.ratio,
	                 "%s saturates memory between %g and %g threads; %s keeps scaling to %g",
	                 probe_problem(study, one->problem, own), one->stop, one->next,
	                 probe_problem(study, one->other, other), one->most);
	probe_about_problem(finding, study, one->problem);
	saturation_evidence(finding, study, one);
	share_add(finding, study, row, share, counted);
	next_add(finding, study, row, share);
}

static void examine(const struct study *study, struct findings *findings) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	mem_auto struct saturation *found;
	size_t count = saturations_find(study, false, &found);
	for (size_t i = 0; i < problems; i++)
		rate_examine(study, findings, problem[i]);
	for (size_t i = 0; i < count; i++)
		saturation_report(study, findings, &found[i]);
}

const struct diagnosis diagnosis_memory_bandwidth = {
	.name = "memory_bandwidth",
	.summary = "memory cannot deliver more bytes a second",
	.device = "cpu",
	.examine = examine,
};
