/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tuner/search/play.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum { FINALISTS = 6 };
static const double LIMIT = 1.1, CUT = 1.5, FINALIST_MARGIN = 1.12;

struct seen {
	double measured, real;
};

struct game {
	const struct play *play;
	struct search *search;
	struct rng rng;
	struct seen *seen;
	size_t count;
	double best;
};

static void trial(struct game *game, uint64_t index) {
	double real = game->play->land->time[index];
	double measured = real * exp(game->play->noise * rng_normal(&game->rng)), limit = LIMIT * game->best;
	if (isinf(real)) {
		search_tell_value(game->search, index, STRATEGY_FAILURE, 0);
	} else if (measured > CUT * limit) {
		search_tell_value(game->search, index, STRATEGY_CENSORED, limit);
	} else {
		search_tell_value(game->search, index, STRATEGY_VALUE, measured);
		game->seen[game->count++] = (struct seen){measured, real};
		if (measured < game->best)
			game->best = measured;
	}
}

static int by_measured(const void *a, const void *b) {
	double x = ((const struct seen *)a)->measured, y = ((const struct seen *)b)->measured;
	return (x > y) - (x < y);
}

static double finals(struct game *game) {
	double best = INFINITY;
	qsort(game->seen, game->count, sizeof *game->seen, by_measured);
	for (size_t i = 0; i < game->count && i < FINALISTS; i++)
		if (game->seen[i].measured <= FINALIST_MARGIN * game->seen[0].measured && game->seen[i].real < best)
			best = game->seen[i].real;
	return best;
}

double play_run(const struct play *play) {
	const struct land *land = play->land;
	struct game game = {.play = play, .best = INFINITY};
	struct err err = {0};
	rng_split(&game.rng, play->seed, "play");
	game.seen = mem_alloc(play->evaluations + 1, sizeof *game.seen);
	game.search =
		search_new(play->strategy,
	               &(struct strategy_task){
					   .space = land->space, .seed = play->seed, .start = land->start, .budget = play->evaluations},
	               &err);
	if (!game.search)
		exit(1);
	trial(&game, land->start);
	for (uint64_t i = 1, index; i < play->evaluations && search_ask(game.search, &index, 1); i++)
		trial(&game, index);
	double best = finals(&game);
	search_free(game.search);
	free(game.seen);
	return best / land->time[land->best];
}
