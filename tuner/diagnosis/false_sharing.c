/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of different threads are in one cache line, which moves back and forth although nothing is shared. Padding
 * helps, but only with several threads (Bolosky, Scott, False sharing and its effect on shared memory performance,
 * 1993). */
#include <math.h>

#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"

static const struct remedy_words words = {
	.names = "pad align layout stride",
	.bad = "none no off false packed dense unpadded adjacent interleaved 0",
	.good = "line page cacheline padded padding yes on true aligned separate lines pages",
	.sure_bad = "unpadded packed adjacent nopad contiguous",
	.sure_good = "padded padding pad aligned cacheline spaced separate",
};
/* One thread that allocates the copies of all puts them side by side. */
static const struct remedy_words allocation = {
	.names = "touch numa alloc init",
	.bad = "serial master main one single none no off false malloc calloc",
	.good = "parallel objects owner owners threads thread local all yes on true each",
};

/* The ratio of lines that another core had changed, of the value that suffers over the other one. */
static double hitm_ratio(const struct study *study, const struct remedy *remedy) {
	double hitm[2] = {NAN, NAN};
	for (int side = 0; side < 2; side++) {
		struct probe_scope scope = {(int)remedy->column, side ? remedy->good : remedy->bad, remedy->problem_row, 2, 0};
		for (size_t r = 0; r < study_rows(study); r++)
			if (probe_in(&scope, study, r))
				hitm[side] = fmax(hitm[side], study_counter(study, r, "hitm"));
	}
	return hitm[0] / fmax(hitm[1], 1);
}

static void evidence_add(struct finding *finding, const struct study *study, const struct remedy *remedy, double hitm) {
	char good[PROBE_TEXT];
	probe_level(study, remedy->column, remedy->good, good);
	finding_evidence(finding, EVIDENCE_CONTRAST, remedy->ratio.ratio, "x",
	                 "with several threads it takes %.2f times as long as %s [%.2f, %.2f], %zu of %zu pairs agree",
	                 remedy->ratio.ratio, good, remedy->ratio.ci[0], remedy->ratio.ci[1], remedy->ratio.agree,
	                 remedy->ratio.pairs);
	if (remedy->alone.pairs)
		finding_evidence(finding, EVIDENCE_SCALING, remedy->alone.ratio, "x", "with one thread %.2f times [%.2f, %.2f]",
		                 remedy->alone.ratio, remedy->alone.ci[0], remedy->alone.ci[1]);
	else
		finding_missing(finding, EVIDENCE_SCALING, "the same with one thread, where false sharing is impossible");
	finding_known(finding, EVIDENCE_COUNTER, hitm, "x",
	              "the lines that another core had changed (--counters FALSE_SHARE)",
	              "%.3g times as many lines that another core had changed (hitm)", hitm);
}

static enum confidence confidence_of(const struct remedy *remedy, double hitm) {
	if (remedy->alone.pairs == 0)
		return hitm > 2 ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
	bool clear = remedy->ratio.pairs >= 3 && remedy->ratio.agree == remedy->ratio.pairs;
	return hitm > 2 || clear ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
}

/* The least of the same remedy's ratios at the other problems; NAN if it was only measured at one. */
static double elsewhere_of(const struct study *study, const struct remedy *remedy) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	double least = NAN;
	for (size_t i = 0; i < problems && remedy->problem_row != SIZE_MAX; i++) {
		struct probe_scope scope = {-1, -1, problem[i], 2, 0};
		struct study_ratio ratio = study_contrast(study, remedy->column, remedy->bad, remedy->good, probe_in, &scope);
		for (int l = 0; ratio.pairs == 0 && l < (int)study_column(study, remedy->column)->levels; l++)
			if (l != remedy->bad && probe_word(study_column(study, remedy->column), l, allocation.good))
				ratio = study_contrast(study, remedy->column, remedy->bad, l, probe_in, &scope);
		if (!study_same_problem(study, problem[i], remedy->problem_row) && ratio.pairs)
			least = fmin(least, ratio.ratio);
	}
	return least;
}

/* The largest step up in time as the team grows: lines that move cost more with each thread. */
static double rise_of(const struct study *study, const struct remedy *remedy) {
	struct probe_scope scope = {(int)remedy->column, remedy->bad, remedy->problem_row, 2, 0};
	struct curve curve;
	double most = 1;
	if (!curve_make(study, scope, &curve))
		return 1;
	for (size_t i = 1; i < curve.count; i++)
		most = fmax(most, curve.speedup[i - 1].ratio / curve.speedup[i].ratio);
	return most;
}

static void allocation_report(const struct study *study, struct findings *findings, const struct remedy *remedy) {
	double elsewhere = elsewhere_of(study, remedy), rise = rise_of(study, remedy);
	bool small = elsewhere < remedy->ratio.ratio / 2;
	char bad[PROBE_TEXT], problem[PROBE_TEXT];
	struct finding *finding = findings_add(
		findings, small && remedy->alone.pairs ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW, remedy->ratio.ratio,
		"%s%s suffers from false sharing: what one thread allocates for all lies side by side, so that their small "
		"copies "
		"share cache lines; allocated by its own thread each is %.1f times faster",
		probe_level(study, remedy->column, remedy->bad, bad), probe_at(study, remedy->problem_row, problem),
		remedy->ratio.ratio);
	finding_about(finding, study, remedy->column, remedy->bad);
	probe_about_problem(finding, study, remedy->problem_row);
	evidence_add(finding, study, remedy, NAN);
	finding_evidence(finding, EVIDENCE_CONTRAST, remedy->ratio.ratio, "x",
	                 "the distance of memory on another node explains about 4 times at most");
	if (small)
		finding_evidence(finding, EVIDENCE_CONTRAST, elsewhere, "x",
		                 "at another problem it is only %.2f times: larger copies share fewer lines", elsewhere);
	if (rise > 1 + probe_limit(study))
		finding_evidence(finding, EVIDENCE_SCALING, rise, "x",
		                 "a larger team takes up to %.2f times as long as a smaller one", rise);
	remedy_next(finding, study, remedy);
}

static void allocation_examine(const struct study *study, struct findings *findings) {
	mem_auto struct remedy *found = mem_alloc(PROBE_CASES, sizeof *found);
	size_t count = remedies_find(study, &allocation, found);
	for (size_t i = 0; i < count; i++)
		if (remedy_beyond_distance(&found[i]))
			allocation_report(study, findings, &found[i]);
}

static void examine(const struct study *study, struct findings *findings) {
	mem_auto struct remedy *found = mem_alloc(PROBE_CASES, sizeof *found);
	size_t count = remedies_find(study, &words, found);
	for (size_t i = 0; i < count; i++) {
		char bad[PROBE_TEXT], problem[PROBE_TEXT];
		double hitm = hitm_ratio(study, &found[i]);
		if (hitm < 1.1) /* counted, but there are not more of them */
			continue;
		struct finding *finding =
			findings_add(findings, confidence_of(&found[i], hitm), found[i].ratio.ratio,
		                 "%s%s suffers from false sharing: with several threads padding makes it %.1f times faster",
		                 probe_level(study, found[i].column, found[i].bad, bad),
		                 probe_at(study, found[i].problem_row, problem), found[i].ratio.ratio);
		finding_about(finding, study, found[i].column, found[i].bad);
		probe_about_problem(finding, study, found[i].problem_row);
		evidence_add(finding, study, &found[i], hitm);
		remedy_next(finding, study, &found[i]);
	}
	allocation_examine(study, findings);
}

const struct diagnosis diagnosis_false_sharing = {
	.name = "false_sharing",
	.summary = "words of different threads share cache lines",
	.device = "cpu",
	.examine = examine,
};
