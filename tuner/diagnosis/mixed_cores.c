/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cores of several kinds (performance and efficiency cores, big.LITTLE) take different times for equal shares: a team
 * that reaches beyond the fastest kind waits for its slowest thread. Shares on demand even that out. Work that is
 * uneven in itself shows on cores of one kind, too, and has a diagnosis of its own. */

#include "tuner/diagnosis/diagnosis_probe.h"

struct mixed {
	int column, level, other; /* the schedule, equal shares and those on demand */
	double fast, room;        /* cores of the fastest kind; hardware threads */
	struct study_ratio within, beyond, apart;
};

/* Equal shares over those on demand, for teams beyond the fast cores and for those within them. */
static bool shares_find(const struct study *study, struct mixed *mixed, int a, int b) {
	struct probe_scope within = {-1, -1, SIZE_MAX, 2, mixed->fast},
					   beyond = {-1, -1, SIZE_MAX, mixed->fast + 1, mixed->room};
	struct probe_case one = {.ratio = study_contrast(study, (size_t)mixed->column, a, b, probe_in, &beyond)};
	struct study_ratio few = study_contrast(study, (size_t)mixed->column, a, b, probe_in, &within);
	if (!few.pairs || !probe_hold(study, &one, 1))
		return false;
	struct study_ratio apart = probe_apart(&one.ratio, &few);
	if (!probe_over(study, &apart) || !(apart.ratio > mixed->apart.ratio))
		return false;
	mixed->level = a;
	mixed->other = b;
	mixed->within = few;
	mixed->beyond = one.ratio;
	mixed->apart = apart;
	return true;
}

static bool mixed_find(const struct study *study, struct mixed *mixed) {
	const struct study_column *schedule = study_column(study, (size_t)mixed->column);
	bool found = false;
	for (int a = 0; a < (int)schedule->levels; a++)
		for (int b = 0; probe_word(schedule, a, "static") && b < (int)schedule->levels; b++)
			if (probe_word(schedule, b, "dynamic guided tasks taskloop"))
				found = shares_find(study, mixed, a, b) || found;
	return found;
}

static void mixed_report(const struct study *study, struct findings *findings, const struct mixed *mixed) {
	struct probe_scope scope = {mixed->column, mixed->level, SIZE_MAX, mixed->fast + 1, mixed->room};
	char other[PROBE_TEXT];
	probe_level(study, (size_t)mixed->column, mixed->other, other);
	struct finding *finding =
		findings_add(findings, CONFIDENCE_MEDIUM, mixed->apart.ratio,
	                 "teams of more than %g threads wait for the slower cores: %s is %.2f times as fast as equal "
	                 "shares there, and %.2f times on the %g fast core%s alone",
	                 mixed->fast, other, mixed->beyond.ratio, mixed->within.ratio, mixed->fast, probe_s(mixed->fast));
	finding_about(finding, study, (size_t)mixed->column, mixed->level);
	finding_evidence(finding, EVIDENCE_CONTRAST, mixed->beyond.ratio, "x",
	                 "static over %s [%.2f, %.2f] beyond %g threads, %zu of %zu pairs agree", other,
	                 mixed->beyond.ci[0], mixed->beyond.ci[1], mixed->fast, mixed->beyond.agree, mixed->beyond.pairs);
	finding_evidence(finding, EVIDENCE_CONTRAST, mixed->within.ratio, "x",
	                 "static over %s [%.2f, %.2f] with up to %g threads", other, mixed->within.ci[0],
	                 mixed->within.ci[1], mixed->fast);
	finding_evidence(finding, EVIDENCE_MACHINE, mixed->fast, NULL, "%g of %d cores are of the fastest kind",
	                 mixed->fast, study_host(study)->cores);
	finding_missing(finding, EVIDENCE_COUNTER, "the cycles of each thread (--counters SOFTWARE), on each kind of core");
	probe_next_compare(finding, study, &scope, mixed->other);
}

static void examine(const struct study *study, struct findings *findings) {
	struct mixed mixed = {
		.column = study_find(study, "schedule"), .fast = study_host(study)->fast_cores, .room = probe_room(study)};
	int threads = probe_threads(study);
	if (mixed.fast < 2 || threads < 0 || mixed.column < 0 || study_column(study, (size_t)mixed.column)->is_problem ||
	    !follows(study, mixed.column))
		return;
	if (mixed_find(study, &mixed))
		mixed_report(study, findings, &mixed);
}

const struct diagnosis diagnosis_mixed_cores = {
	.name = "mixed_cores",
	.summary = "threads on fast cores wait for those on slower ones",
	.device = "cpu",
	.examine = examine,
};
