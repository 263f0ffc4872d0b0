/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handing out work costs more than the balance it brings: a dynamic schedule, chunks that are too small, or joined
 * loops whose indices have to be taken apart again. */
#include "tuner/diagnosis/diagnosis_probe.h"

/* A value that costs, and the one to compare it with. */
struct handing {
	const char *names; /* of the column; NULL: any */
	const char *dear, *plain;
	const char *why;
};
static const struct handing handings[] = {
	{"schedule", "dynamic guided", "static", "handing out work costs more than the better balance gains"},
	{NULL, "collapse collapsed flattened", "rows row outer none no plain naive simple static loop for",
     "decomposing the collapsed index costs more than the additional iterations gain"},
};
enum { HANDINGS = sizeof handings / sizeof *handings };

static struct finding *overhead_report(const struct study *study, struct findings *findings, size_t column,
                                       const struct probe_case *found, const char *why) {
	struct probe_scope scope = {(int)column, found->a, found->problem_row, 0, 0};
	char own[PROBE_TEXT], other[PROBE_TEXT], problem[PROBE_TEXT];
	bool clear = found->ratio.pairs >= 5 && found->ratio.agree == found->ratio.pairs;
	probe_level(study, column, found->a, own);
	probe_level(study, column, found->b, other);
	struct finding *finding =
		findings_add(findings, clear ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, found->ratio.ratio,
	                 "%s hurts%s: it takes %.2f times as long as %s, because %s", own,
	                 probe_at(study, found->problem_row, problem), found->ratio.ratio, other, why);
	finding_about(finding, study, column, found->a);
	probe_about_problem(finding, study, found->problem_row);
	finding_evidence(finding, EVIDENCE_CONTRAST, found->ratio.ratio, "x",
	                 "%s over %s [%.2f, %.2f], %zu of %zu pairs agree", own, other, found->ratio.ci[0],
	                 found->ratio.ci[1], found->ratio.agree, found->ratio.pairs);
	finding_missing(finding, EVIDENCE_COUNTER, "the instructions of both (--counters CPU)");
	probe_next_compare(finding, study, &scope, found->b);
	return finding;
}

/* The price with one thread, for which there is nothing to balance; pairs 0: not measured. */
static struct study_ratio alone_of(const struct study *study, size_t column, const struct probe_case *one) {
	struct probe_scope scope = {-1, -1, one->problem_row, 1, 1};
	return study_contrast(study, column, one->a, one->b, probe_in, &scope);
}

/* Compares words, or numbers of joined loops. */
static bool is_pair(const struct study_column *column, const struct handing *handing, int a, int b) {
	if (column->numeric)
		return !handing->names && probe_named(column, "collapse") && value_number(column->level[a]) > 1 &&
		       value_number(column->level[b]) <= 1;
	return probe_word(column, a, handing->dear) && probe_word(column, b, handing->plain);
}

/* Checks each value that costs: for all problems together, otherwise for each problem where it does. */
static size_t column_examine(const struct study *study, struct findings *findings, size_t column,
                             const struct handing *handing, size_t problem_row) {
	const struct study_column *one = study_column(study, column);
	struct probe_scope scope = {-1, -1, problem_row, 0, 0};
	struct probe_case cases[PROBE_CASES];
	size_t count = 0, told = 0;
	for (int a = 0; a < (int)one->levels; a++)
		for (int b = 0; b < (int)one->levels && count < PROBE_CASES; b++)
			if (is_pair(one, handing, a, b))
				cases[count++] = (struct probe_case){
					study_contrast(study, column, a, b, probe_in, &scope), problem_row, a, b, {0}, false};
	probe_hold(study, cases, count);
	for (size_t i = 0; i < count; i++) {
		struct study_ratio alone = alone_of(study, column, &cases[i]);
		if (!cases[i].holds || (alone.pairs && !(alone.ratio > 1 + probe_limit(study))))
			continue;
		struct finding *finding = overhead_report(study, findings, column, &cases[i], handing->why);
		if (alone.pairs)
			finding_evidence(finding, EVIDENCE_CONTRAST, alone.ratio, "x",
			                 "with one thread, which has nothing to balance, %.3g times as long", alone.ratio);
		told++;
	}
	return told;
}

/* Compares the smallest chunk with the best one. */
static void chunk_examine(const struct study *study, struct findings *findings) {
	int column = study_find(study, "chunk");
	struct probe_case cases[PROBE_CASES];
	size_t count = 0, worst = SIZE_MAX;
	if (column < 0 || !study_column(study, (size_t)column)->numeric || !follows(study, column))
		return;
	for (int b = 1; b < (int)study_column(study, (size_t)column)->levels && count < PROBE_CASES; b++)
		cases[count++] =
			(struct probe_case){study_contrast(study, (size_t)column, 0, b, NULL, NULL), SIZE_MAX, 0, b, {0}, false};
	probe_hold(study, cases, count);
	for (size_t i = 0; i < count; i++)
		if (cases[i].holds && (worst == SIZE_MAX || cases[i].ratio.ratio > cases[worst].ratio.ratio))
			worst = i;
	if (worst != SIZE_MAX)
		overhead_report(study, findings, (size_t)column, &cases[worst], "chunks this small are not worth a request");
}

static void examine(const struct study *study, struct findings *findings) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	for (size_t h = 0; h < HANDINGS; h++)
		for (size_t c = 0; c < study_columns(study); c++) {
			const struct study_column *column = study_column(study, c);
			bool fits =
				column->numeric ? probe_named(column, "collapse") : probe_words_count(column, handings[h].dear) > 0;
			if (column->is_problem || !fits || (handings[h].names && !probe_named(column, handings[h].names)) ||
			    !follows(study, (int)c))
				continue;
			if (!column_examine(study, findings, c, &handings[h], SIZE_MAX) && problems > 1)
				for (size_t i = 0; i < problems; i++)
					column_examine(study, findings, c, &handings[h], problem[i]);
		}
	chunk_examine(study, findings);
}

const struct diagnosis diagnosis_scheduling_overhead = {
	.name = "scheduling_overhead",
	.summary = "handing out work costs more than the better balance gains",
	.device = "cpu",
	.examine = examine,
};
