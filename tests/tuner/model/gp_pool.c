/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Incremental results must equal those computed from scratch. */
#include "tests/tuner/model/gp_help.h"
#include "tests/tap.h"

enum { SEEDS = 12, CANDIDATES = 1100, TURNS = 14, ROWS_MAX = 400 };

struct game {
	struct made made;
	struct rng rng;
	struct gp_pool *pool;
	uint16_t codes[CANDIDATES * MADE_DIMS];
	size_t count;
	double anew, pooled, left; /* the largest differences */
};

/* Another process with the same parameters that is given everything at once. */
static struct gp *twin(const struct made *made) {
	struct gp *gp = gp_new(made->dim, made->dims);
	memcpy(gp->theta, made->gp->theta, (made->dims + GP_SHAPES) * sizeof *gp->theta);
	for (size_t i = 0; i < gp_count(made->gp); i++)
		gp_add(gp, made->gp->codes + i * made->dims, made->gp->variance[i]);
	gp_target(gp, made->gp->target);
	gp_condition(gp);
	return gp;
}

static void left_out(struct game *game, struct gp *gp) {
	double mean[ROWS_MAX], variance[ROWS_MAX], m[ROWS_MAX], v[ROWS_MAX];
	if (rng_below(&game->rng, 3) == 0) /* not always, so that rows of several turns are due at once */
		return;
	gp_leave_one_out(gp, mean, variance);
	gp_leave_one_out(game->made.gp, m, v);
	for (size_t i = 0; i < gp_count(gp); i++)
		game->left = fmax(game->left, fabs(m[i] - mean[i]) + fabs(v[i] - variance[i]));
}

static void compare(struct game *game) {
	struct gp *gp = twin(&game->made);
	double mean, variance, m, v, scale = exp(gp->theta[game->made.dims + GP_SCALE]);
	gp_condition(game->made.gp);
	gp_pool_predict(game->pool);
	left_out(game, gp);
	for (size_t c = 0; c < game->count; c++) {
		const uint16_t *codes = game->codes + c * game->made.dims;
		gp_predict(gp, codes, &mean, &variance);
		gp_predict(game->made.gp, codes, &m, &v);
		game->anew = fmax(game->anew, fabs(m - mean) + fabs(v - variance));
		m = gp_pool_mean(game->pool)[c];
		v = gp_pool_variance(game->pool)[c];
		game->pooled = fmax(game->pooled, fabs(m - mean) / 3 + fabs(v - variance) / (scale + 1));
	}
	gp_free(gp);
}

static void set(struct game *game) {
	game->count =
		rng_below(&game->rng, 5) == 0 ? 0 : 1 + rng_below(&game->rng, rng_below(&game->rng, 3) ? 70 : CANDIDATES);
	for (size_t c = 0; c < game->count; c++)
		made_codes(&game->made, &game->rng, game->codes + c * game->made.dims);
	gp_pool_set(game->pool, game->codes, game->count);
}

/* Adds and removes assumed outcomes, and changes targets, parameters and candidates. */
static void turn(struct game *game) {
	struct gp *gp = game->made.gp;
	switch (rng_below(&game->rng, 8)) {
	case 0:
		gp_truncate(gp, rng_below(&game->rng, gp_count(gp) + 1));
		break;
	case 1:
		gp_truncate(gp, gp_count(gp) / 2);
		made_observe(&game->made, &game->rng, 1 + rng_below(&game->rng, 5), 1);
		break;
	case 2:
		made_theta(&game->made, &game->rng);
		break;
	case 3:
		gp_fit(gp, 3);
		break;
	case 4:
		set(game);
		break;
	default:
		made_observe(&game->made, &game->rng, rng_below(&game->rng, 9), 1);
	}
}

static void play(uint64_t seed, double *anew, double *pooled, double *left) {
	struct game *game = mem_alloc(1, sizeof *game);
	rng_seed(&game->rng, seed);
	made_draw(&game->made, &game->rng, seed % 2);
	game->pool = gp_pool_new(game->made.gp, CANDIDATES);
	made_theta(&game->made, &game->rng);
	set(game);
	compare(game);
	for (int i = 0; i < TURNS; i++) {
		turn(game);
		compare(game);
	}
	*anew = fmax(*anew, game->anew);
	*pooled = fmax(*pooled, game->pooled);
	*left = fmax(*left, game->left);
	gp_pool_free(game->pool);
	gp_free(game->made.gp);
	free(game);
}

/* Hundreds of assumed outcomes that are added and removed must leave little error in single precision. */
static void drift(void) {
	struct game *game = mem_alloc(1, sizeof *game);
	rng_seed(&game->rng, 77);
	made_draw(&game->made, &game->rng, false);
	game->pool = gp_pool_new(game->made.gp, CANDIDATES);
	made_observe(&game->made, &game->rng, 40, 1);
	set(game);
	for (int i = 0; i < 300; i++) {
		gp_truncate(game->made.gp, 40);
		made_observe(&game->made, &game->rng, 8, 1);
		gp_condition(game->made.gp);
		gp_pool_predict(game->pool);
	}
	compare(game);
	ok(game->pooled < 1e-3, "assumed outcomes that are removed leave nothing behind (off by %.2g)", game->pooled);
	gp_pool_free(game->pool);
	gp_free(game->made.gp);
	free(game);
}

int main(void) {
	double anew = 0, pooled = 0, left = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		play(seed, &anew, &pooled, &left);
	ok(anew < 1e-7, "observations added one by one, removed and added again are as if given at once (off by %.2g)",
	   anew);
	ok(pooled < 1e-3, "a pool agrees with each prediction (off by %.2g)", pooled);
	ok(left < 1e-7, "a pool agrees with the errors of those left out (off by %.2g)", left);
	drift();
	return tap_done();
}
