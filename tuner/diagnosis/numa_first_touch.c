/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages are on the node of the thread that touched them first; if that is one thread, its node serves all. A machine
 * with one node cannot have this problem, whatever the times say. */
#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"

static const struct remedy_words words = {
	.names = "touch numa alloc init",
	.bad = "serial master main one single none no off false",
	.good = "parallel objects owner owners threads local all yes on true interleave touch",
	.sure_good = "touch interleave interleaved",
};

static void evidence_add(struct finding *finding, const struct study *study, const struct remedy *remedy) {
	char good[PROBE_TEXT];
	int nodes = study_host(study)->numa_nodes;
	finding_evidence(finding, EVIDENCE_CONTRAST, remedy->ratio.ratio, "x",
	                 "with several threads it takes %.2f times as long as %s [%.2f, %.2f], %zu of %zu pairs agree",
	                 remedy->ratio.ratio, probe_level(study, remedy->column, remedy->good, good), remedy->ratio.ci[0],
	                 remedy->ratio.ci[1], remedy->ratio.agree, remedy->ratio.pairs);
	if (remedy->alone.pairs)
		finding_evidence(finding, EVIDENCE_SCALING, remedy->alone.ratio, "x", "with one thread %.2f times",
		                 remedy->alone.ratio);
	else
		finding_missing(finding, EVIDENCE_SCALING, "the same with one thread, which touches everything either way");
	if (remedy_beyond_distance(remedy))
		finding_missing(
			finding, EVIDENCE_CONTRAST,
			"the share of it: the distance of memory explains about 4 times at most, false sharing may be the rest");
	if (nodes > 1)
		finding_evidence(finding, EVIDENCE_MACHINE, nodes, NULL, "memory of %d NUMA nodes", nodes);
	else
		finding_missing(finding, EVIDENCE_MACHINE,
		                "the number of NUMA nodes, because with one the cause would be another");
}

static enum confidence confidence_of(const struct study *study, const struct remedy *remedy) {
	if (study_host(study)->numa_nodes <= 1 || remedy->alone.pairs == 0 || remedy_beyond_distance(remedy))
		return CONFIDENCE_LOW;
	bool clear = remedy->ratio.pairs >= 3 && remedy->ratio.agree == remedy->ratio.pairs;
	return clear ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
}

static void examine(const struct study *study, struct findings *findings) {
	if (study_host(study)->numa_nodes == 1)
		return;
	mem_auto struct remedy *found = mem_alloc(PROBE_CASES, sizeof *found);
	size_t count = remedies_find(study, &words, found);
	for (size_t i = 0; i < count; i++) {
		char bad[PROBE_TEXT], problem[PROBE_TEXT];
		struct finding *finding = findings_add(
			findings, confidence_of(study, &found[i]), found[i].ratio.ratio,
			"%s%s puts memory on one node: first touch by the threads that use it makes it %.2f times faster",
			probe_level(study, found[i].column, found[i].bad, bad), probe_at(study, found[i].problem_row, problem),
			found[i].ratio.ratio);
		finding_about(finding, study, found[i].column, found[i].bad);
		probe_about_problem(finding, study, found[i].problem_row);
		evidence_add(finding, study, &found[i]);
		remedy_next(finding, study, &found[i]);
	}
}

const struct diagnosis diagnosis_numa_first_touch = {
	.name = "numa_first_touch",
	.summary = "memory is on the node of the one thread that touched it first",
	.device = "cpu",
	.examine = examine,
};
