/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A larger problem does not take much less time, and a time depends on the size. */
#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/diagnosis/laws_impl.h"

enum { SIZES_FLAT = 3, SIZES_LEAST = 4 };
static const double WORK = 16, UNREAL = 3000, LAW = 3, STRAIGHT = 1.3, SURE = 5, LINEAR = 0.9,
					HARDLY = 1.25 /* a larger size that takes up to this much longer than a smaller one */;

static double judge_time_at(const struct study *study, size_t row, size_t problem) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && study_same_config(study, r, row) && study_same_problem(study, r, problem))
			return study_row(study, r)->value;
	return NAN;
}

/* The largest of a configuration's times at all sizes over the smallest; NAN if one is missing. rises: or if a larger
 * size takes less time. */
static double range_of(const struct study *study, size_t row, const struct wrong *wrong, bool rises) {
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < wrong->problems; i++) {
		double time = judge_time_at(study, row, wrong->problem[i]);
		if (!(time > 0) || (rises && time < most))
			return NAN;
		least = fmin(least, time);
		most = fmax(most, time);
	}
	return wrong->problems < SIZES_FLAT ? NAN : most / least;
}

/* Is the time the same at any size, while the work grows, and so short that it would be thousands of times as fast as
 * other code? Then it is the launch that was timed, and nothing waited for the work. All other code must show how the
 * work grows. */
static bool judge_ignores_size(const struct study *study, size_t row, struct wrong *wrong) {
	size_t large = wrong->problem[wrong->problems ? wrong->problems - 1 : 0];
	double own = range_of(study, row, wrong, false), time = own > 0 ? judge_time_at(study, row, large) : NAN;
	double grows = INFINITY, other = 0;
	for (size_t r = 0; time > 0 && r < study_rows(study); r++) {
		if (study_row(study, r)->over || !study_same_problem(study, r, large))
			continue;
		bool slow = study_row(study, r)->value > UNREAL * time;
		double range = range_of(study, r, wrong, slow);
		if (slow ? !(range >= WORK * own) : !(range < WORK))
			return false;
		grows = slow ? fmin(grows, range) : grows;
		other = slow ? study_row(study, r)->value : other;
	}
	return other > 0 &&
	       law_broken(
			   wrong, other / time, "x",
			   "it hardly changes with the size (%.3g times), where other code takes %.3g times as long at the "
			   "largest one: only the launch was timed, and nothing waited for the work to end (synchronize before "
			   "the clock is read)",
			   own, grows);
}

/* A time against its neighbours, for tables with too few sizes to fit a law: the other configurations tell how much
 * longer a larger problem takes (the median of their ratios, and how far they agree). A configuration that is faster at
 * the larger problem than at a smaller one, although all others take much longer, did not do the work. */
enum { OTHERS_LEAST = 3, ROWS_MOST = 2000 };
static const double GROWTH_LEAST = 1.5, AGREE = 1.3, BELOW = 3, DROP = 1.5, EXPECTED = 1.5, COLD = 2;

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
 * disagree. all: fewer than three suffice if no others were measured. */
static double growth_of(const struct study *study, size_t row, size_t large, size_t small, bool all) {
	mem_auto double *ratio = mem_alloc(study_rows(study) + 1, sizeof *ratio);
	double median = NAN, spread = NAN;
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

/* Do all other times grow with the problem? Then one that falls does not need many witnesses. */
static bool others_grow(const struct study *study, size_t row) {
	for (size_t r = 0; r < study_rows(study); r++)
		for (size_t s = 0; s < study_rows(study) && r != row; s++)
			if (s != row && study_row(study, r)->value < study_row(study, s)->value && study_same_config(study, r, s) &&
			    is_smaller(study, s, r))
				return false;
	return true;
}

static bool is_larger_team(const struct study *study, size_t large, size_t small, double *times) {
	*times = NAN;
	for (size_t c = 0; c < study_columns(study); c++) {
		if (study_row(study, small)->level[c] == study_row(study, large)->level[c])
			continue;
		if (!probe_is_team(study_column(study, c)) || !study_column(study, c)->numeric || isfinite(*times))
			return false;
		*times = study_number(study, large, c) / study_number(study, small, c);
	}
	return *times > 1;
}

/* Does a larger team gain far more at a problem than it has members? Then the time of this configuration is too long
 * there, as that of a first run, and not too short elsewhere. */
static bool is_cold(const struct study *study, size_t row, size_t problem) {
	for (size_t s = 0; s < study_rows(study); s++)
		for (size_t r = 0; r < study_rows(study) && study_same_problem(study, s, problem); r++) {
			double times;
			if (study_same_config(study, s, row) && is_larger_team(study, r, s, &times) &&
			    study_row(study, s)->value > COLD * times * study_row(study, r)->value)
				return true;
		}
	return false;
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
	char problem[PROBE_TEXT], taken[PROBE_TEXT], text[PROBE_TEXT];
	if (!(growth >= GROWTH_LEAST) || !isfinite(expected) || !(expected > BELOW * time) || is_cold(study, row, small))
		return false;
	return law_broken(
		wrong, expected, "s",
		"less time than %s takes (%s), although the other configurations take %.3g times as long here, so "
		"that about %s are expected",
		probe_problem(study, small, problem), study_value_text(study, by_own ? own : least, taken, sizeof taken),
		growth, study_value_text(study, expected, text, sizeof text));
}

/* Is it as long as the smaller problem and the other configurations let expect? Then it is the time at another problem
 * that is wrong. */
static bool is_expected(const struct study *study, size_t row, size_t small) {
	double own = judge_time_at(study, row, small), growth = growth_of(study, row, row, small, true);
	return fabs(log(growth * own / study_row(study, row)->value)) < log(EXPECTED);
}

static bool impossible_by_neighbours(const struct study *study, size_t row, struct wrong *wrong) {
	bool asked = wrong->problems >= 2 && study_rows(study) <= ROWS_MOST, against = false;
	for (size_t i = 0; asked && !against && i < wrong->problems; i++)
		against = is_smaller(study, wrong->problem[i], row) && is_against(study, row, wrong->problem[i], wrong);
	for (size_t i = 0; against && i < wrong->problems; i++)
		against = !is_smaller(study, wrong->problem[i], row) || !is_expected(study, row, wrong->problem[i]);
	return against;
}

static int twos_in(double n) {
	int count = 0;
	for (; n >= 2 && isfinite(n) && fmod(n, 2) == 0; n /= 2)
		count++;
	return count;
}

struct power {
	size_t count;
	double x[PROBE_PROBLEMS], y[PROBE_PROBLEMS]; /* log size and log time of the others */
	double slope, offset, residual;              /* the largest residual */
	double smaller;                              /* the longest time of a smaller size; 0: there is none */
	bool larger;                                 /* is there a larger size? */
	bool round; /* does the row's own size have more factors of two than those beside it? */
};

/* The median of the slopes of all pairs (Theil, A rank-invariant method of linear and polynomial regression analysis,
 * 1950; Sen, Estimates of the regression coefficient based on Kendall's tau, 1968): a single impossible time must not
 * decide the law. */
static void law_fit(struct power *law) {
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

/* The time that the other sizes of its configuration predict for a row; NAN if they do not lie on a power law. */
static double power_fit(const struct study *study, size_t row, struct power *law) {
	double size = probe_size(study, row), below = 0, above = INFINITY;
	*law = (struct power){0};
	for (size_t r = 0; r < study_rows(study) && law->count < PROBE_PROBLEMS; r++) {
		const struct study_row *other = study_row(study, r);
		if (r == row || other->over || !study_same_config(study, r, row))
			continue;
		double n = probe_size(study, r);
		law->x[law->count] = log(n);
		law->y[law->count++] = log(other->value);
		law->smaller = n < size ? fmax(law->smaller, other->value) : law->smaller;
		below = n < size ? fmax(below, n) : below;
		above = n > size ? fmin(above, n) : above;
	}
	law->larger = isfinite(above);
	law->round = twos_in(size) > fmax(twos_in(below), twos_in(above));
	if (law->count + 1 < SIZES_LEAST)
		return NAN;
	law_fit(law);
	return law->residual > log(STRAIGHT) ? NAN : exp(law->offset + law->slope * log(size));
}

static bool is_against_law(const struct study *study, size_t row, struct wrong *wrong) {
	struct power law;
	double time = study_row(study, row)->value, expected = power_fit(study, row, &law);
	if (!(expected / time >= LAW) || !(law.slope > 0) || !(law.smaller * HARDLY > time) ||
	    log(expected / time) < SURE * law.residual)
		return false;
	char smaller[PROBE_TEXT], text[PROBE_TEXT];
	return law_broken(wrong, expected, "s", "%s a smaller problem (%s); the %zu other sizes predict %s",
	                  law.smaller > time ? "less time than" : "hardly more time than",
	                  study_value_text(study, law.smaller, smaller, sizeof smaller), law.count,
	                  study_value_text(study, expected, text, sizeof text));
}

/* A size alone between others: not one that fits vectors, tiles or the sets of caches better, or worse, than those
 * beside it. */
static bool is_beside_law(const struct study *study, size_t row, struct wrong *wrong) {
	struct power law;
	double far = log(study_row(study, row)->value / power_fit(study, row, &law));
	if (!law_is_far(far) || fabs(far) < SURE * law.residual || !(law.smaller > 0) || !law.larger || law.round)
		return false;
	return law_broken(wrong, exp(fabs(far)), "x", "%.3g times as %s as the %zu other sizes predict", exp(fabs(far)),
	                  far > 0 ? "slow" : "fast", law.count);
}

/* Do two rows differ in nothing but the team, of which `small` has the smaller one? */
static bool is_smaller_team(const struct study *study, size_t small, size_t row) {
	int threads = probe_threads(study);
	for (size_t c = 0; c < study_columns(study); c++)
		if ((int)c != threads && study_row(study, small)->level[c] != study_row(study, row)->level[c])
			return false;
	return threads >= 0 && study_number(study, small, (size_t)threads) < study_number(study, row, (size_t)threads);
}

typedef bool (*law_fn)(const struct study *study, size_t row, struct wrong *wrong);

/* Is the time no shorter than a smaller team, whose time keeps the law, lets expect? Then it is the team at the other
 * sizes that is slow. */
static bool is_of_team(const struct study *study, size_t row, const struct wrong *wrong, law_fn law) {
	int threads = probe_threads(study);
	for (size_t s = 0; s < study_rows(study); s++) {
		struct wrong scratch = *wrong;
		if (!study_row(study, s)->over && is_smaller_team(study, s, row) &&
		    study_row(study, row)->value * study_number(study, row, (size_t)threads) >=
		        LINEAR * study_row(study, s)->value * study_number(study, s, (size_t)threads) &&
		    !law(study, s, &scratch))
			return true;
	}
	return false;
}

static bool judge_by_law(const struct study *study, size_t row, struct wrong *wrong) {
	return is_against_law(study, row, wrong) && !is_of_team(study, row, wrong, is_against_law);
}

static bool judge_by_neighbours(const struct study *study, size_t row, struct wrong *wrong) {
	return impossible_by_neighbours(study, row, wrong) && !is_of_team(study, row, wrong, impossible_by_neighbours);
}

static bool judge_alone(const struct study *study, size_t row, struct wrong *wrong) {
	return is_beside_law(study, row, wrong) && !is_of_team(study, row, wrong, is_beside_law);
}

const struct law laws_of_sizes[] = {{judge_by_law, LAW_WORK},
                                    {judge_by_neighbours, LAW_WORK},
                                    {judge_ignores_size, LAW_SIZE},
                                    {judge_alone, LAW_POINT},
                                    {0}};
