/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With more threads than processors the owner of a lock, or the next thread of a queue, may not be running, and all
 * others wait for the scheduler (Ousterhout, Scheduling techniques for concurrent systems, 1982). Fair locks suffer
 * most, because nobody else may go first. */
#include <math.h>

#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"

enum { LOCKS_MAX = 64 };
static const double JUMP = 1.25;

struct jump {
	int column, within, beyond; /* levels of threads */
	double room, few, many;
	size_t count;
	struct probe_case lock[LOCKS_MAX];
	double least; /* jump of the value that suffers least, lock or not */
};

static bool teams_find(const struct study *study, struct jump *jump) {
	struct curve curve;
	jump->within = jump->beyond = -1;
	if (!curve_make(study, PROBE_ALL, &curve))
		return false;
	for (size_t i = 0; i < curve.count; i++) {
		bool in = curve.threads[i] <= jump->room;
		if (in || jump->beyond < 0) {
			*(in ? &jump->within : &jump->beyond) = curve.level[i];
			*(in ? &jump->few : &jump->many) = curve.threads[i];
		}
	}
	return jump->within >= 0 && jump->beyond >= 0;
}

static void jumps_find(const struct study *study, struct jump *jump) {
	const struct study_column *column = study_column(study, (size_t)jump->column);
	jump->least = INFINITY;
	for (int l = 0; l < (int)column->levels && jump->count < LOCKS_MAX; l++) {
		struct probe_scope scope = {jump->column, l, SIZE_MAX, 0, 0};
		struct study_ratio ratio =
			study_contrast(study, (size_t)probe_threads(study), jump->beyond, jump->within, probe_in, &scope);
		if (ratio.pairs)
			jump->least = fmin(jump->least, ratio.ratio);
		if (ratio.pairs && probe_word(column, l, probe_locks))
			jump->lock[jump->count++] = (struct probe_case){.ratio = ratio, .a = l, .problem_row = SIZE_MAX};
	}
	probe_hold(study, jump->lock, jump->count);
}

/* Mean log jump of fair locks over that of the others; NAN: there are not both. */
static double fair_ratio(const struct study *study, const struct jump *jump) {
	double sum[2] = {0}, count[2] = {0};
	for (size_t i = 0; i < jump->count; i++) {
		bool fair = probe_word(study_column(study, (size_t)jump->column), jump->lock[i].a, probe_fair_locks);
		sum[fair] += log(jump->lock[i].ratio.ratio);
		count[fair]++;
	}
	return count[0] > 0 && count[1] > 0 ? exp(sum[1] / count[1] - sum[0] / count[0]) : NAN;
}

static void counters_add(struct finding *finding, const struct study *study, size_t row) {
	double delay = study_counter(study, row, "run_delay"), switches = study_counter(study, row, "involuntary_switches");
	finding_known(finding, EVIDENCE_COUNTER, delay, "s", NULL, "runnable threads waited %.3g s for a processor", delay);
	finding_known(finding, EVIDENCE_COUNTER, switches, NULL, NULL, "%.4g involuntary switches", switches);
	if (isnan(delay) && isnan(switches))
		finding_missing(finding, EVIDENCE_COUNTER, "run delay and involuntary switches (--counters SOFTWARE)");
}

static void lock_report(const struct study *study, struct findings *findings, const struct jump *jump, size_t i) {
	const struct probe_case *lock = &jump->lock[i];
	struct probe_scope scope = {jump->column, lock->a, SIZE_MAX, jump->many, jump->many};
	bool fair = probe_word(study_column(study, (size_t)jump->column), lock->a, probe_fair_locks);
	double fairs = fair_ratio(study, jump);
	size_t row = probe_best(study, &scope);
	char own[PROBE_TEXT];
	struct finding *finding = findings_add(
		findings, fair && fairs > 2 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, lock->ratio.ratio,
		"%s waits for owners that are not running: %g threads on %g hardware thread%s take %.1f times as long as %g",
		probe_level(study, (size_t)jump->column, lock->a, own), jump->many, jump->room, probe_s(jump->room),
		lock->ratio.ratio, jump->few);
	finding_about(finding, study, (size_t)jump->column, lock->a);
	finding_evidence(finding, EVIDENCE_SCALING, lock->ratio.ratio, "x",
	                 "from %g to %g threads time grows %.2f times [%.2f, %.2f]", jump->few, jump->many,
	                 lock->ratio.ratio, lock->ratio.ci[0], lock->ratio.ci[1]);
	finding_evidence(finding, EVIDENCE_CONTRAST, jump->least, "x", "the value that suffers least: %.2f times",
	                 jump->least);
	finding_evidence(finding, EVIDENCE_MACHINE, jump->room, NULL, "%g hardware thread%s", jump->room,
	                 probe_s(jump->room));
	finding_known(finding, EVIDENCE_CONTRAST, fairs, "x", NULL, "fair locks suffer %.2f times as much as the others",
	              fairs);
	if (row != SIZE_MAX)
		counters_add(finding, study, row);
	probe_next_counters(finding, study, row, "SOFTWARE");
}

static void examine(const struct study *study, struct findings *findings) {
	int threads = probe_threads(study);
	mem_auto struct jump *jump = mem_alloc(1, sizeof *jump);
	jump->column = probe_lock_column(study);
	jump->room = probe_room(study);
	if (threads >= 0 && jump->column >= 0 && isfinite(jump->room) && follows(study, threads) &&
	    follows(study, jump->column) && teams_find(study, jump)) {
		jumps_find(study, jump);
		for (size_t i = 0; i < jump->count; i++)
			if (jump->lock[i].holds && jump->lock[i].ratio.ratio >= JUMP * fmax(1, jump->least))
				lock_report(study, findings, jump, i);
	}
}

const struct diagnosis diagnosis_lock_holder_preemption = {
	.name = "lock_holder_preemption",
	.summary = "the owner of a lock is not running because there are more threads than processors",
	.device = "cpu",
	.examine = examine,
};
