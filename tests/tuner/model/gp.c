/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares a Gaussian process with naive formulas. */
#include "tests/tuner/model/gp_help.h"
#include "tests/tap.h"

enum { SEEDS = 40 };

static double value_at(struct made *made, const size_t *chosen, size_t count, double *gradient) {
	struct gp_problem *problem = gp_problem_new(made->gp, chosen, count);
	double value = gp_problem_value(problem, made->gp->theta, gradient);
	gp_problem_free(problem);
	return value;
}

static void slopes_one(uint64_t seed, double *worst) {
	struct rng rng;
	struct made made;
	size_t chosen[12];
	double gradient[MADE_DIMS + GP_SHAPES], step = 1e-4;
	rng_seed(&rng, seed);
	made_draw(&made, &rng, seed % 2);
	made_observe(&made, &rng, 12, 1);
	made_theta(&made, &rng);
	for (size_t i = 0; i < 12; i++) {
		chosen[i] = i;
		made.gp->target[i] += 3; /* a mean that is not 0 */
	}
	value_at(&made, chosen, 12, gradient);
	for (size_t t = 0; t < made.dims + GP_SHAPES; t++) {
		double at = made.gp->theta[t];
		made.gp->theta[t] = at + step;
		double above = value_at(&made, chosen, 12, NULL);
		made.gp->theta[t] = at - step;
		double slope = (above - value_at(&made, chosen, 12, NULL)) / (2 * step);
		made.gp->theta[t] = at;
		*worst = fmax(*worst, fabs(slope - gradient[t]) / (1 + fabs(slope)));
	}
	gp_free(made.gp);
}

static void slopes(void) {
	double worst = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		slopes_one(seed, &worst);
	ok(worst < 1e-5, "the likelihood's gradient is that of finite differences (off by %.2g)", worst);
}

/* The log density of the observations and of their mean, without constants. */
static double plain_likelihood(const struct made *made) {
	struct plain plain;
	double x[MADE_ROWS], off[MADE_ROWS], sum = 0;
	plain_fill(&plain, made, SIZE_MAX);
	double mean = plain_mean(&plain);
	for (size_t i = 0; i < plain.count; i++)
		off[i] = plain.y[i] - mean;
	double determinant = plain_solve(&plain, off, x);
	for (size_t i = 0; i < plain.count; i++)
		sum += off[i] * x[i];
	return -0.5 * (determinant + sum + GP_MEAN_DOUBT * mean * mean);
}

/* Priors cancel out, because they are the same for one observation and for six. */
static void values(void) {
	static const size_t chosen[] = {0, 1, 2, 3, 4, 5};
	double worst = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct rng rng;
		struct made made;
		rng_seed(&rng, seed);
		made_draw(&made, &rng, seed % 2);
		made_observe(&made, &rng, 2 + seed % 5, 1);
		made_theta(&made, &rng);
		double all = value_at(&made, chosen, gp_count(made.gp), NULL), plain = plain_likelihood(&made);
		gp_truncate(made.gp, 1);
		double one = value_at(&made, chosen, 1, NULL);
		worst = fmax(worst, fabs((all - one) - (plain - plain_likelihood(&made))));
		gp_free(made.gp);
	}
	ok(worst < 1e-8, "the likelihood is that of Gaussian elimination (off by %.2g)", worst);
}

struct off {
	double mean, variance, left_mean, left_variance, smooth, least;
};

static void left_out(const struct made *made, double constant, struct off *off) {
	double mean[MADE_ROWS], variance[MADE_ROWS], m, v;
	struct plain plain;
	gp_leave_one_out(made->gp, mean, variance);
	for (size_t i = 0; i < gp_count(made->gp); i++) {
		plain_fill(&plain, made, i);
		plain_predict(&plain, made, constant, made->gp->codes + i * made->dims, &m, &v);
		v += gp_noise(made->gp) + GP_JITTER + made->gp->variance[i];
		off->left_mean = fmax(off->left_mean, fabs(m - mean[i]));
		off->left_variance = fmax(off->left_variance, fabs(v - variance[i]));
	}
}

static void predicted(const struct made *made, struct rng *rng, struct off *off) {
	uint16_t codes[MADE_DIMS];
	double mean, variance, m, v, smooth[MADE_ROWS];
	struct plain plain;
	plain_fill(&plain, made, SIZE_MAX);
	double constant = plain_mean(&plain);
	for (int i = 0; i < 20; i++) {
		made_codes(made, rng, codes);
		gp_predict(made->gp, codes, &mean, &variance);
		plain_predict(&plain, made, constant, codes, &m, &v);
		off->mean = fmax(off->mean, fabs(m - mean));
		off->variance = fmax(off->variance, fabs(v - variance));
		off->least = fmin(off->least, variance);
	}
	gp_smooth(made->gp, smooth);
	for (size_t i = 0; i < gp_count(made->gp); i++) {
		gp_predict(made->gp, made->gp->codes + i * made->dims, &m, &v);
		off->smooth = fmax(off->smooth, fabs(m - smooth[i]));
	}
	left_out(made, constant, off);
}

static void predictions(void) {
	struct off off = {.least = INFINITY};
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct rng rng;
		struct made made;
		rng_seed(&rng, seed);
		made_draw(&made, &rng, seed % 2);
		made_observe(&made, &rng, 1 + seed % 23, 1);
		made_theta(&made, &rng);
		gp_condition(made.gp);
		predicted(&made, &rng, &off);
		gp_free(made.gp);
	}
	ok(off.mean < 1e-8 && off.variance < 1e-8, "predictions are those of Gaussian elimination (off by %.2g and %.2g)",
	   off.mean, off.variance);
	ok(off.left_mean < 1e-8 && off.left_variance < 1e-8,
	   "leave-one-out agrees with removing the observation (off by %.2g and %.2g)", off.left_mean, off.left_variance);
	ok(off.smooth < 1e-8, "means at the observations are those that are predicted there (off by %.2g)", off.smooth);
	ok(off.least > 0, "no variance is negative");
}

/* One ordered dimension with 81 coordinates. */
static struct made line(double length) {
	struct made made = {.dims = 1};
	for (size_t v = 0; v < 81; v++)
		made.at[0][v] = (double)v / 80;
	made.dim[0] = (struct gp_dim){.values = 81, .at = made.at[0], .length = length};
	made.gp = gp_new(made.dim, 1);
	return made;
}

static void shape(void) {
	static const double target[] = {2, 3, 1};
	struct made made = line(0.05);
	double mean, variance, last = -1, first = 0, middle = 0, weights = 0, scale = exp(made.gp->theta[1 + GP_SCALE]);
	bool interpolates = true, widens = true;
	for (uint16_t i = 0; i < 3; i++)
		gp_add(made.gp, (uint16_t[]){(uint16_t)(5 * i)}, 0);
	gp_target(made.gp, target);
	made.gp->theta[1 + GP_NOISE] = -14;
	gp_condition(made.gp);
	for (uint16_t i = 0; i < 3; i++) {
		gp_predict(made.gp, (uint16_t[]){(uint16_t)(5 * i)}, &mean, &variance);
		interpolates &= fabs(mean - target[i]) < 1e-3 && variance < 1e-4;
	}
	ok(interpolates, "the mean goes through what was observed with little noise");
	for (uint16_t v = 10; v < 60; v++) {
		gp_predict(made.gp, &v, &mean, &variance);
		widens &= variance > last - 1e-9;
		first = v == 10 ? variance : first;
		last = variance;
	}
	ok(widens && first < 0.01 && last > 0.8 * scale, "variance grows away from the observations");
	gp_predict(made.gp, (uint16_t[]){80}, &mean, &variance);
	for (size_t i = 0; i < 3; i++) {
		weights += 1;
		middle += target[i];
	}
	ok(fabs(mean - made.gp->mean) < 1e-3 && fabs(mean - middle / weights) < 0.5 && fabs(variance - scale) < 1e-3,
	   "far away it returns to the mean and to all of the variance");
	gp_free(made.gp);
}

/* Renames the codes of an unordered dimension. */
static void exchange(void) {
	static const uint16_t renamed[] = {3, 0, 4, 1, 2};
	struct rng rng;
	struct made made = {.dims = 2};
	double worst = 0, mean[2], variance[2];
	rng_seed(&rng, 5);
	made.at[0][0] = 0, made.at[0][1] = 0.4, made.at[0][2] = 1;
	made.dim[0] = (struct gp_dim){.values = 3, .at = made.at[0], .length = 0.7};
	made.dim[1] = (struct gp_dim){.values = 5, .length = 0.7};
	struct gp *plain = gp_new(made.dim, 2), *other = gp_new(made.dim, 2);
	double target[12];
	for (size_t i = 0; i < 12; i++) {
		uint16_t codes[2] = {(uint16_t)rng_below(&rng, 3), (uint16_t)rng_below(&rng, 5)};
		gp_add(plain, codes, 0);
		gp_add(other, (uint16_t[]){codes[0], renamed[codes[1]]}, 0);
		target[i] = rng_normal(&rng);
	}
	gp_target(plain, target);
	gp_target(other, target);
	gp_fit(plain, 20);
	gp_fit(other, 20);
	gp_condition(plain);
	gp_condition(other);
	for (uint16_t code = 0; code < 15; code++) {
		gp_predict(plain, (uint16_t[]){code % 3, code / 3}, &mean[0], &variance[0]);
		gp_predict(other, (uint16_t[]){code % 3, renamed[code / 3]}, &mean[1], &variance[1]);
		worst = fmax(worst, fabs(mean[0] - mean[1]) + fabs(variance[0] - variance[1]));
	}
	ok(worst < 1e-12, "renaming unordered codes changes nothing (off by %.2g)", worst);
	gp_free(plain);
	gp_free(other);
}

int main(void) {
	slopes();
	values();
	predictions();
	shape();
	exchange();
	return tap_done();
}
