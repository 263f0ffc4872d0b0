/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The laws that every time has to obey before a diagnosis, a reading or a recommendation may rest on it: no more
 * operations or bytes a second than any measured ceiling of this machine, a larger problem does not take much less
 * time, a team gains no more than its threads and caches explain, a core no more than its hardware threads, parts do
 * not exceed the whole, and a time depends on the work. Those that break one are told and left out. If many break it,
 * the law is wrong and not the times. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/diagnosis/judge_impl.h"

/* A time against its neighbours, for tables with too few sizes to fit a law: the other configurations tell how much
 * longer a larger problem takes (the median of their ratios, and how far they agree). A configuration that is faster at
 * the larger problem than at a smaller one, although all others take much longer, did not do the work. */
enum { OTHERS_LEAST = 3, ROWS_MOST = 2000 };
static const double GROWTH_LEAST = 1.5, AGREE = 1.3, BELOW = 3, DROP = 1.5;

/* Is the problem of `small` a smaller one in every member in which it differs? Graphs and mixes are not sizes. */
static bool is_smaller(const struct study *study, size_t small, size_t large) {
	bool differs = false;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		int a = study_row(study, small)->level[c], b = study_row(study, large)->level[c];
		if (!column->is_problem || a == b)
			continue;
		if (!column->numeric || a == STUDY_ABSENT || b == STUDY_ABSENT || a > b)
			return false;
		differs = true;
	}
	return differs;
}

/* How much longer other configurations take at the problem of `large`; NAN if fewer than three tell, or if they
 * disagree. all: fewer are enough if there are no others. */
static double growth_of(const struct study *study, size_t row, size_t large, size_t small, bool all) {
	double *ratio = mem_alloc(study_rows(study) + 1, sizeof *ratio), median = NAN, spread = NAN;
	size_t count = 0, others = 0;
	for (size_t r = 0; r < study_rows(study); r++) {
		if (study_row(study, r)->over || !study_same_problem(study, r, large) || study_same_config(study, r, row))
			continue;
		others++;
		for (size_t s = 0; s < study_rows(study); s++)
			if (!study_row(study, s)->over && study_same_problem(study, s, small) && study_same_config(study, r, s))
				ratio[count++] = log(study_row(study, r)->value / study_row(study, s)->value);
	}
	if (count >= OTHERS_LEAST || (all && count && others < OTHERS_LEAST)) {
		median = stats_median(ratio, count);
		for (size_t i = 0; i < count; i++)
			ratio[i] = fabs(ratio[i] - median);
		spread = stats_median(ratio, count);
	}
	free(ratio);
	return spread <= log(AGREE) ? exp(median) : NAN;
}

/* The least time of the other configurations at a problem; INFINITY if there are fewer than three. */
static double least_of(const struct study *study, size_t row, size_t problem) {
	double least = INFINITY;
	size_t count = 0;
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && study_same_problem(study, r, problem) && !study_same_config(study, r, row)) {
			least = fmin(least, study_row(study, r)->value);
			count++;
		}
	return count >= OTHERS_LEAST ? least : INFINITY;
}

double judge_time_at(const struct study *study, size_t row, size_t problem) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && study_same_config(study, r, row) && study_same_problem(study, r, problem))
			return study_row(study, r)->value;
	return NAN;
}

/* Do all other times grow with the problem? Then one that falls does not need many witnesses. */
static bool others_grow(const struct study *study, size_t row) {
	for (size_t r = 0; r < study_rows(study); r++)
		for (size_t s = 0; s < study_rows(study) && r != row; s++)
			if (s != row && study_row(study, r)->value < study_row(study, s)->value && study_same_config(study, r, s) &&
			    is_smaller(study, s, r))
				return false;
	return true;
}

/* Is it against the smaller problem? */
static bool is_against(const struct study *study, size_t row, size_t small, struct wrong *wrong) {
	double time = study_row(study, row)->value, own = judge_time_at(study, row, small);
	double least = isnan(own) ? least_of(study, row, small) : NAN;
	bool by_own = own > time * (1 + study_noise(study));
	bool by_all = isnan(own) && least > time && least_of(study, row, row) > BELOW * time;
	double growth =
		by_own || by_all ? growth_of(study, row, row, small, own > DROP * time && others_grow(study, row)) : NAN;
	double expected = growth * (by_own ? own : least);
	char problem[PROBE_TEXT];
	if (!(growth >= GROWTH_LEAST) || !isfinite(expected) || !(expected > BELOW * time))
		return false;
	probe_problem(study, small, problem);
	wrong->kind = EVIDENCE_SCALING;
	wrong->value = expected;
	wrong->unit = "s";
	snprintf(wrong->text, sizeof wrong->text,
	         "less time than %s takes (%.4g s), although the other configurations take %.3g times as long here, so "
	         "that about %.3g s are expected",
	         problem, by_own ? own : least, growth, expected);
	return true;
}

static bool impossible_by_neighbours(const struct study *study, size_t row, struct wrong *wrong) {
	bool found = false;
	if (wrong->problems < 2 || study_rows(study) > ROWS_MOST)
		return false;
	for (size_t i = 0; i < wrong->problems && !found; i++)
		found = is_smaller(study, wrong->problem[i], row) && is_against(study, row, wrong->problem[i], wrong);
	return found;
}

enum { SIZES_LEAST = 4, ROWS_MAX = 4000, ANY_TEAM = 1 << 20 };
static const double BEYOND = 1.25 /* allows for clocks and noise */, LAW = 3, STRAIGHT = 1.3, FEW = 0.25, CHANCE = 0.01,
					HARDLY = 1.25 /* a larger size that takes up to this much longer than a smaller one */;

static double ceiling_of(const struct study *study, const char *const *names, const char *level) {
	int team = strcmp(study_device(study), "cpu") == 0 ? ANY_TEAM : 0;
	double most = NAN;
	for (size_t i = 0; names[i]; i++) {
		if (!study_ceiling_steady(study, names[i], level))
			return INFINITY; /* it was measured beside others, and a quiet run may exceed it */
		most = fmax(most, study_ceiling(study, names[i], level, team));
	}
	return most;
}

/* In units of 1e9 a second; NAN: there is no ceiling for this kind of operation. */
static double peak_of(const struct study *study, size_t row) {
	static const char *const pairs[] = {"addmin", "addmin2", NULL}, *const flops[] = {"fp32", "fp64", NULL};
	const char *op = js_string_or(json_object_get(study_row(study, row)->detail, "work"), "op", "");
	if (strcmp(op, "relaxation") == 0 || strcmp(op, "pair") == 0)
		return ceiling_of(study, pairs, NULL);
	return strcmp(op, "floating-point operation") == 0 || strcmp(op, "flop") == 0 ? ceiling_of(study, flops, NULL)
	                                                                              : NAN;
}

/* The bandwidth of the fastest level, because data may stay in caches. */
static double bandwidth_of(const struct study *study) {
	static const char *const names[] = {"read", "copy", "triad", NULL}, *const shared[] = {"shared", NULL};
	static const char *const levels[] = {"l1d", "l2", "l3", "dram"};
	double most = ceiling_of(study, shared, NULL);
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		most = fmax(most, ceiling_of(study, names, levels[i]));
	return most;
}

static bool is_over_peak(const struct study *study, size_t row, struct wrong *wrong) {
	double value = study_row(study, row)->value, ops = study_work(study, row, "ops") / value / 1e9;
	double bytes = study_work(study, row, "bytes") / value / 1e9, peak = peak_of(study, row),
		   most = bandwidth_of(study);
	bool work = ops > peak * BEYOND, traffic = bytes > most * BEYOND;
	if (!work && !traffic)
		return false;
	wrong->kind = EVIDENCE_CEILING;
	wrong->value = work ? ops : bytes;
	wrong->unit = work ? "1e9/s" : "GB/s";
	snprintf(wrong->text, sizeof wrong->text, "this would need %.4g %s; the highest measured rate here is %.4g",
	         wrong->value, work ? "billion operations a second" : "GB/s", work ? peak : most);
	return true;
}

struct law {
	size_t count;
	double x[PROBE_PROBLEMS], y[PROBE_PROBLEMS]; /* log size and log time of the others */
	double slope, residual;                      /* the largest residual */
	double offset;
};

/* The median of the slopes of all pairs (Theil, A rank-invariant method of linear and polynomial regression analysis,
 * 1950; Sen, Estimates of the regression coefficient based on Kendall's tau, 1968): a single impossible time must not
 * decide the law. */
static void law_fit(struct law *law) {
	double slopes[PROBE_PROBLEMS * PROBE_PROBLEMS / 2], offsets[PROBE_PROBLEMS];
	size_t count = 0;
	for (size_t i = 0; i < law->count; i++)
		for (size_t j = 0; j < i; j++)
			if (law->x[i] != law->x[j])
				slopes[count++] = (law->y[i] - law->y[j]) / (law->x[i] - law->x[j]);
	law->slope = stats_median(slopes, count);
	for (size_t i = 0; i < law->count; i++)
		offsets[i] = law->y[i] - law->slope * law->x[i];
	law->offset = stats_median(offsets, law->count);
	law->residual = 0;
	for (size_t i = 0; i < law->count; i++)
		law->residual = fmax(law->residual, fabs(offsets[i] - law->offset));
}

static bool is_against_law(const struct study *study, size_t row, struct wrong *wrong) {
	struct law law = {0};
	double size = probe_size(study, row), time = study_row(study, row)->value, smaller = 0;
	for (size_t r = 0; r < study_rows(study) && law.count < PROBE_PROBLEMS; r++) {
		const struct study_row *other = study_row(study, r);
		if (r == row || other->over || !study_same_config(study, r, row))
			continue;
		law.x[law.count] = log(probe_size(study, r));
		law.y[law.count++] = log(other->value);
		if (probe_size(study, r) < size)
			smaller = fmax(smaller, other->value);
	}
	if (law.count + 1 < SIZES_LEAST || !(smaller * HARDLY > time))
		return false;
	law_fit(&law);
	double expected = exp(law.offset + law.slope * log(size));
	if (!(law.slope > 0) || law.residual > log(STRAIGHT) || expected / time < LAW ||
	    log(expected / time) < 5 * law.residual)
		return false;
	wrong->kind = EVIDENCE_SCALING;
	wrong->value = expected;
	wrong->unit = "s";
	snprintf(wrong->text, sizeof wrong->text, "%s a smaller problem (%.4g s); the %zu other sizes predict %.4g s",
	         smaller > time ? "less time than" : "hardly more time than", smaller, law.count, expected);
	return true;
}

static bool is_cpu(const struct study *study) {
	return strcmp(study_device(study), "cpu") == 0;
}

static struct finding *tell_add(const struct study *study, struct findings *findings, size_t row,
                                const struct wrong *wrong, const char *words) {
	double time = study_row(study, row)->value;
	char value[PROBE_TEXT];
	bool sure = wrong->kind == EVIDENCE_CEILING || (wrong->unit[0] == 's' && wrong->value / time > LAW * LAW);
	if (wrong->judged == LAW_SIZE)
		return findings_add(findings, CONFIDENCE_HIGH, 1,
		                    "%s is impossible (%s), as are the times of this configuration at other sizes: measure it "
		                    "again, because only the launch was timed",
		                    study_value_text(study, time, value, sizeof value), words);
	if (wrong->judged == LAW_POINT)
		return findings_add(findings, CONFIDENCE_LOW, 1,
		                    "%.4g s is suspect (%s): measure it again; it is left out until then", time, words);
	return findings_add(findings, sure ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, 1,
	                    "%.4g s is impossible (%s): the result is probably wrong, for example because "
	                    "of a race, or the run ended early: measure it again",
	                    time, words);
}

static void tell(const struct study *study, struct findings *findings, size_t row, const struct wrong *wrong) {
	mem_auto char *words = study_words(study, row);
	struct finding *finding = tell_add(study, findings, row, wrong, words);
	for (size_t c = 0; c < study_columns(study); c++)
		if (wrong->judged != LAW_SIZE || !study_column(study, c)->is_problem)
			finding_about(finding, study, c, study_row(study, row)->level[c]);
	finding_evidence(finding, wrong->kind, wrong->value, wrong->unit, "%s", wrong->text);
	finding_next(finding, "run %s %s%s%s --alone --samples 21", study_kernel(study), words,
	             is_cpu(study) ? "" : " --device ", is_cpu(study) ? "" : study_device(study));
}

/* share: if more rows break the law, it is the law that does not hold here. */
static const struct {
	bool (*breaks)(const struct study *study, size_t row, struct wrong *wrong);
	enum judged judged;
	double share;
} laws[] = {
	{is_over_peak, LAW_WORK, FEW},
	{is_against_law, LAW_WORK, FEW},
	{impossible_by_neighbours, LAW_WORK, FEW},
	{judge_beyond_linear, LAW_WORK, FEW},
	{judge_beyond_core, LAW_POINT, FEW},
	{judge_is_spike, LAW_POINT, FEW},
	{judge_exceeds_whole, LAW_POINT, FEW},
	{judge_ignores_size, LAW_SIZE, 1},
};

/* Calls found for each time that breaks a law, by the first one that it breaks. */
static void judge(struct study *study,
                  void (*found)(void *ctx, struct study *study, size_t row, const struct wrong *wrong), void *ctx) {
	struct wrong wrong = {0};
	int threads = probe_threads(study);
	size_t rows = study_rows(study);
	if (rows > ROWS_MAX)
		return;
	mem_auto bool *told = mem_alloc(rows + 1, sizeof *told), *breaks = mem_alloc(rows + 1, sizeof *breaks);
	wrong.problems = probe_problems(study, wrong.problem);
	wrong.few = study_few(study);
	wrong.teams_known = threads >= 0 && !(study_pattern(study) > CHANCE) && follows(study, threads);
	for (size_t l = 0; l < sizeof laws / sizeof *laws; l++) {
		size_t count = 0;
		for (size_t r = 0; r < rows; r++)
			count += breaks[r] = !study_row(study, r)->over && laws[l].breaks(study, r, &wrong);
		wrong.judged = laws[l].judged;
		for (size_t r = 0; r < rows && (double)count <= laws[l].share * (double)rows; r++)
			if (breaks[r] && !told[r] && laws[l].breaks(study, r, &wrong)) {
				told[r] = true;
				found(ctx, study, r, &wrong);
			}
	}
}

static void on_found(void *ctx, struct study *study, size_t row, const struct wrong *wrong) {
	tell(study, ctx, row, wrong);
}

static void examine(const struct study *study, struct findings *findings) {
	judge((struct study *)study, on_found, findings); /* on_found does not change it */
}

static void on_doubt(void *ctx, struct study *study, size_t row, const struct wrong *wrong) {
	(void)ctx;
	(void)wrong;
	study_doubt(study, row);
}

void impossible_times_doubt(struct study *study) {
	judge(study, on_doubt, NULL);
}

const struct diagnosis diagnosis_impossible_time = {
	.name = "impossible_time",
	.summary = "a time that this machine cannot reach, or that contradicts the others",
	.examine = examine,
	.always = true,
};
