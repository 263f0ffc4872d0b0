/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parallel regions are so short that starting and joining their threads takes as long as the work: small problems stop
 * gaining from threads while larger ones go on. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"

static const double NEAR = 0.1, FAR = 0.01; /* shares of fork, join and barrier in a region */

static double unit_seconds(const char *unit) {
	return strcmp(unit, "s") == 0    ? 1
	       : strcmp(unit, "ms") == 0 ? 1e-3
	       : strcmp(unit, "us") == 0 ? 1e-6
	       : strcmp(unit, "ns") == 0 ? 1e-9
	                                 : NAN;
}

/* The seconds of one step of a run, by the kernel's own figure; NAN if it does not report one. */
static double region_seconds(const struct study *study, size_t row) {
	const json_t *list = json_object_get(study_row(study, row)->detail, "figures");
	double least = NAN;
	js_each (one, list) {
		double seconds = js_real_or(one, "value", NAN) * unit_seconds(js_string_or(one, "unit", ""));
		const char *name = js_string_or(one, "name", "");
		bool step = strncmp(name, "time_per_", 9) == 0 || strcmp(name, "generation") == 0 || strcmp(name, "step") == 0;
		if (step && seconds > 0)
			least = fmin(least, seconds);
	}
	return least;
}

/* The share of fork, join and barrier in that step; NAN: not measured. */
static double share_of(const struct study *study, size_t row, double threads) {
	double fork = study_ceiling(study, "fork_join", NULL, threads), region = region_seconds(study, row);
	double barrier = study_ceiling(study, "barrier", NULL, threads);
	return (fork + (isfinite(barrier) ? barrier : 0)) * 1e-6 / region;
}

static void tell(const struct study *study, struct findings *findings, const struct saturation *one) {
	size_t row = saturation_row(study, one, one->stop);
	double share = row == SIZE_MAX ? NAN : share_of(study, row, one->stop);
	char own[PROBE_TEXT], other[PROBE_TEXT];
	if (row == SIZE_MAX || share < FAR)
		return;
	struct finding *finding =
		findings_add(findings, share > NEAR ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, one->others.ratio / one->own.ratio,
	                 "%s is limited by fork and join beyond %g thread%s; %s keeps scaling to %g",
	                 probe_problem(study, one->problem, own), one->stop, probe_s(one->stop),
	                 probe_problem(study, one->other, other), one->most);
	probe_about_problem(finding, study, one->problem);
	saturation_evidence(finding, study, one);
	if (isfinite(share))
		finding_evidence(finding, EVIDENCE_CEILING, 100 * share, "%",
		                 "fork, join and barrier of %g thread%s take %.3g %% of a step", one->stop, probe_s(one->stop),
		                 100 * share);
	else if (isnan(region_seconds(study, row)))
		finding_missing(finding, EVIDENCE_FIGURE, "the time of one parallel region");
	if (isfinite(share))
		probe_next_threads(finding, study, row, (size_t)probe_threads(study));
	else {
		finding_missing(finding, EVIDENCE_CEILING, "the cost of fork, join and barrier here");
		finding_next(finding, "machine --ceilings");
	}
}

static void examine(const struct study *study, struct findings *findings) {
	mem_auto struct saturation *found;
	size_t count = saturations_find(study, true, &found);
	for (size_t i = 0; i < count; i++)
		tell(study, findings, &found[i]);
}

const struct diagnosis diagnosis_fork_join = {
	.name = "fork_join",
	.summary = "parallel regions are as short as the fork and join around them",
	.device = "cpu",
	.examine = examine,
};
