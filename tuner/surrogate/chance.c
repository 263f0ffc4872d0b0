/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The probability that a configuration works, as predicted by two models: a Gaussian process of what worked (Rasmussen
 * and Williams 2006, section 6.5: regression of labels), which knows what is near failures, and a regression on
 * products of parameters (limits.h), which knows what is beyond a limit. The mean of their log odds predicts better
 * than either.
 *
 * A failure says nothing about times, so the expected improvement of its neighbours stays as large as before, and would
 * outweigh any small probability. From LENIENT results on, configurations whose log odds are below a line are therefore
 * not proposed at all, by the local search neither; every BOLD_EACH-th proposal may be much less certain, because
 * nothing else would move a limit that is drawn too close.
 *
 * The most promising configuration is often one whose chance is overestimated: of those predicted to work with 97 to
 * 99.5 %, one in seven failed. So the line rises with each failure above it and sinks a little with each success, until
 * a share of SHARE fails (Gibbs, Candes, Adaptive conformal inference under distribution shift, 2021), and above the
 * line certainty still counts for more than its share of the expected gain.
 *
 * The models may rule out configurations only as long as they can tell what fails: each result is predicted before it
 * is learned, whoever proposed it, and a result that works should have had better odds than one that fails. */
#include <config.h>

#include <math.h>

#include "tuner/surrogate/impl.h"

enum { STEPS = 14, LENIENT = 20, BOLD_EACH = 64 };
static const double CHANCE_MIN = 0.02; /* while nothing is ruled out */
/* The log odds at the beginning and at least, how far a failure moves them, and the part of them that a bold proposal
 * needs. */
static const double LINE = 4, LINE_MIN = 2, LINE_STEP = 0.75, SHARE = 0.02, BOLD = 0.25;
/* The share of pairs of a success and a failure that must be in the right order, and how many pairs count as seen
 * before any result, with which share. */
static const double ORDERED_MIN = 0.6, PRIOR_PAIRS = 40, PRIOR_ORDERED = 0.8;
/* The expected gain of what may be proposed, boldly or not, is multiplied by the chance to this power: with 98 % it
 * halves. */
static const double CAUTION = 30;
static const double LABEL = 0.5, LABEL_VARIANCE = 0.01, LOGIT_MAX = 13.8;

static double chance_of_logit(double logit) {
	return 1 / (1 + exp(-logit));
}

static bool is_strict(const struct surrogate *surrogate) {
	const struct guesses *guesses = &surrogate->guesses;
	double ordered = (guesses->ordered + PRIOR_ORDERED * PRIOR_PAIRS) / (guesses->pairs + PRIOR_PAIRS);
	return surrogate->count >= LENIENT && ordered >= ORDERED_MIN;
}

static double line_of(const struct surrogate *surrogate) {
	return LINE + surrogate->line_moved;
}

/* The log odds that a label, with its noise, is above 0 (Page, Approximations to the cumulative normal function, 1977,
 * because thousands of candidates ask). */
static double logit_of(const struct surrogate *surrogate, double mean, double variance) {
	double z = mean / sqrt(fmax(variance, 0) + gp_noise(surrogate->works) + LABEL_VARIANCE);
	return fmin(LOGIT_MAX, fmax(-LOGIT_MAX, z * (1.5976 + 0.07056 * z * z)));
}

static double chance_by_both(const struct surrogate *surrogate, double mean, double variance, double limits) {
	return chance_of_logit(0.5 * (logit_of(surrogate, mean, variance) + limits));
}

static double chance_lenient(double mean) {
	return fmin(1, fmax(CHANCE_MIN, mean + LABEL));
}

static bool is_known(const struct surrogate *surrogate) {
	return surrogate->works && gp_count(surrogate->works) > 0 && limits_count(surrogate->limits) > 0;
}

static double both_at(const struct surrogate *surrogate, const uint16_t *codes, double *mean) {
	double variance;
	float limits;
	gp_predict(surrogate->works, codes, mean, &variance);
	limits_logits(surrogate->limits, codes, 0, 1, &limits);
	return chance_by_both(surrogate, *mean, variance, limits);
}

double surrogate_chance_at(const struct surrogate *surrogate, const uint16_t *codes) {
	double mean = 0;
	if (!is_known(surrogate))
		return 1;
	double both = both_at(surrogate, codes, &mean);
	return is_strict(surrogate) ? both : chance_lenient(mean);
}

bool surrogate_doubts(const void *model, uint64_t index) {
	const struct surrogate *surrogate = model;
	uint16_t codes[GP_DIMS_MAX];
	if (!is_known(surrogate) || !is_strict(surrogate))
		return false;
	surrogate_codes(surrogate, index, codes);
	return surrogate_chance_at(surrogate, codes) < chance_of_logit(line_of(surrogate));
}

/* Compares a prediction with those of earlier results of the other kind. */
static void guess_add(struct guesses *guesses, double chance, bool failed) {
	if (guesses->count == OBSERVED_MAX)
		return;
	for (size_t i = 0; i < guesses->count; i++) {
		if (guesses->failed[i] == failed)
			continue;
		double off = failed ? guesses->chance[i] - chance : chance - guesses->chance[i];
		guesses->ordered += off > 0 ? 1 : off < 0 ? 0 : 0.5;
		guesses->pairs++;
	}
	guesses->chance[guesses->count] = chance;
	guesses->failed[guesses->count++] = failed;
}

void surrogate_chance_report(struct surrogate *surrogate, uint64_t index, bool failed) {
	uint16_t codes[GP_DIMS_MAX];
	double mean;
	if (!is_known(surrogate))
		return;
	surrogate_codes(surrogate, index, codes);
	double chance = both_at(surrogate, codes, &mean), moved = LINE_STEP * ((failed ? 1 : 0) - SHARE);
	if (is_strict(surrogate) && chance >= chance_of_logit(line_of(surrogate)))
		surrogate->line_moved = fmax(LINE_MIN - LINE, surrogate->line_moved + moved);
	guess_add(&surrogate->guesses, chance, failed);
}

static void learn(struct surrogate *surrogate, bool fit) {
	double *works = surrogate->lone_mean; /* not in use at this point */
	uint16_t codes[GP_DIMS_MAX];
	for (size_t i = 0; i < surrogate->count; i++)
		works[i] = surrogate->observed[i].result == STRATEGY_FAILURE ? -LABEL : LABEL;
	gp_target(surrogate->works, works);
	if (fit)
		gp_fit(surrogate->works, STEPS);
	gp_condition(surrogate->works);
	for (size_t i = limits_count(surrogate->limits); i < surrogate->count; i++) {
		surrogate_codes(surrogate, surrogate->observed[i].index, codes);
		limits_add(surrogate->limits, codes, surrogate->observed[i].result != STRATEGY_FAILURE);
	}
	limits_fit(surrogate->limits);
}

void surrogate_chance_update(struct surrogate *surrogate, bool fit) {
	const struct pool *pool = &surrogate->pool;
	float *chance = surrogate->chance;
	surrogate->strict = false;
	if (!surrogate->works)
		return;
	learn(surrogate, fit);
	gp_pool_predict(surrogate->workings);
	const float *mean = gp_pool_mean(surrogate->workings), *variance = gp_pool_variance(surrogate->workings);
	surrogate->strict = is_strict(surrogate);
	surrogate->pass = chance_of_logit(line_of(surrogate));
	surrogate->pass_bold = chance_of_logit(BOLD * line_of(surrogate));
	if (surrogate->strict)
		limits_logits(surrogate->limits, pool->codes, surrogate->dims, pool->count, chance);
	for (size_t c = 0; c < pool->count; c++)
		chance[c] = (float)(surrogate->strict ? chance_by_both(surrogate, mean[c], variance[c], chance[c])
		                                      : chance_lenient(mean[c]));
}

double surrogate_chance_of(const struct surrogate *surrogate, size_t candidate) {
	return surrogate->works ? (double)surrogate->chance[candidate] : 1;
}

double surrogate_caution_of(const struct surrogate *surrogate, size_t candidate) {
	return surrogate->strict ? pow(surrogate_chance_of(surrogate, candidate), CAUTION) : 1;
}

bool surrogate_passes(const struct surrogate *surrogate, size_t candidate) {
	bool bold = (surrogate->count + surrogate->pending_count) % BOLD_EACH == 0;
	return !surrogate->strict ||
	       surrogate_chance_of(surrogate, candidate) >= (bold ? surrogate->pass_bold : surrogate->pass);
}
