/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All threads write the same words: each write waits for the cache line, and from some team on more threads bring
 * nothing, while private copies still scale. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/diagnosis/diagnosis_probe.h"

static const char shared_words[] = "shared atomic atomics global common";
static const char private_words[] =
	"private privatized reduction local copies copy none omp tree blocked separate partial threadprivate";
static const double GOES_ON = 1.2; /* gain of a sibling that still scales */
enum { TEAMS_LEAST = 5 };
static const double TURNS = 1.3, CHANCE_SMOOTH = 0.05, CHANCE_PATTERN = 0.01;

struct stop {
	size_t column, problem_row;
	int level, sibling;
	double at, most;
	struct study_ratio own, other; /* gain from there to the most threads */
};

/* Finds the sibling that gains most from the team at which this value stops. */
static bool sibling_find(const struct study *study, const struct curve *curve, struct stop *stop) {
	const struct study_column *column = study_column(study, stop->column);
	int a = curve->level[curve->stop], b = curve->level[curve->count - 1];
	stop->sibling = -1;
	for (int l = 0; l < (int)column->levels; l++) {
		struct curve other = {.scope = curve->scope};
		other.scope.level = l;
		if (l == stop->level || probe_word(column, l, shared_words) || probe_word(column, l, probe_locks))
			continue;
		struct study_ratio gain = curve_gain(study, &other, a, b);
		if (gain.pairs && (stop->sibling < 0 || gain.ratio > stop->other.ratio)) {
			stop->sibling = l;
			stop->other = gain;
		}
	}
	return stop->sibling >= 0 && stop->other.ratio >= GOES_ON && probe_over(study, &stop->other);
}

static bool stop_of(const struct study *study, struct stop *stop) {
	struct curve curve;
	struct probe_scope scope = {(int)stop->column, stop->level, stop->problem_row, 0, 0};
	scope.most = isfinite(probe_room(study)) ? probe_room(study) : 0;
	if (!curve_make(study, scope, &curve) || curve.stop + 1 >= curve.count)
		return false;
	stop->at = curve.threads[curve.stop];
	stop->most = curve.threads[curve.count - 1];
	stop->own = curve_gain(study, &curve, curve.level[curve.stop], curve.level[curve.count - 1]);
	return sibling_find(study, &curve, stop);
}

static void stop_report(const struct study *study, struct findings *findings, const struct stop *stop,
                        const struct study_ratio *apart) {
	const struct study_column *column = study_column(study, stop->column);
	bool clear = probe_word(column, stop->sibling, private_words) && apart->pairs >= 2;
	struct probe_scope scope = {(int)stop->column, stop->level, stop->problem_row, stop->at, stop->at};
	char own[PROBE_TEXT], other[PROBE_TEXT], problem[PROBE_TEXT];
	probe_level(study, stop->column, stop->level, own);
	probe_level(study, stop->column, stop->sibling, other);
	struct finding *finding = findings_add(
		findings, clear ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, apart->ratio,
		"%s%s stops scaling at %g thread%s, %s keeps scaling to %g: threads %s", own,
		probe_at(study, stop->problem_row, problem), stop->at, probe_s(stop->at), other, stop->most,
		probe_named(column, "lock mutex") ? "wait for the same lock, and write its word" : "write the same words");
	finding_about(finding, study, stop->column, stop->level);
	probe_about_problem(finding, study, stop->problem_row);
	finding_evidence(finding, EVIDENCE_SCALING, stop->at, "threads",
	                 "from %g to %g threads it is %.2f times as fast [%.2f, %.2f]", stop->at, stop->most,
	                 stop->own.ratio, stop->own.ci[0], stop->own.ci[1]);
	finding_evidence(finding, EVIDENCE_CONTRAST, stop->other.ratio, "x", "%s is %.2f times as fast [%.2f, %.2f]", other,
	                 stop->other.ratio, stop->other.ci[0], stop->other.ci[1]);
	finding_missing(finding, EVIDENCE_COUNTER, "the lines that another core had changed (--counters FALSE_SHARE)");
	size_t row = probe_best(study, &scope);
	if (row != SIZE_MAX)
		probe_next_threads(finding, study, row, (size_t)probe_threads(study));
}

/* Examines the whole table, or each problem if it does not hold there. */
static void level_examine(const struct study *study, struct findings *findings, size_t column, int level) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem), found = 0;
	for (size_t i = 0; i <= problems && (problems > 1 || i == 0); i++) {
		struct stop stop = {.column = column, .level = level, .problem_row = i ? problem[i - 1] : SIZE_MAX};
		if ((i > 0 && found == SIZE_MAX) || !stop_of(study, &stop))
			continue;
		struct probe_case one = {.ratio = probe_apart(&stop.other, &stop.own)};
		if (one.ratio.ratio < GOES_ON || !probe_hold(study, &one, 1))
			continue;
		stop_report(study, findings, &stop, &one.ratio);
		found = i == 0 ? SIZE_MAX : found + 1;
	}
}

/* The words of the first row in the scope that say that words are shared, "sync=atomic". */
static bool shared_setting(const struct study *study, size_t row, char text[PROBE_TEXT]) {
	static const char *const kinds[] = {"atomic atomics", shared_words};
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		js_members (name, member, study_row(study, row)->config) {
			if (!json_is_string(member) || !probe_text_has(json_string_value(member), kinds[k]))
				continue;
			snprintf(text, PROBE_TEXT, "%.60s=%.60s", name, json_string_value(member));
			return true;
		}
	return false;
}

/* The curve must be smooth, because nothing else can be compared. */
static bool is_turning(const struct curve *curve) {
	double y[CURVE_MAX], last = curve->speedup[curve->count - 1].ratio;
	for (size_t i = 0; i < curve->count; i++)
		y[i] = -log(curve->speedup[i].ratio);
	return curve->count >= TEAMS_LEAST && curve->stop > 0 && curve->speedup[curve->stop].ratio / last >= TURNS &&
	       study_smooth_chance(y, curve->count) <= CHANCE_SMOOTH;
}

static void turn_report(const struct study *study, struct findings *findings, const struct curve *curve, size_t row,
                        const char *setting) {
	const struct study_host *host = study_host(study);
	double stop = curve->threads[curve->stop], most = curve->threads[curve->count - 1];
	double package = host->packages > 1 ? (double)host->cores / host->packages : NAN;
	double slower = curve->speedup[curve->stop].ratio / curve->speedup[curve->count - 1].ratio;
	char problem[PROBE_TEXT];
	struct finding *finding =
		findings_add(findings, CONFIDENCE_LOW, slower,
	                 "%s%s stops scaling at %g threads and then gets slower: all threads update the same words, which "
	                 "move from core to core; private copies that are added at the end avoid it",
	                 setting, probe_at(study, curve->scope.problem_row, problem), stop);
	probe_about_problem(finding, study, curve->scope.problem_row);
	finding_evidence(
		finding, EVIDENCE_SCALING, curve->speedup[curve->stop].ratio, "x",
		"%.2f times as fast with %g threads as with %g, but with %g it takes %.2f times as long as with %g",
		curve->speedup[curve->stop].ratio, stop, curve->threads[0], most, slower, stop);
	if (stop == package)
		finding_evidence(finding, EVIDENCE_MACHINE, package, "cores",
		                 "a package has %g cores; beyond them the words cross packages", package);
	finding_missing(finding, EVIDENCE_CONTRAST, "the same with private copies, which would go on scaling");
	probe_next_threads(finding, study, row, (size_t)probe_threads(study));
}

/* Without a sibling to compare with, the shape of the curve has to do. */
static void alone_examine(const struct study *study, struct findings *findings) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	int threads = probe_threads(study);
	for (size_t i = 0; i < problems && threads >= 0; i++) {
		struct probe_scope scope = {-1, -1, problem[i], 2, isfinite(probe_room(study)) ? probe_room(study) : 0};
		size_t row = probe_best(study, &scope);
		struct curve curve;
		char setting[PROBE_TEXT];
		scope.least = 0;
		if (row == SIZE_MAX || !shared_setting(study, row, setting))
			continue;
		for (size_t c = 0; c < study_columns(study); c++) /* serial code is in the table, too */
			if (!study_column(study, c)->is_problem && !study_column(study, c)->numeric) {
				scope.column = (int)c;
				scope.level = study_row(study, row)->level[c];
			}
		if (curve_make(study, scope, &curve) && is_turning(&curve))
			turn_report(study, findings, &curve, row, setting);
	}
}

static void compared_examine(const struct study *study, struct findings *findings) {
	int threads = probe_threads(study);
	if (threads < 0 || !follows(study, threads))
		return;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->is_problem || column->numeric || !probe_words_count(column, shared_words) ||
		    !follows(study, (int)c))
			continue;
		for (int l = 0; l < (int)column->levels; l++)
			if (probe_word(column, l, shared_words))
				level_examine(study, findings, c, l);
	}
}

static void examine(const struct study *study, struct findings *findings) {
	int threads = probe_threads(study);
	size_t before = findings_count(findings);
	if (!(study_pattern(study) > CHANCE_PATTERN))
		compared_examine(study, findings);
	if (threads >= 0 && findings_count(findings) == before)
		alone_examine(study, findings);
}

const struct diagnosis diagnosis_true_sharing = {
	.name = "true_sharing",
	.summary = "all threads write the same words, with atomics or without",
	.device = "cpu",
	.examine = examine,
	.always = true, /* a single curve is tested by its smoothness */
};
