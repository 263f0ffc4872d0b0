/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/race/look.h"

#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/model/student.h"
#include "tuner/race/numbers.h"

/* The early looks, and their shares of the error that all of them may make. Three pairs are for runs that take long. */
static const struct {
	int pairs;
	double share;
} early[] = {{3, 0.5}, {5, 0.3}, {8, 0.1}, {13, 0.1}};
enum { EARLY = sizeof early / sizeof *early, LATE_MAX = 5 };

/* The early looks spend this share of the error. The rest is left for the late ones,
 * which get equal parts: the constant nominal level of Pocock (Biometrika 1977), here by the union bound, which is
 * slightly stricter. */
static const double EARLY_SHARE = 0.2;
/* Few pairs may agree by chance. If the samples show the steps of a clock, the spread is at least one step; if all of
 * them are equal, the step is unknown. */
static const double SPREAD_LEAST = 5e-4, SPREAD_UNKNOWN = 0.05;

/* Before the pairs tell, a gain is expected to be of this size (of the logarithm). */
static const double GAIN_USUAL = 0.1;

/* The variance of a median over that of a mean, and the quartile of the normal distribution. */
static const double MEDIAN_VARIANCE = 1.57, QUARTILE = 0.67;

static int late_step(const struct look_rule *rule) {
	int span = rule->pairs_max - rule->pairs_min;
	return span == 0 ? 1 : (span + LATE_MAX - 2) / (LATE_MAX - 1);
}

static double late_error(const struct look_rule *rule) {
	int step = late_step(rule), span = rule->pairs_max - rule->pairs_min;
	return (1 - rule->level) * (rule->first ? 1 - EARLY_SHARE : 1) / (1 + (span + step - 1) / step);
}

/* The error of the early look at `count` pairs, or of the next one if there is none at that number. */
static double early_error(const struct look_rule *rule, size_t count) {
	for (size_t i = 0; i < EARLY; i++)
		if (early[i].pairs >= (int)count)
			return (1 - rule->level) * EARLY_SHARE * early[i].share;
	return late_error(rule);
}

int look_next(const struct look_rule *rule, int count) {
	for (size_t i = 0; i < EARLY && rule->first; i++)
		if (early[i].pairs > count && early[i].pairs >= rule->first && early[i].pairs < rule->pairs_min)
			return early[i].pairs;
	if (count < rule->pairs_min)
		return rule->pairs_min;
	int next = count + late_step(rule);
	return next < rule->pairs_max ? next : rule->pairs_max;
}

/* The smallest step between the samples of one side if two of them are equal; 0 if none are. */
static double step_of(const double *x, size_t count, bool *equal) {
	double least = INFINITY;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++) {
			double step = fabs(log(x[i] / x[k]));
			*equal = *equal || step == 0;
			least = step > 0 ? fmin(least, step) : least;
		}
	return least;
}

static double spread_least(const double *a, const double *b, size_t count) {
	bool equal = false;
	double step = fmin(step_of(a, count, &equal), step_of(b, count, &equal));
	if (!equal)
		return SPREAD_LEAST;
	return isfinite(step) ? fmax(step, SPREAD_LEAST) : SPREAD_UNKNOWN;
}

struct paired look_student(const double *a, const double *b, size_t count, double level) {
	struct paired paired = paired_analyse(a, b, count, level);
	struct student_interval log = student_ratio(a, b, count, level, spread_least(a, b, count));
	paired.ratio = exp(log.mean);
	paired.ci[0] = exp(log.low);
	paired.ci[1] = exp(log.high);
	return paired;
}

/* Every run of one side is faster than every run of the other. Student's interval assumes that the noise is normal. A
 * program that is sometimes fast and sometimes slow violates that, and a few of its pairs may agree by chance. Whatever
 * the distribution, separation bounds that chance: two equally likely speeds separate three pairs in 3 % of all cases,
 * and five pairs in 0.2 %. */
static bool separated(const double *a, const double *b, size_t count) {
	double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
	for (size_t i = 0; i < count; i++) {
		low[0] = fmin(low[0], a[i]);
		high[0] = fmax(high[0], a[i]);
		low[1] = fmin(low[1], b[i]);
		high[1] = fmax(high[1], b[i]);
	}
	return high[0] < low[1] || high[1] < low[0];
}

/* Ranks can reach the level of a late look. */
static bool ranks_suffice(const struct look_rule *rule, size_t count) {
	return ldexp(1, 1 - (int)count) <= late_error(rule);
}

static double half_width(const struct paired *paired) {
	return (log(paired->ci[1]) - log(paired->ci[0])) / 2;
}

/* The farthest from 1 that the estimate will probably be at the last look: half of the half-width is 1.3 standard
 * errors at the level of late looks, so fewer than one in ten move farther in one direction. */
static double farthest(const struct look_rule *rule, const struct paired *paired) {
	double share = (double)paired->count / rule->pairs_max;
	return fabs(log(paired->ratio)) + half_width(paired) / 2 * sqrt(1 - share);
}

/* Does the interval of the last look lie beyond the margin if its estimate is so far from 1? This look's half-width
 * tells the width of that one, because it falls with the root of the number of pairs. A duel that cannot prove a
 * difference may end (stopping for futility: Lachin, "A review of methods for futility stopping based on conditional
 * power", Statistics in Medicine 2005). To end without one makes no false winner. */
static bool would_prove(const struct look_rule *rule, const struct paired *paired, double distance) {
	return distance - half_width(paired) * sqrt((double)paired->count / rule->pairs_max) > log1p(rule->margin);
}

/* Robust estimates of the mean and the deviation of log(a / b). */
static void spread_of(const double *a, const double *b, size_t count, double *mean, double *deviation) {
	mem_auto double *logs = mem_alloc(count + 1, sizeof *logs);
	for (size_t i = 0; i < count; i++)
		logs[i] = log(a[i] / b[i]);
	*mean = stats_median(logs, count);
	*deviation = fmax(stats_mad(logs, count), SPREAD_LEAST);
}

double look_missing(const struct look_rule *rule, const double *a, const double *b, size_t count, double noise) {
	double mean, deviation, margin = log1p(rule->margin), pairs = (double)count;
	if (count < 2)
		return INFINITY;
	spread_of(a, b, count, &mean, &deviation);
	if (noise > 0)
		deviation =
			sqrt((pairs * pow(deviation, 2) + RACE_PAIRS_OF_NOISE * pow(noise, 2)) / (pairs + RACE_PAIRS_OF_NOISE));
	double error = deviation * sqrt(MEDIAN_VARIANCE / pairs), known = 1 / (1 + pow(error / GAIN_USUAL, 2));
	double gain = hypot(known * mean, QUARTILE * sqrt(known) * error);
	double distance = fmax(gain - margin, margin); /* a tie has to lie within the margin on both sides */
	double most = rule->pairs_min, half = student_half((size_t)most, 1 - late_error(rule), deviation) * sqrt(most);
	double least = look_next(rule, (int)count) - pairs; /* nothing is decided before the next look */
	return fmax(fmax(1, least), pow(half / distance, 2) - pairs);
}

/* Would the interval of the last look exclude a tie, even if the estimate moves away from 1 as far as it does in one of
 * ten cases? The half-width there is that of a normal sample with today's deviation. */
static bool is_hopeless(const struct look_rule *rule, const double *a, const double *b, size_t count) {
	double most = rule->pairs_max, mean, deviation;
	spread_of(a, b, count, &mean, &deviation);
	if (count < 2 || (int)count >= rule->pairs_max)
		return true;
	double move = 1.3 * deviation * sqrt(MEDIAN_VARIANCE / (double)count - 1 / most);
	return fabs(mean) + move - student_half((size_t)most, 1 - late_error(rule), deviation) < log1p(rule->margin);
}

struct look_answer look_take(const struct look_rule *rule, const double *a, const double *b, size_t count, bool last) {
	bool late = !rule->first || (int)count >= rule->pairs_min || (last && ranks_suffice(rule, count));
	struct look_answer answer = {.paired = {.ratio = NAN, .ci = {NAN, NAN}, .p = NAN}, .verdict = PAIRED_TIE};
	if (count == 0)
		return answer;
	/* A last look at few pairs has the error of a late one, as there will be none. */
	double error = last ? fmax(early_error(rule, count), late_error(rule)) : early_error(rule, count);
	answer.paired = late ? paired_analyse(a, b, count, 1 - late_error(rule)) : look_student(a, b, count, 1 - error);
	answer.verdict = paired_judge(&answer.paired, rule->margin);
	if (!late && (count < 3 || !separated(a, b, count)))
		answer.verdict = PAIRED_TIE;
	bool vague = paired_is_vague(&answer.paired);
	answer.promising = !vague || would_prove(rule, &answer.paired, fabs(log(answer.paired.ratio)));
	bool tie = answer.paired.ci[0] >= 1 - rule->margin && answer.paired.ci[1] <= 1 + rule->margin;
	answer.decided = answer.verdict != PAIRED_TIE || (tie && (late || count >= 3));
	if (rule->first && (int)count >= rule->pairs_min && (int)count < rule->pairs_max && !answer.decided)
		answer.decided = !vague && !would_prove(rule, &answer.paired, farthest(rule, &answer.paired));
	if (rule->width > 0 && (int)count < rule->pairs_min && answer.paired.ci[1] > rule->width * answer.paired.ci[0])
		answer.decided = false;
	if (rule->limit > 0 && answer.paired.ci[0] <= rule->limit && answer.paired.ci[1] >= rule->limit)
		answer.decided = false;
	answer.hopeless = is_hopeless(rule, a, b, count);
	return answer;
}

int look_expected(const struct look_rule *rule, double ratio, double deviation) {
	double difference = fabs(log(ratio)), margin = log1p(rule->margin);
	for (int count = look_next(rule, 0); count < rule->pairs_min; count = look_next(rule, count)) {
		double level = 1 - early_error(rule, (size_t)count);
		double half = student_half((size_t)count, level, fmax(deviation, SPREAD_LEAST));
		if (difference - half > margin || difference + half < margin)
			return count;
	}
	return rule->pairs_min;
}
