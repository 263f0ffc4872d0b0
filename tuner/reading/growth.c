/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times over a size of the problem: the exponent of the law, and the series that break it. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/model/student.h"
#include "tuner/reading/reading.h"

enum { SIZES_LEAST = 3, BREAKS_MOST = 6, LAWS_MOST = 4 };
static const double EXPONENT_LEAST = 0.4, STRAIGHT = 1.25, BREAKS = 1.5, RISE_LEAST = 2, LAWS_APART = 0.3,
					VALUE = 0.005, START_LEAST = 10, WIDTH_MOST = 1.5; /* a wider interval says nothing */

struct law {
	double exponent, residual; /* the largest distance of a time from the line, as a ratio */
	size_t small, large;       /* rows */
	size_t count;
	double xx, xy, squares; /* of the line with the least squares, about the means; squares: of its residuals */
};

static void squares_add(const struct study *study, size_t column, const struct reading_series *series,
                        struct law *law) {
	double x = 0, y = 0, yy = 0, count = (double)series->count;
	for (size_t i = 0; i < series->count; i++) {
		x += log(study_number(study, series->rows[i], column)) / count;
		y += log(reading_time(study, series->rows[i])) / count;
	}
	for (size_t i = 0; i < series->count; i++) {
		double dx = log(study_number(study, series->rows[i], column)) - x,
			   dy = log(reading_time(study, series->rows[i])) - y;
		law->xx += dx * dx;
		law->xy += dx * dy;
		yy += dy * dy;
	}
	law->squares = fmax(0, yy - law->xy * law->xy / law->xx);
}

static struct law law_of(const struct study *study, size_t column, const struct reading_series *series) {
	size_t first = series->rows[0], last = series->rows[series->count - 1];
	double slope = log(reading_time(study, last) / reading_time(study, first)) /
	               log(study_number(study, last, column) / study_number(study, first, column));
	struct law law = {.exponent = slope, .residual = 1, .small = first, .large = last, .count = series->count};
	squares_add(study, column, series, &law);
	for (size_t i = 1; i + 1 < series->count; i++) {
		double expected = reading_time(study, first) *
		                  pow(study_number(study, series->rows[i], column) / study_number(study, first, column), slope);
		law.residual = fmax(law.residual, exp(fabs(log(reading_time(study, series->rows[i]) / expected))));
	}
	return law;
}

static double rise_of(const struct study *study, const struct law *law) {
	return reading_time(study, law->large) / reading_time(study, law->small);
}

/* The median exponent of the series that lie on a line. */
static double exponent_of(const struct study *study, const struct law *laws, size_t count, size_t *straight) {
	mem_auto double *slopes = mem_alloc(count + 1, sizeof *slopes);
	*straight = 0;
	for (size_t i = 0; i < count; i++)
		if (laws[i].residual <= STRAIGHT && laws[i].exponent >= EXPONENT_LEAST &&
		    rise_of(study, &laws[i]) >= RISE_LEAST)
			slopes[(*straight)++] = laws[i].exponent;
	return *straight ? stats_median(slopes, *straight) : NAN;
}

static void breaks_report(const struct study *study, struct findings *findings, size_t column, const struct law *laws,
                          size_t count, double exponent) {
	size_t told = 0;
	for (size_t i = 0; i < count && told < BREAKS_MOST; i++) {
		double sizes = study_number(study, laws[i].large, column) / study_number(study, laws[i].small, column);
		double apart = pow(sizes, laws[i].exponent - exponent);
		char subject[PROBE_TEXT];
		if (apart < BREAKS && apart > 1 / BREAKS)
			continue;
		reading_subject(study, laws[i].small, column, subject);
		struct finding *finding = findings_add(
			findings, CONFIDENCE_LOW, 1, "%s grows as %s^%.2f, not as %s^%.2f like the others", subject,
			study_column(study, column)->name, laws[i].exponent, study_column(study, column)->name, exponent);
		reading_about(finding, study, laws[i].small, column);
		finding_evidence(finding, EVIDENCE_SCALING, apart, "x",
		                 "at the largest size its time is %.3g times that of the law", apart);
		told++;
	}
}

static bool is_straight(const struct study *study, const struct law *law) {
	return law->residual <= STRAIGHT && law->exponent >= EXPONENT_LEAST && rise_of(study, law) >= RISE_LEAST;
}

/* "n=64 as n^1.50, n=128 as n^2.00" of few laws, the ends of many. */
static void laws_words(const struct study *study, size_t column, const struct law *laws, size_t count, size_t least,
                       size_t most, char words[PROBE_TEXT * LAWS_MOST]) {
	const char *name = study_column(study, column)->name;
	char subject[PROBE_TEXT], other[PROBE_TEXT];
	size_t length = 0;
	if (count > LAWS_MOST)
		snprintf(words, PROBE_TEXT * LAWS_MOST, "between %.60s^%.2f (%s) and %.60s^%.2f (%s)", name,
		         laws[least].exponent, reading_subject(study, laws[least].small, column, subject), name,
		         laws[most].exponent, reading_subject(study, laws[most].small, column, other));
	for (size_t i = 0; i < count && count <= LAWS_MOST; i++)
		if (is_straight(study, &laws[i]))
			length += (size_t)snprintf(
				words + length, PROBE_TEXT * LAWS_MOST - length, "%s%s as %.60s^%.2f", length ? ", " : "",
				*reading_subject(study, laws[i].small, column, subject) ? subject : "all", name, laws[i].exponent);
}

/* Two algorithms may have laws of their own, between which the median lies where neither is. A law that most series
 * follow is told as one, with those that break it. */
static bool laws_report(const struct study *study, struct findings *findings, size_t column, const struct law *laws,
                        size_t count) {
	char words[PROBE_TEXT * LAWS_MOST];
	size_t straight = 0, near = 0, least = SIZE_MAX, most = SIZE_MAX, all;
	double median = exponent_of(study, laws, count, &all);
	for (size_t i = 0; i < count; i++) {
		if (!is_straight(study, &laws[i]))
			continue;
		least = least == SIZE_MAX || laws[i].exponent < laws[least].exponent ? i : least;
		most = most == SIZE_MAX || laws[i].exponent > laws[most].exponent ? i : most;
		near += fabs(laws[i].exponent - median) < LAWS_APART / 2;
		straight++;
	}
	double apart = straight < 2 ? 0 : laws[most].exponent - laws[least].exponent;
	if (apart < LAWS_APART || 2 * near > straight || 2 * straight < count)
		return false;
	laws_words(study, column, laws, count, least, most, words);
	struct finding *finding = findings_add(findings, CONFIDENCE_LOW, 1, "time grows: %s", words);
	finding_evidence(finding, EVIDENCE_SCALING, apart, NULL,
	                 "%zu of %zu series lie on such lines within %.0f %%; their powers differ by %.2f", straight, count,
	                 100 * (STRAIGHT - 1), apart);
	return true;
}

static bool is_common(const struct study *study, const struct law *law, double median) {
	return is_straight(study, law) && fabs(law->exponent - median) <= LAWS_APART;
}

/* The power that the straight series have in common, each with a factor of its own, and its 95 % interval by Student's
 * distribution. Series that differ by more than their points do make it as wide as they differ. */
static double common_exponent(const struct study *study, const struct law *laws, size_t count, double median,
                              double ci[2]) {
	double xx = 0, xy = 0, squares = 0, apart = 0, series = 0;
	size_t freedom = 0;
	for (size_t i = 0; i < count; i++) {
		if (!is_common(study, &laws[i], median))
			continue;
		xx += laws[i].xx;
		xy += laws[i].xy;
		squares += laws[i].squares;
		freedom += laws[i].count - 1;
		series++;
	}
	double exponent = xy / xx;
	freedom--;
	for (size_t i = 0; i < count; i++)
		if (is_common(study, &laws[i], median))
			apart += laws[i].xx * pow(laws[i].xy / laws[i].xx - exponent, 2);
	/* Both are mean squares; the larger one counts. Each size has one value, which is known to half a percent at best.
	 */
	double within = squares / fmax(1, (double)freedom - (series - 1)), between = series > 1 ? apart / (series - 1) : 0;
	double spread = sqrt(fmax(VALUE * VALUE, fmax(within, between)) / xx);
	size_t values = (between > within ? (size_t)series - 1 : freedom - (size_t)(series - 1)) + 1;
	double half = student_half(values < 2 ? 2 : values, 0.95, spread * sqrt((double)(values < 2 ? 2 : values)));
	ci[0] = fmax(0, exponent - half);
	ci[1] = exponent + half;
	return exponent;
}

static void report(const struct study *study, struct findings *findings, size_t column, const struct law *laws,
                   size_t count) {
	size_t straight;
	if (laws_report(study, findings, column, laws, count))
		return;
	double exponent = exponent_of(study, laws, count, &straight);
	if (straight == 0 || 2 * straight < count)
		return;
	double ci[2];
	exponent = common_exponent(study, laws, count, exponent, ci);
	if (ci[1] - ci[0] > WIDTH_MOST)
		return;
	char subject[PROBE_TEXT] = "time", some[64] = "";
	for (size_t i = 0; i < count && straight == 1 && count > 1; i++)
		if (is_straight(study, &laws[i]))
			reading_subject(study, laws[i].small, column, subject);
	if (straight > 1 && 2 * straight <= count)
		snprintf(some, sizeof some, ", in %zu of %zu series", straight, count);
	else if (straight > 1 && straight < count)
		snprintf(some, sizeof some, ", in most series");
	struct finding *finding = findings_add(findings, straight >= 5 ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW, 1,
	                                       "%s grows as %s^%.2f [%.2f, %.2f]%s", subject,
	                                       study_column(study, column)->name, exponent, ci[0], ci[1], some);
	finding_evidence(finding, EVIDENCE_SCALING, exponent, NULL, "%zu of %zu series lie%s on such a line within %.0f %%",
	                 straight, count, straight == 1 ? "s" : "", 100 * (STRAIGHT - 1));
	finding_evidence(finding, EVIDENCE_SCALING, pow(2, exponent), "x", "twice the %s takes %.3g times as long",
	                 study_column(study, column)->name, pow(2, exponent));
	if (straight >= 3)
		breaks_report(study, findings, column, laws, count, exponent);
}

/* The least work takes many times as long as the next in each series: what is set up once is in its times. */
static void start_report(const struct study *study, struct findings *findings, size_t column,
                         const struct reading_list *list) {
	double least = INFINITY, most = 0;
	char small[PROBE_TEXT], next[PROBE_TEXT];
	for (size_t i = 0; i < list->count; i++) {
		const size_t *rows = list->series[i].rows;
		double ratio = reading_time(study, rows[0]) / reading_time(study, rows[1]);
		bool same = study_row(study, rows[0])->level[column] == 0 && study_row(study, rows[1])->level[column] == 1;
		least = fmin(least, same ? ratio : 0);
		most = fmax(most, ratio);
	}
	if (!list->count || !(least >= START_LEAST))
		return;
	findings_add(findings, CONFIDENCE_MEDIUM, 1,
	             "%s takes %.3g to %.3g times as long as %s: less work cannot, so that a first run, or what is set up "
	             "once, is in its times: measure it again",
	             probe_level(study, column, 0, small), least, most, probe_level(study, column, 1, next));
}

static void column_examine(const struct study *study, struct findings *findings, size_t column) {
	reading_auto struct reading_list list = reading_series_find(study, column, SIZES_LEAST);
	start_report(study, findings, column, &list);
	mem_auto struct law *laws = mem_alloc(list.count + 1, sizeof *laws);
	size_t count = 0;
	for (size_t i = 0; i < list.count; i++)
		if (study_number(study, list.series[i].rows[0], column) > 0)
			laws[count++] = law_of(study, column, &list.series[i]);
	if (count)
		report(study, findings, column, laws, count);
}

/* A rate counts the work, so that sizes can be compared: where it is highest, and what the ends have of it. */
static void rate_report(const struct study *study, struct findings *findings, size_t column,
                        const struct reading_series *series) {
	size_t best = reading_fastest(study, series), worst = 0;
	char subject[PROBE_TEXT], at[PROBE_TEXT], low[PROBE_TEXT], rate[PROBE_TEXT];
	for (size_t i = 1; i < series->count; i++)
		worst = reading_time(study, series->rows[i]) > reading_time(study, series->rows[worst]) ? i : worst;
	double share = reading_time(study, series->rows[best]) / reading_time(study, series->rows[worst]);
	if (!(share * reading_limit(study, READING_UNTESTED, series->count) < 1))
		return;
	/* Larger requests are fewer in a second; bytes and operations on numbers are as many unless something stops them.
	 */
	study_value_text(study, reading_time(study, series->rows[best]), rate, sizeof rate);
	bool of_data = study_is_bandwidth(study) || strcasestr(rate, "flop");
	reading_subject(study, series->rows[0], column, subject);
	struct finding *finding = findings_add(
		findings, CONFIDENCE_LOW, 1, "%s%sthe rate is highest with %s (%s); %s has %.2g of it", subject,
		*subject ? ": " : "", probe_level(study, column, study_row(study, series->rows[best])->level[column], at), rate,
		probe_level(study, column, study_row(study, series->rows[worst])->level[column], low), share);
	finding_evidence(finding, EVIDENCE_SCALING, share, NULL, "%zu sizes; %s", series->count,
	                 best == 0 ? of_data ? "it falls as they grow: caches, or memory" : "it falls as they grow"
	                 : best + 1 == series->count ? "it still grows at the largest: a fixed cost matters less"
	                                             : "it grows, and falls beyond");
}

static void rate_examine(const struct study *study, struct findings *findings, size_t column) {
	reading_auto struct reading_list list = reading_series_find(study, column, SIZES_LEAST);
	for (size_t i = 0; i < list.count && list.count <= LAWS_MOST; i++)
		rate_report(study, findings, column, &list.series[i]);
}

static void examine(const struct study *study, struct findings *findings) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (reading_is_axis(study, c, true, SIZES_LEAST))
			(study_is_rate(study) ? rate_examine : column_examine)(study, findings, c);
}

const struct diagnosis reading_growth = {
	.name = "growth",
	.summary = "the power of the size that times follow, and what breaks it",
	.examine = examine,
};
