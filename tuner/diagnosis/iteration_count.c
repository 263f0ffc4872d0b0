/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A faster configuration may do less work instead of doing it faster: its time is a number of iterations times the time
 * of one. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"

enum { LEVELS_MOST = 32 };
static const double FEWER = 1.2, CONSISTENT = 1.5;
static const char *const counts[] = {"iterations", "rounds", "sweeps", "passes", "steps", "loops"};

struct split {
	const char *what;
	double ratio, fewer; /* ratios of times and of counts, slow over fast */
	size_t pairs;
	int slow, fast;
};

/* In seconds, if the row reports it. */
static double time_of_one(const struct study *study, size_t row, const char *what) {
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
	mem_auto char *name = mem_printf("time_per_%.*s", (int)strlen(what) - 1, what);
	const json_t *list = json_object_get(study_row(study, row)->detail, "figures");
	double time = NAN;
	js_each (one, list)
		for (size_t u = 0; u < sizeof units / sizeof *units; u++)
			if (strcmp(js_string_or(one, "name", ""), name) == 0 &&
			    strcmp(js_string_or(one, "unit", ""), units[u].unit) == 0)
				time = js_real_or(one, "value", NAN) * units[u].seconds;
	return time;
}

/* NAN: unknown, or the figures do not belong to this time. */
static double count_of(const struct study *study, size_t row, const char *what) {
	double count = study_figure(study, row, what), time = time_of_one(study, row, what);
	if (!(count > 0) || study_row(study, row)->over)
		return NAN;
	return fabs(log(time * count / study_row(study, row)->value)) > log(CONSISTENT) ? NAN : count;
}

static bool split_of(const struct study *study, const struct study_pair *pairs, size_t count, struct split *split) {
	for (size_t w = 0; w < sizeof counts / sizeof *counts; w++) {
		double times = 0, fewer = 0;
		size_t known = 0;
		for (size_t i = 0; i < count; i++) {
			double ratio = count_of(study, pairs[i].a, counts[w]) / count_of(study, pairs[i].b, counts[w]);
			if (!isfinite(ratio))
				continue;
			times += log(study_row(study, pairs[i].a)->value / study_row(study, pairs[i].b)->value);
			fewer += log(ratio);
			known++;
		}
		if (known && fabs(fewer / (double)known) >= log(FEWER)) {
			split->what = counts[w];
			split->ratio = exp(times / (double)known);
			split->fewer = exp(fewer / (double)known);
			split->pairs = known;
			return split->ratio > 1 + probe_limit(study);
		}
	}
	return false;
}

static struct finding *split_report(struct findings *findings, const struct split *split, const char *who) {
	double each = split->ratio / split->fewer;
	struct finding *finding = findings_add(
		findings, split->pairs >= 2 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, split->ratio,
		"%s: %.3gx is %.3gx for each of the %s times %.3gx %s of them", who, split->ratio, each, split->what,
		split->fewer > 1 ? split->fewer : 1 / split->fewer, split->fewer > 1 ? "fewer" : "more");
	finding_evidence(finding, EVIDENCE_FIGURE, split->fewer, "x", "%s: %.3g times as many", split->what, split->fewer);
	finding_evidence(finding, EVIDENCE_FIGURE, each, "x", "time of one: %.3g times as long", each);
	finding_evidence(finding, EVIDENCE_CONTRAST, split->ratio, "x", "time: %.3g times as long, %zu pair%s",
	                 split->ratio, split->pairs, probe_s((double)split->pairs));
	return finding;
}

/* At least one of the columns in which they differ must explain times. */
static bool is_explained(const struct study *study, size_t a, size_t b) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (study_row(study, a)->level[c] != study_row(study, b)->level[c] && follows(study, (int)c))
			return true;
	return false;
}

static void winner_examine(const struct study *study, struct findings *findings) {
	struct study_pair pair = {study_baseline(study), study_winner(study)};
	struct split split = {0};
	if (pair.a == SIZE_MAX || pair.b == SIZE_MAX || pair.a == pair.b || !split_of(study, &pair, 1, &split) ||
	    !is_explained(study, pair.a, pair.b))
		return;
	mem_auto char *fast = study_words(study, pair.b);
	struct finding *finding = split_report(findings, &split, "the best over the baseline");
	probe_about_problem(finding, study, pair.b);
	finding_next(finding, "run %s %s", study_kernel(study), fast);
}

/* Finds the two values of a parameter with the largest difference, at one problem. */
static bool column_split(const struct study *study, size_t column, size_t problem_row, struct split *best) {
	struct probe_scope scope = {-1, -1, problem_row, 0, 0};
	*best = (struct split){0};
	for (int a = 0; a < (int)study_column(study, column)->levels; a++)
		for (int b = 0; b < (int)study_column(study, column)->levels; b++) {
			struct study_pair *pairs;
			struct split split = {.slow = a, .fast = b};
			size_t count = study_pairs(study, column, a, b, probe_in, &scope, &pairs);
			struct probe_case one = {.ratio = study_compare(study, pairs, count)};
			if (count && probe_hold(study, &one, 1) && split_of(study, pairs, count, &split) &&
			    split.ratio > best->ratio)
				*best = split;
			free(pairs);
		}
	return best->ratio > 1;
}

static void column_examine(const struct study *study, struct findings *findings, size_t column, size_t problem_row) {
	struct split split;
	char slow[PROBE_TEXT], fast[PROBE_TEXT], problem[PROBE_TEXT];
	if (!column_split(study, column, problem_row, &split))
		return;
	probe_problem(study, problem_row, problem);
	mem_auto char *who =
		mem_printf("%s%s%s over %s", problem, *problem ? ", " : "", probe_level(study, column, split.fast, fast),
	               probe_level(study, column, split.slow, slow));
	struct finding *finding = split_report(findings, &split, who);
	finding_about(finding, study, column, split.fast);
	probe_about_problem(finding, study, problem_row);
	struct probe_scope scope = {(int)column, split.fast, problem_row, 0, 0};
	size_t row = probe_best(study, &scope);
	if (row != SIZE_MAX) {
		mem_auto char *words = probe_words(study, row, study_column(study, column)->name);
		finding_next(finding, "compare %s %s %s %s", study_kernel(study), words, slow, fast);
	}
}

static bool has_counts(const struct study *study) {
	for (size_t r = 0; r < study_rows(study); r++)
		for (size_t w = 0; w < sizeof counts / sizeof *counts; w++)
			if (study_figure(study, r, counts[w]) > 0)
				return true;
	return false;
}

static void examine(const struct study *study, struct findings *findings) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	if (!has_counts(study))
		return;
	winner_examine(study, findings);
	for (size_t c = 0; c < study_columns(study); c++)
		if (!study_column(study, c)->is_problem && study_column(study, c)->levels <= LEVELS_MOST &&
		    follows(study, (int)c))
			for (size_t i = 0; i < problems; i++)
				column_examine(study, findings, c, problem[i]);
}

const struct diagnosis diagnosis_iteration_count = {
	.name = "iteration_count",
	.summary = "a faster configuration needs fewer iterations, or more but shorter ones",
	.always = true, /* a count times the time of one is arithmetic and does not infer anything from times */
	.examine = examine,
};
