/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads are requested but do not run: parallel regions within others have one thread unless OMP_MAX_ACTIVE_LEVELS
 * says otherwise (OpenMP 5.2, section 4.1.5). The time is the same with any number of threads while other values scale.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/diagnosis/probe.h"

static const char meant_serial[] = "serial sequential single coarse global none one";
static const double SCALES = 1.5, ONE_CPU = 1.3;

struct flat {
	size_t column;
	int level, sibling;
	double most, cpus, team; /* threads; CPUs in use and the size of the team with that many, NAN if not counted */
	struct study_ratio own, other;
};

/* All teams take the time of the smallest one, as far as the noise shows. */
static bool is_flat(const struct study *study, const struct curve *curve) {
	double limit = log1p(probe_limit(study));
	for (size_t i = 1; i < curve->count; i++) {
		const struct study_ratio *one = &curve->speedup[i];
		if (fabs(log(one->ratio)) > 2 * limit || log(one->ci[1]) < -limit || log(one->ci[0]) > limit)
			return false;
	}
	return true;
}

static bool sibling_find(const struct study *study, const struct curve *curve, struct flat *flat) {
	flat->sibling = -1;
	for (int l = 0; l < (int)study_column(study, flat->column)->levels; l++) {
		struct curve other = {.scope = curve->scope};
		other.scope.level = l;
		struct study_ratio gain = curve_gain(study, &other, curve->level[0], curve->level[curve->count - 1]);
		if (l != flat->level && gain.pairs && (flat->sibling < 0 || gain.ratio > flat->other.ratio)) {
			flat->sibling = l;
			flat->other = gain;
		}
	}
	return flat->sibling >= 0 && flat->other.ratio >= SCALES;
}

static bool flat_find(const struct study *study, struct flat *flat) {
	struct curve curve;
	struct probe_scope scope = {(int)flat->column, flat->level, SIZE_MAX, 0, 0};
	scope.most = isfinite(probe_room(study)) ? probe_room(study) : 0;
	if (!curve_make(study, scope, &curve) || curve.threads[0] != 1 || !is_flat(study, &curve))
		return false;
	flat->own = curve.speedup[curve.count - 1];
	flat->most = curve.threads[curve.count - 1];
	return sibling_find(study, &curve, flat);
}

/* Finds counts with more than one thread. */
static void counted_find(const struct study *study, struct flat *flat) {
	struct probe_scope scope = {(int)flat->column, flat->level, SIZE_MAX, 2, 0};
	static const char *const figures[] = {"team", "team_size", "inner_team", "inner_threads", "threads"};
	flat->cpus = flat->team = NAN;
	for (size_t r = 0; r < study_rows(study); r++) {
		if (!probe_in(&scope, study, r))
			continue;
		flat->cpus = fmax(flat->cpus, study_metric(study, r, "cpus_used"));
		for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
			flat->team = fmax(flat->team, study_figure(study, r, figures[i]));
	}
}

static void flat_report(const struct study *study, struct findings *findings, const struct flat *flat) {
	struct probe_scope scope = {(int)flat->column, flat->level, SIZE_MAX, flat->most, flat->most};
	bool one_team = flat->team <= 1, one_cpu = flat->cpus < ONE_CPU;
	char own[PROBE_TEXT], other[PROBE_TEXT];
	size_t row = probe_best(study, &scope);
	probe_level(study, flat->column, flat->sibling, other);
	struct finding *finding = findings_add(findings,
	                                       one_team  ? CONFIDENCE_HIGH
	                                       : one_cpu ? CONFIDENCE_MEDIUM
	                                                 : CONFIDENCE_LOW,
	                                       flat->other.ratio,
	                                       "the inner teams of %s have one thread: the time is the same with 1 and %g "
	                                       "(OMP_MAX_ACTIVE_LEVELS=2 allows more)",
	                                       probe_level(study, flat->column, flat->level, own), flat->most);
	finding_about(finding, study, flat->column, flat->level);
	finding_evidence(finding, EVIDENCE_SCALING, flat->own.ratio, "x",
	                 "%.2f times as fast with %g threads as with one [%.2f, %.2f]", flat->own.ratio, flat->most,
	                 flat->own.ci[0], flat->own.ci[1]);
	finding_evidence(finding, EVIDENCE_CONTRAST, flat->other.ratio, "x", "%s: %.2f times", other, flat->other.ratio);
	if (isfinite(flat->team))
		finding_evidence(finding, EVIDENCE_FIGURE, flat->team, "threads", "its teams have %g thread%s", flat->team,
		                 probe_s(flat->team));
	if (isfinite(flat->cpus))
		finding_evidence(finding, EVIDENCE_COUNTER, flat->cpus, "CPUs", "%.2f CPUs were in use", flat->cpus);
	else
		finding_missing(finding, EVIDENCE_COUNTER,
		                "the number of CPUs in use, which a lock around everything would leave above one");
	if (row != SIZE_MAX) {
		char *words = study_words(study, row);
		finding_next(finding, "run %s %s --counters SOFTWARE", study_kernel(study), words);
		free(words);
	}
}

static void examine(const struct study *study, struct findings *findings) {
	int threads = probe_threads(study);
	if (threads < 0 || !follows(study, threads))
		return;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->is_problem || column->numeric || !follows(study, (int)c))
			continue;
		for (int l = 0; l < (int)column->levels; l++) {
			struct flat flat = {.column = c, .level = l};
			if (probe_word(column, l, meant_serial) || probe_word(column, l, probe_locks) || !flat_find(study, &flat))
				continue;
			counted_find(study, &flat);
			if (!(flat.cpus >= ONE_CPU) && !(flat.team > 1))
				flat_report(study, findings, &flat);
		}
	}
}

const struct diagnosis diagnosis_inner_teams = {
	.name = "inner_teams",
	.summary = "parallel regions within others have one thread",
	.device = "cpu",
	.examine = examine,
};
