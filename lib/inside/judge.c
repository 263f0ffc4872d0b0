/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a candidate is better than the incumbent: by the medians of the logarithms of their costs, in calls of the
 * same stretch of time. */
#include "lib/inside/learn_impl.h"

static const double GAIN = 0.02; /* less is not worth a change */
static const double FAR = 0.4;   /* a single call that is so much worse is enough */
static const double NOISE = 0.01;

static double median_of(const double *values, size_t count) {
	double sorted[SAMPLES];
	for (size_t i = 0; i < count; i++) {
		size_t k = i;
		for (; k > 0 && sorted[k - 1] > values[i]; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = values[i];
	}
	return count == 0 ? NAN : count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double least_of(const double *values, size_t count) {
	return count > 1 ? fmin(values[count - 1], least_of(values, count - 1)) : values[0];
}

static double spread_of(const double *values, size_t count, double median) {
	double distance[SAMPLES];
	for (size_t i = 0; i < count; i++)
		distance[i] = fabs(values[i] - median);
	return fmax(NOISE, 1.4826 * median_of(distance, count));
}

static struct effect effect_of(const struct inside_learner *learner) {
	const struct trial *trial = &learner->trial;
	bool enough = trial->held >= 3;
	double here = median_of(trial->candidate, trial->tried);
	double there = enough ? median_of(trial->incumbent, trial->held) : learner->level;
	double noise = learner->noise, beside = noise;
	if (enough)
		beside = fmax(noise, spread_of(trial->incumbent, trial->held, there));
	if (trial->tried >= 4)
		noise = fmax(noise / 2, spread_of(trial->candidate, trial->tried, here));
	double error = noise * noise / trial->tried + beside * beside / (enough ? trial->held : RECENT_LEAST);
	return (struct effect){.log = here - there, .error = 1.2533 * sqrt(error)};
}

/* The first calls may only drop it, unless one of them says otherwise; what seems better is seen more often. */
static enum inside_outcome judge_try(const struct inside_learner *learner, struct effect effect) {
	const struct trial *trial = &learner->trial;
	if (trial->tried == 1)
		return effect.log > FAR ? INSIDE_WORSE : INSIDE_NOTHING;
	if (trial->tried == 2)
		return least_of(trial->candidate, 2) - learner->level > fmax(0.15, 2.5 * learner->noise) ? INSIDE_WORSE
		                                                                                         : INSIDE_NOTHING;
	bool worse = effect.log - 2 * effect.error > 0 || (trial->tried > 3 && effect.log > GAIN + effect.error);
	if (worse && (trial->tried > 4 || least_of(trial->candidate, trial->tried) > learner->level))
		return INSIDE_WORSE;
	if (trial->tried >= 5 && effect.log < -GAIN && effect.log + 3 * effect.error < 0)
		return INSIDE_BETTER;
	if (trial->tried >= 6 && effect.log - effect.error > -GAIN)
		return INSIDE_SAME;
	if (trial->tried < SAMPLES)
		return INSIDE_NOTHING;
	return effect.log + 2 * effect.error < -GAIN / 2 ? INSIDE_BETTER : INSIDE_SAME;
}

static enum inside_outcome judge_simpler(const struct inside_learner *learner, struct effect effect) {
	const struct trial *trial = &learner->trial;
	if (trial->tried < 6)
		return trial->tried >= 2 && effect.log > FAR ? INSIDE_WORSE : INSIDE_NOTHING;
	if (effect.log > GAIN / 2 && effect.log - 2 * effect.error > 0)
		return INSIDE_WORSE;
	bool last = trial->tried == SAMPLES;
	if (effect.log + (last ? 1 : 1.5) * effect.error < GAIN)
		return INSIDE_BETTER;
	return last ? INSIDE_WORSE : INSIDE_NOTHING;
}

static enum inside_outcome judge_compare(const struct inside_learner *learner, struct effect effect) {
	unsigned tried = learner->trial.tried;
	if (tried >= 4 && effect.log - 4 * effect.error > 0.1)
		return INSIDE_WORSE;
	if (tried >= 8 && effect.log < -GAIN && effect.log + 3 * effect.error < 0)
		return INSIDE_BETTER;
	return tried < SAMPLES ? INSIDE_NOTHING : INSIDE_SAME;
}

static void level_find(struct inside_learner *learner) {
	size_t count = seen_of(learner->calls);
	learner->level = median_of(learner->recent, count);
	learner->noise = spread_of(learner->recent, count, learner->level);
	learner->cost = exp(learner->level);
}

static enum inside_outcome judge(const struct inside_learner *learner, struct effect *effect) {
	static enum inside_outcome (*const judges[])(const struct inside_learner *, struct effect) = {
		[INSIDE_TRY] = judge_try, [INSIDE_SIMPLER] = judge_simpler, [INSIDE_COMPARE] = judge_compare};
	*effect = effect_of(learner);
	return judges[learner->trial.goal](learner, *effect);
}

const struct inside_judging ssi_judging = {median_of, level_find, judge};
