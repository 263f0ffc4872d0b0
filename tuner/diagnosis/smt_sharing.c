/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two threads of a core share its arithmetic units and caches, so that threads beyond the number of cores bring little,
 * or cost time. */
#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"

static const double WELL = 0.6 /* efficiency up to the number of cores */, LITTLE = 1.15;

struct smt {
	size_t problem_row;
	double cores, threads, efficiency;
	struct study_ratio gain;
};

static bool smt_find(const struct study *study, struct smt *smt) {
	const struct study_host *host = study_host(study);
	struct curve curve;
	size_t a = SIZE_MAX, b = SIZE_MAX;
	struct probe_scope scope = {-1, -1, smt->problem_row, 0, host->threads};
	if (!curve_make(study, scope, &curve))
		return false;
	for (size_t i = 0; i < curve.count; i++)
		*(curve.threads[i] <= host->cores ? &a : &b) = i;
	if (a == SIZE_MAX || b == SIZE_MAX || a == 0)
		return false;
	smt->cores = curve.threads[a];
	smt->threads = curve.threads[b];
	smt->efficiency = curve.speedup[a].ratio * curve.threads[0] / curve.threads[a];
	smt->gain = curve_gain(study, &curve, curve.level[a], curve.level[b]);
	return smt->gain.pairs && smt->cores == host->cores && smt->efficiency >= WELL && smt->gain.ci[1] < LITTLE;
}

static void smt_report(const struct study *study, struct findings *findings, const struct smt *smt) {
	const struct study_host *host = study_host(study);
	struct probe_scope scope = {-1, -1, smt->problem_row, smt->threads, smt->threads};
	bool loss = probe_under(study, &smt->gain);
	size_t row = probe_best(study, &scope);
	char problem[PROBE_TEXT];
	struct finding *finding =
		findings_add(findings, loss ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW, 1 / smt->gain.ratio,
	                 "threads that share a core %s%s: %g threads on %d core%s are %.2f times as fast as %g",
	                 loss ? "cost time" : "bring little", probe_at(study, smt->problem_row, problem), smt->threads,
	                 host->cores, probe_s(host->cores), smt->gain.ratio, smt->cores);
	probe_about_problem(finding, study, smt->problem_row);
	finding_evidence(finding, EVIDENCE_SCALING, smt->gain.ratio, "x", "from %g to %g threads %.2f times [%.2f, %.2f]",
	                 smt->cores, smt->threads, smt->gain.ratio, smt->gain.ci[0], smt->gain.ci[1]);
	finding_evidence(finding, EVIDENCE_SCALING, 100 * smt->efficiency, "%",
	                 "up to the number of cores %.0f %% of linear", 100 * smt->efficiency);
	finding_evidence(finding, EVIDENCE_MACHINE, host->cores, NULL, "%d core%s, %d hardware threads", host->cores,
	                 probe_s(host->cores), host->threads);
	finding_missing(finding, EVIDENCE_COUNTER,
	                "the instructions per cycle of both (--counters CPU), and the bytes from memory (MEM)");
	if (row != SIZE_MAX) {
		mem_auto char *words = probe_words(study, row, "threads places");
		finding_next(finding, "compare %s %s places=cores threads=%g threads=%g", study_kernel(study), words,
		             smt->cores, smt->threads);
	}
}

static void examine(const struct study *study, struct findings *findings) {
	const struct study_host *host = study_host(study);
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	struct smt smt = {.problem_row = SIZE_MAX};
	int threads = probe_threads(study);
	if (threads < 0 || host->cores < 1 || host->threads <= host->cores || !follows(study, threads))
		return;
	if (smt_find(study, &smt)) {
		smt_report(study, findings, &smt);
		return;
	}
	for (size_t i = 0; i < problems && problems > 1; i++) {
		smt = (struct smt){.problem_row = problem[i]};
		if (smt_find(study, &smt))
			smt_report(study, findings, &smt);
	}
}

const struct diagnosis diagnosis_smt_sharing = {
	.name = "smt_sharing",
	.summary = "threads beyond the number of cores bring little",
	.device = "cpu",
	.examine = examine,
};
