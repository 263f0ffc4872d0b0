/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/guess.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KNOWN_MAX = 128, RUNGS = 7, RUNG_FIRST = 4, SWEEPS = 2, REFIT = 16, LOOK_EVERY = 8 };
static const double LADDER[RUNGS] = {1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.4}; /* variances of main effects */
static const double LEVEL = 0.1;          /* variance of what all have in common; the smaller, the more interaction */
static const double RUNG_DOUBT = 0.1;     /* log prior lost by the square of the rungs from the first */
static const double NOISE = 0.015 * 0.015;
static const double SLOW = 1.0, CUT = 0.4; /* logarithms: no value counts as slower; what is over its limit, by this */
static const double REACH = 5;             /* numbers a fifth of the range apart are half alike */
static const double TINY = 1e-9;

struct known {
	int *config;
	double value; /* logarithm; INFINITY: failed */
};

struct guess {
	const struct space *space;
	size_t params, count, fitted; /* fitted: count when the shares were last fitted */
	double best;                  /* logarithm; INFINITY: none */
	struct known *known;
	double **alike;               /* of each parameter, by the distance of two places */
	int *rung;                    /* of each parameter's share */
	bool *varied;                 /* has it had two values yet? */
	double mean, *y, *weights;    /* of what is known, against the best */
	double *lower;                /* Cholesky factor of its covariance, rows of KNOWN_MAX */
	double *column;
	int *config;
};

/* The length scale is at least one step. */
static double *alike_new(struct arena *arena, const struct space *space, size_t param) {
	size_t values = space_param_values(space, param);
	double *alike = arena_alloc(arena, values, sizeof *alike);
	double length = (double)(values - 1) / REACH > 1 ? (double)(values - 1) / REACH : 1;
	alike[0] = 1;
	for (size_t off = 1; off < values && space_param_ordered(space, param); off++)
		alike[off] = exp(-0.5 * ((double)off / length) * ((double)off / length));
	return alike;
}

struct guess *guess_new(struct arena *arena, const struct space *space) {
	struct guess *guess = arena_alloc(arena, 1, sizeof *guess);
	size_t params = space_params(space);
	guess->space = space;
	guess->params = params;
	guess->best = INFINITY;
	guess->alike = arena_alloc(arena, params, sizeof *guess->alike);
	guess->rung = arena_alloc(arena, params, sizeof *guess->rung);
	guess->varied = arena_alloc(arena, params, sizeof *guess->varied);
	guess->config = arena_alloc(arena, params, sizeof *guess->config);
	for (size_t p = 0; p < params; p++) {
		guess->alike[p] = alike_new(arena, space, p);
		guess->rung[p] = RUNG_FIRST;
	}
	guess->known = arena_alloc(arena, KNOWN_MAX, sizeof *guess->known);
	for (size_t i = 0; i < KNOWN_MAX; i++)
		guess->known[i].config = arena_alloc(arena, params, sizeof *guess->known[i].config);
	guess->y = arena_alloc(arena, KNOWN_MAX, sizeof *guess->y);
	guess->weights = arena_alloc(arena, KNOWN_MAX, sizeof *guess->weights);
	guess->column = arena_alloc(arena, KNOWN_MAX, sizeof *guess->column);
	guess->lower = arena_alloc(arena, KNOWN_MAX, KNOWN_MAX * sizeof *guess->lower);
	return guess;
}

static size_t slowest(const struct guess *guess) {
	size_t at = 0;
	for (size_t i = 1; i < guess->count; i++)
		if (guess->known[i].value > guess->known[at].value)
			at = i;
	return at;
}

void guess_add(struct guess *guess, uint64_t index, const struct strategy_outcome *outcome) {
	struct known *known = &guess->known[guess->count < KNOWN_MAX ? guess->count++ : slowest(guess)];
	space_config(guess->space, index, known->config);
	known->value = outcome->result == STRATEGY_FAILURE ? INFINITY : log(outcome->value);
	if (outcome->result == STRATEGY_CENSORED)
		known->value += CUT;
	else if (known->value < guess->best)
		guess->best = known->value;
	for (size_t p = 0; p < guess->params; p++)
		guess->varied[p] |= known->config[p] != guess->known[0].config[p];
}

static double covariance(const struct guess *guess, const int *a, const int *b) {
	double product = LEVEL;
	for (size_t p = 0; p < guess->params; p++) {
		bool apart = (a[p] == SPACE_ABSENT) != (b[p] == SPACE_ABSENT);
		product *= 1 + (apart ? 0 : LADDER[guess->rung[p]] / LEVEL * guess->alike[p][abs(a[p] - b[p])]);
	}
	return product;
}

static double *lower_row(const struct guess *guess, size_t i) {
	return guess->lower + i * KNOWN_MAX;
}

/* Row i of L, where K + noise = L L'. */
static void factor_row(struct guess *guess, size_t i) {
	double *row = lower_row(guess, i);
	for (size_t k = 0; k <= i; k++) {
		const double *other = lower_row(guess, k);
		double rest = covariance(guess, guess->known[i].config, guess->known[k].config) + (i == k ? NOISE : 0);
		for (size_t j = 0; j < k; j++)
			rest -= row[j] * other[j];
		row[k] = i == k ? sqrt(fmax(rest, TINY)) : rest / other[k];
	}
}

/* The weights (K + noise)^-1 y. Returns the logarithm of the likelihood, but for a constant. */
static double solve(struct guess *guess) {
	double *w = guess->weights, likelihood = 0;
	for (size_t i = 0; i < guess->count; i++) {
		factor_row(guess, i);
		const double *row = lower_row(guess, i);
		double rest = guess->y[i];
		for (size_t j = 0; j < i; j++)
			rest -= row[j] * w[j];
		w[i] = rest / row[i];
		likelihood -= 0.5 * w[i] * w[i] + log(row[i]);
	}
	for (size_t i = guess->count; i-- > 0;) {
		for (size_t j = i + 1; j < guess->count; j++)
			w[i] -= lower_row(guess, j)[i] * w[j];
		w[i] /= lower_row(guess, i)[i];
	}
	return likelihood;
}

static double posterior(struct guess *guess) {
	double likely = solve(guess);
	for (size_t p = 0; p < guess->params; p++)
		likely -= RUNG_DOUBT * (guess->rung[p] - RUNG_FIRST) * (guess->rung[p] - RUNG_FIRST);
	return likely;
}

/* One rung up or down, whichever is likelier than it is now. Returns the posterior then. */
static double fit_share(struct guess *guess, size_t param, double most) {
	int was = guess->rung[param], best = was;
	for (int rung = was - 1; rung <= was + 1; rung += 2) {
		if (rung < 0 || rung >= RUNGS)
			continue;
		guess->rung[param] = rung;
		double likely = posterior(guess);
		if (likely > most) {
			most = likely;
			best = rung;
		}
	}
	guess->rung[param] = best;
	return most;
}

static void take_values(struct guess *guess) {
	double sum = 0;
	for (size_t i = 0; i < guess->count; i++) {
		guess->y[i] = isinf(guess->best) ? SLOW : fmin(guess->known[i].value - guess->best, SLOW);
		sum += guess->y[i];
	}
	guess->mean = guess->count ? sum / (double)guess->count : 0;
	for (size_t i = 0; i < guess->count; i++)
		guess->y[i] -= guess->mean;
}

void guess_fit(struct guess *guess) {
	take_values(guess);
	if (guess->count > guess->fitted + guess->fitted / REFIT) {
		double likely = posterior(guess);
		for (int sweep = 0; sweep < SWEEPS; sweep++)
			for (size_t p = 0; p < guess->params; p++)
				if (guess->varied[p])
					likely = fit_share(guess, p, likely);
		guess->fitted = guess->count;
	}
	solve(guess);
}

static double expected_gain(double mean, double deviation) {
	double z = -mean / deviation;
	double density = exp(-0.5 * z * z) / sqrt(2 * acos(-1)), below = 0.5 * erfc(-z / sqrt(2));
	return fmax(deviation * (z * below + density), 0);
}

double guess_gain(struct guess *guess, uint64_t index, double floor) {
	double *column = guess->column, mean = guess->mean;
	space_config(guess->space, index, guess->config);
	double variance = covariance(guess, guess->config, guess->config);
	for (size_t i = 0; i < guess->count; i++) {
		column[i] = covariance(guess, guess->config, guess->known[i].config);
		mean += column[i] * guess->weights[i];
	}
	for (size_t i = 0; i < guess->count; i++) {
		const double *row = lower_row(guess, i);
		for (size_t j = 0; j < i; j++)
			column[i] -= row[j] * column[j];
		column[i] /= row[i];
		variance -= column[i] * column[i]; /* it only falls, and the gain with it */
		if (i % LOOK_EVERY == 0 && expected_gain(mean, sqrt(fmax(variance, TINY))) < floor)
			return 0;
	}
	return expected_gain(mean, sqrt(fmax(variance, TINY)));
}
