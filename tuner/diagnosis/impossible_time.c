/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The laws that every time has to obey before anything may rest on it: no more operations or bytes a second than any
 * measured ceiling of this machine, a larger problem does not take much less time, a team gains no more than its
 * threads and caches explain, a core no more than its hardware threads, parts do not exceed the whole, a time
 * depends on the work, and no point lies alone beside its curve. Those that break one are told and left out. If many
 * break it, the law is wrong and not the times. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>

#include "base/mem.h"
#include "tuner/diagnosis/laws_impl.h"

enum { ROWS_MAX = 4000 };
static const double CHANCE = 0.01, FEW = 0.25, SURE = 9, FAST = 1.6, SLOW = 1.8;

bool law_broken(struct wrong *wrong, double value, const char *unit, const char *text, ...) {
	va_list args;
	va_start(args, text);
	vsnprintf(wrong->text, sizeof wrong->text, text, args);
	va_end(args);
	wrong->kind = EVIDENCE_SCALING;
	wrong->value = value;
	wrong->unit = unit;
	return true;
}

bool law_is_far(double far) {
	return far > log(SLOW) || far < -log(FAST);
}

static struct finding *tell_add(const struct study *study, struct findings *findings, size_t row,
                                const struct wrong *wrong, enum judged judged, const char *words) {
	double time = study_row(study, row)->value;
	char number[PROBE_TEXT], value[2 * PROBE_TEXT];
	bool sure = wrong->kind == EVIDENCE_CEILING || (wrong->unit[0] == 's' && wrong->value / time > SURE);
	study_value_text(study, time, number, sizeof number);
	snprintf(value, sizeof value, "%s%s", isalpha((unsigned char)number[strlen(number) - 1]) ? "" : "the time ",
	         number);
	if (judged == LAW_SIZE)
		return findings_add(findings, CONFIDENCE_HIGH, 1,
		                    "%s is impossible (%s), as are the times of this configuration at other sizes: measure it "
		                    "again, because only the launch was timed",
		                    value, words);
	if (judged == LAW_POINT)
		return findings_add(findings, CONFIDENCE_LOW, 1,
		                    "%s is suspect (%s): measure it again; it is left out until then", value, words);
	return findings_add(findings, sure ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, 1,
	                    "%s is impossible (%s): the result is probably wrong, for example because "
	                    "of a race, or the run ended early: measure it again",
	                    value, words);
}

static void tell(const struct study *study, struct findings *findings, size_t row, const struct wrong *wrong,
                 enum judged judged) {
	const char *device = strcmp(study_device(study), "cpu") == 0 ? NULL : study_device(study);
	mem_auto char *words = study_words(study, row);
	struct finding *finding = tell_add(study, findings, row, wrong, judged, words);
	for (size_t c = 0; c < study_columns(study); c++)
		if (judged != LAW_SIZE || !study_column(study, c)->is_problem)
			finding_about(finding, study, c, study_row(study, row)->level[c]);
	finding_evidence(finding, wrong->kind, wrong->value, wrong->unit, "%s", wrong->text);
	finding_next(finding, "run %s %s%s%s --alone --samples 21", study_kernel(study), words, device ? " --device " : "",
	             device ? device : "");
}

/* Tells each time that breaks the law; without findings it is doubted instead. */
static void judge_law(struct study *study, const struct law *law, struct wrong *wrong, bool *told,
                      struct findings *findings) {
	size_t rows = study_rows(study), count = 0;
	mem_auto bool *breaks = mem_alloc(rows + 1, sizeof *breaks);
	for (size_t r = 0; r < rows; r++)
		count += breaks[r] = !study_row(study, r)->over && law->breaks(study, r, wrong);
	for (size_t r = 0; r < rows && (law->judged == LAW_SIZE || (double)count <= FEW * (double)rows); r++) {
		if (!breaks[r] || told[r] || !law->breaks(study, r, wrong))
			continue;
		told[r] = true;
		if (findings)
			tell(study, findings, r, wrong, law->judged);
		else
			study_doubt(study, r);
	}
}

/* A time is told by the first law that it breaks. */
static void judge(struct study *study, struct findings *findings) {
	static const struct law *const laws[] = {laws_of_work, laws_of_sizes, laws_of_teams, laws_of_contrasts, NULL};
	struct wrong wrong = {0};
	mem_auto bool *told = mem_alloc(study_rows(study) + 1, sizeof *told);
	if (study_rows(study) > ROWS_MAX)
		return;
	wrong.problems = probe_problems(study, wrong.problem);
	wrong.few = study_few(study);
	wrong.teams_known =
		probe_threads(study) >= 0 && !(study_pattern(study) > CHANCE) && follows(study, probe_threads(study));
	for (const struct law *const *list = laws; *list; list++)
		for (const struct law *law = *list; law->breaks; law++)
			judge_law(study, law, &wrong, told, findings);
}

static void examine(const struct study *study, struct findings *findings) {
	judge((struct study *)study, findings); /* which is not changed then */
}

void impossible_times_doubt(struct study *study) {
	judge(study, NULL);
}

const struct diagnosis diagnosis_impossible_time = {
	.name = "impossible_time",
	.summary = "a time that this machine cannot reach, or that contradicts the others",
	.examine = examine,
	.always = true,
};
