/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole procedure on a simulated fleet: a space of 12^6 configurations whose times follow a model. */
#ifndef TESTS_TUNER_FLEET_PLAY_H
#define TESTS_TUNER_FLEET_PLAY_H
#include "tests/tuner/store/fixture.h"
#include "tests/tuner/space/help.h"
#include "tests/tuner/fleet/simulated.h"
#include "tuner/tune/tune.h"

struct fleet_play {
	size_t nodes;
	uint64_t evaluations, seed;
	double seconds, node_seconds; /* virtual budget; both 0: evaluations */
	const char *strategy;
	double run_s, trial_s; /* run time of the best configuration; fixed cost of a trial */
	double noise;
	double speed_spread;         /* standard deviation of the logarithm of speeds */
	double fail_every_s, away_s; /* for all nodes */
	double queue_s;              /* node i arrives after i times this */
	double (*clock)(void);
	void (*node)(size_t node, struct simulated_node *out); /* called last; may be NULL */
	bool (*broken)(const json_t *config);                  /* does it fail? May be NULL */
	bool (*hangs)(const json_t *config);                   /* does it take forever? May be NULL */
	bool program;                                          /* trials are runs of a whole program */
	const char *const *counters;                           /* requested; may be NULL */
	const volatile int *interrupt;
	volatile int *raised; /* set when the finals begin; may be NULL */
	const char *store;    /* path */
	int64_t resume;
};

struct fleet_played {
	json_t *result; /* NULL: there is none */
	struct err err;
	struct simulated_tally tally;
	double makespan;                                 /* virtual, all phases */
	double searched, searched_busy_s, searched_real; /* end of the search; time that nodes had spent in jobs by then */
	uint64_t searched_trials;
	int64_t search, session;
};

double fleet_play_seconds(const json_t *config, double run_s);
int fleet_play(const struct fleet_play *play, struct fleet_played *played);
void fleet_played_clear(struct fleet_played *played);
/* Eight nodes and 400 evaluations. */
struct fleet_play fleet_play_small(const char *store);
int64_t fleet_played_int(const struct fleet_played *played, const char *key); /* of the result; -1: missing */
const json_t *fleet_played_node(const struct fleet_played *played, size_t node);
size_t fleet_played_count(const struct fleet_played *played, const char *state); /* nodes in this state */

/* The stored trials of a search. */
struct fleet_stored {
	uint64_t rows, configs, twins; /* phase "search"; twins: configurations with two rows or more */
	uint64_t named;                /* rows that name their node */
	uint64_t counted, early;       /* phase "counters"; those before the end of the duel */
	uint64_t all;                  /* rows of all phases */
	uint64_t mixed;                /* blocks of race and duel that more than one node measured */
	double scale_least;            /* smallest scale of a node in race and duel */
};
struct fleet_stored fleet_stored(const char *store, int64_t search);

/* Plays with a store of this name in the fixture's folder, which each test program has of its own. Returns its path;
 * the caller frees it. */
__attribute__((unused)) static char *fleet_play_at(const struct fleet_play *asked, const char *name,
                                                   struct fleet_played *played) {
	struct fleet_play play = *asked;
	char *path = fixture_path(name);
	play.store = path;
	if (fleet_play(&play, played))
		printf("# %s\n", played->err.what);
	return path;
}

#endif
