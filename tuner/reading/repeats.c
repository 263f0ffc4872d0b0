/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A time is a number of iterations times the time of one: of the fastest and the slowest value of a word, which of both
 * differs. */
#include <math.h>

#include "tuner/reading/reading.h"

static const char *const counts[] = {"iterations", "iters", "rounds", "sweeps", "passes", "steps", "loops"};
static const double FEWER = 1.2;

static double count_of(const struct study *study, size_t row, const char *what) {
	double count = study_figure(study, row, what);
	return count > 0 ? count : NAN;
}

/* The rows with the least and the greatest time of a problem. */
static bool ends_find(const struct study *study, size_t problem, const char *what, size_t *fast, size_t *slow) {
	*fast = *slow = SIZE_MAX;
	for (size_t r = 0; r < study_rows(study); r++) {
		if (!study_usable(study, r) || !study_same_problem(study, r, problem) || isnan(count_of(study, r, what)))
			continue;
		*fast = *fast == SIZE_MAX || reading_time(study, r) < reading_time(study, *fast) ? r : *fast;
		*slow = *slow == SIZE_MAX || reading_time(study, r) > reading_time(study, *slow) ? r : *slow;
	}
	return *fast != *slow && *fast != SIZE_MAX;
}

static const char *share_words(double times, double each) {
	bool fewer = times >= FEWER, faster = each >= FEWER;
	return fewer && faster ? "fewer and shorter"
	       : fewer         ? "fewer, not shorter"
	       : faster        ? "shorter, not fewer"
	                       : "neither";
}

static void problem_examine(const struct study *study, struct findings *findings, size_t problem, const char *what) {
	size_t fast, slow;
	char own[PROBE_TEXT], other[PROBE_TEXT];
	if (!ends_find(study, problem, what, &fast, &slow))
		return;
	double ratio = reading_time(study, slow) / reading_time(study, fast);
	double times = count_of(study, slow, what) / count_of(study, fast, what), each = ratio / times;
	if (ratio <= study_chance_ratio(study, 2) || (times < FEWER && times > 1 / FEWER))
		return;
	reading_subject(study, fast, SIZE_MAX, own);
	reading_subject(study, slow, SIZE_MAX, other);
	struct finding *finding =
		findings_add(findings, CONFIDENCE_MEDIUM, 1,
	                 "%s is %.3g times as fast as %s: %.3g times by the number of %s, %.3g times by each (%s)", own,
	                 ratio, other, times, what, each, share_words(times, each));
	probe_about_problem(finding, study, problem);
	finding_evidence(finding, EVIDENCE_FIGURE, times, "x", "%.6g %s instead of %.6g", count_of(study, fast, what), what,
	                 count_of(study, slow, what));
	finding_evidence(finding, EVIDENCE_FIGURE, each, "x", "%.3g s each instead of %.3g s",
	                 reading_time(study, fast) / count_of(study, fast, what),
	                 reading_time(study, slow) / count_of(study, slow, what));
}

static void examine(const struct study *study, struct findings *findings) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	for (size_t w = 0; w < sizeof counts / sizeof *counts; w++)
		for (size_t i = 0; i < problems; i++)
			problem_examine(study, findings, problem[i], counts[w]);
}

const struct diagnosis reading_repeats = {
	.name = "repeats",
	.summary = "a time as a number of iterations times the time of one",
	.examine = examine,
};
