/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Impossible times: more operations or bytes a second than any measured ceiling of this machine, a larger problem that
 * takes less time against the power law of all others, a speedup that neither threads nor caches explain. They mean
 * that a run ended early, measured nothing, or did other work. If many times are impossible, the limit is wrong and not
 * the times. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/diagnosis/diagnosis_probe.h"

struct wrong {
	enum evidence kind;
	double value;
	const char *unit;
	char text[3 * PROBE_TEXT];
	/* set by the caller, which asks for many rows: of probe_problems */
	size_t problem[PROBE_PROBLEMS], problems;
};

/* A time against its neighbours, for tables with too few sizes to fit a law: the other configurations tell how much
 * longer a larger problem takes (the median of their ratios, and how far they agree). A configuration that is faster at
 * the larger problem than at a smaller one, although all others take much longer, did not do the work. */
enum { OTHERS_LEAST = 3, ROWS_MOST = 2000 };
static const double GROWTH_LEAST = 1.5, AGREE = 1.3, BELOW = 3;

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
 * disagree. */
static double growth_of(const struct study *study, size_t row, size_t large, size_t small) {
	double *ratio = mem_alloc(study_rows(study) + 1, sizeof *ratio), median = NAN, spread = NAN;
	size_t count = 0;
	for (size_t r = 0; r < study_rows(study); r++) {
		if (study_row(study, r)->over || !study_same_problem(study, r, large) || study_same_config(study, r, row))
			continue;
		for (size_t s = 0; s < study_rows(study); s++)
			if (!study_row(study, s)->over && study_same_problem(study, s, small) && study_same_config(study, r, s))
				ratio[count++] = log(study_row(study, r)->value / study_row(study, s)->value);
	}
	if (count >= OTHERS_LEAST) {
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

static double own_of(const struct study *study, size_t row, size_t problem) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && study_same_problem(study, r, problem) && study_same_config(study, r, row))
			return study_row(study, r)->value;
	return NAN;
}

/* Is it against the smaller problem? */
static bool is_against(const struct study *study, size_t row, size_t small, struct wrong *wrong) {
	double time = study_row(study, row)->value, own = own_of(study, row, small);
	double least = isnan(own) ? least_of(study, row, small) : NAN;
	bool by_own = own > time * (1 + study_noise(study));
	bool by_all = isnan(own) && least > time && least_of(study, row, row) > BELOW * time;
	double growth = by_own || by_all ? growth_of(study, row, row, small) : NAN;
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
static const double BEYOND = 1.25 /* allows for clocks and noise */, LAW = 3, STRAIGHT = 1.3, LINEAR = 4, FEW = 0.25,
					CHANCE = 0.01, SMOOTH = 1.15, STEEP = 1.15,
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

/* Is `other` the row of a smaller team of the same series? */
static bool is_smaller_team(const struct study *study, size_t row, size_t other, int threads) {
	bool same = !study_row(study, other)->over &&
	            study_number(study, other, (size_t)threads) < study_number(study, row, (size_t)threads);
	for (size_t c = 0; c < study_columns(study) && same; c++)
		same = (int)c == threads || study_row(study, other)->level[c] == study_row(study, row)->level[c];
	return same;
}

/* Is it far faster than the number of threads explains, and than the next smaller team suggests? */
static bool is_beyond_linear(const struct study *study, size_t row, struct wrong *wrong) {
	int threads = probe_threads(study);
	double team = threads < 0 ? NAN : study_number(study, row, (size_t)threads), before = NAN, first = NAN;
	double time = study_row(study, row)->value, before_team = 0, first_team = INFINITY;
	for (size_t r = 0; r < study_rows(study) && team > 1; r++) {
		double other = study_number(study, r, (size_t)threads);
		bool same = is_smaller_team(study, row, r, threads);
		if (same && other > before_team) {
			before = study_row(study, r)->value;
			before_team = other;
		}
		if (same && other < first_team) {
			first = study_row(study, r)->value;
			first_team = other;
		}
	}
	if (!(first / time > LINEAR * team / first_team && before / time > LINEAR * team / before_team))
		return false;
	wrong->kind = EVIDENCE_SCALING;
	wrong->value = first / time;
	wrong->unit = "x";
	snprintf(wrong->text, sizeof wrong->text, "%.4g times as fast with %g threads as with %g", first / time, team,
	         first_team);
	return true;
}

/* The same if one curve has to show it, because others go another way: the smaller teams must lie on a line. */
static bool is_beyond_series(const struct study *study, size_t row, struct wrong *wrong) {
	struct law law = {0};
	int threads = probe_threads(study);
	double team = threads < 0 ? NAN : study_number(study, row, (size_t)threads);
	for (size_t r = 0; threads >= 0 && r < study_rows(study) && law.count < PROBE_PROBLEMS; r++) {
		if (!is_smaller_team(study, row, r, threads))
			continue;
		law.x[law.count] = log(study_number(study, r, (size_t)threads));
		law.y[law.count++] = log(study_row(study, r)->value);
	}
	if (law.count + 1 < SIZES_LEAST)
		return false;
	law_fit(&law);
	double expected = exp(law.offset + law.slope * log(team)), time = study_row(study, row)->value;
	return law.residual <= log(SMOOTH) && law.slope >= -STEEP && expected / time > LINEAR &&
	       is_beyond_linear(study, row, wrong);
}

static void tell(const struct study *study, struct findings *findings, size_t row, const struct wrong *wrong) {
	mem_auto char *words = study_words(study, row);
	double time = study_row(study, row)->value;
	bool certain = wrong->kind == EVIDENCE_CEILING || (wrong->unit[0] == 's' && wrong->value / time > LAW * LAW);
	struct finding *finding =
		findings_add(findings, certain ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, 1,
	                 "%.4g s is impossible (%s): the result is probably wrong, for example because "
	                 "of a race, or the run ended early",
	                 time, words);
	for (size_t c = 0; c < study_columns(study); c++)
		finding_about(finding, study, c, study_row(study, row)->level[c]);
	finding_evidence(finding, wrong->kind, wrong->value, wrong->unit, "%s", wrong->text);
	finding_next(finding, "run %s %s%s%s --alone --samples 21", study_kernel(study), words,
	             strcmp(study_device(study), "cpu") == 0 ? "" : " --device ",
	             strcmp(study_device(study), "cpu") == 0 ? "" : study_device(study));
}

typedef bool (*wrong_fn)(const struct study *study, size_t row, struct wrong *wrong);

/* Calls found for each time that is wrong, unless so many are that the limit must be wrong instead. */
static void each_by(struct study *study, wrong_fn is_wrong,
                    void (*found)(void *ctx, struct study *study, size_t row, const struct wrong *wrong), void *ctx) {
	struct wrong wrong;
	size_t rows = study_rows(study), count = 0;
	wrong.problems = probe_problems(study, wrong.problem);
	for (size_t r = 0; r < rows && rows <= ROWS_MAX; r++)
		count += !study_row(study, r)->over && is_wrong(study, r, &wrong);
	for (size_t r = 0; r < rows && count && (double)count <= FEW * (double)rows; r++)
		if (!study_row(study, r)->over && is_wrong(study, r, &wrong))
			found(ctx, study, r, &wrong);
}

static bool are_teams_known(const struct study *study) {
	int threads = probe_threads(study);
	return threads >= 0 && !(study_pattern(study) > CHANCE) && follows(study, threads);
}

static void each(struct study *study,
                 void (*found)(void *ctx, struct study *study, size_t row, const struct wrong *wrong), void *ctx) {
	each_by(study, is_over_peak, found, ctx);
	each_by(study, is_against_law, found, ctx);
	each_by(study, impossible_by_neighbours, found, ctx);
	each_by(study, are_teams_known(study) ? is_beyond_linear : is_beyond_series, found, ctx);
}

static void on_found(void *ctx, struct study *study, size_t row, const struct wrong *wrong) {
	tell(study, ctx, row, wrong);
}

static void examine(const struct study *study, struct findings *findings) {
	each((struct study *)study, on_found, findings); /* on_found does not change it */
}

static void on_doubt(void *ctx, struct study *study, size_t row, const struct wrong *wrong) {
	(void)ctx;
	(void)wrong;
	study_doubt(study, row);
}

void impossible_times_doubt(struct study *study) {
	each(study, on_doubt, NULL);
}

const struct diagnosis diagnosis_impossible_time = {
	.name = "impossible_time",
	.summary = "a time that this machine cannot reach, or that contradicts the others",
	.examine = examine,
	.always = true,
};
