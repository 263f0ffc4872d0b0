/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole procedure on a simulated fleet: a space of 12^6 configurations, whose times follow a model. */
#ifndef TESTS_TUNER_FLEET_PLAY_H
#define TESTS_TUNER_FLEET_PLAY_H
#include "tests/tuner/store/fixture.h"
#include "tests/tuner/space/help.h"
#include "tuner/fleet/pool_simulated.h"
#include "tuner/tune/tune.h"

struct fleet_play {
	size_t nodes;
	uint64_t evaluations, seed;
	double seconds, node_seconds; /* budget, virtual; both 0: evaluations */
	const char *strategy;
	double run_s, trial_s; /* of the best configuration's run; of a trial besides */
	double noise;
	double speed_spread;         /* deviation of the logarithm of speeds */
	double fail_every_s, away_s; /* of all nodes */
	double queue_s;              /* node i is given after i times this */
	double (*clock)(void);
	void (*node)(size_t node, struct simulated_node *out); /* after all that; may be NULL */
	bool (*broken)(const json_t *config);                  /* fails; may be NULL */
	const char *const *counters;                           /* are asked for; may be NULL */
	const volatile int *interrupt;
	volatile int *raised; /* set when the finals begin; may be NULL */
	const char *store;    /* path */
	int64_t resume;
};

struct fleet_played {
	json_t *result; /* NULL: there is none */
	struct err err;
	struct simulated_tally tally;
	double makespan;                                 /* virtual, of all phases */
	double searched, searched_busy_s, searched_real; /* when the search ended; what nodes had spent in jobs by then */
	uint64_t searched_trials;
	int64_t search, session;
};

double fleet_play_seconds(const json_t *config, double run_s);
int fleet_play(const struct fleet_play *play, struct fleet_played *played);
void fleet_played_clear(struct fleet_played *played);

/* What the store has of a search. */
struct fleet_stored {
	uint64_t rows, configs, twins; /* of the phase "search": twins are configurations with two rows or more */
	uint64_t named;                /* rows that say which node */
	uint64_t counted, early;       /* rows of the phase "counters"; those before the duel had ended */
	uint64_t all;                  /* rows of all phases */
	uint64_t mixed;                /* blocks of race and duel that more than one node measured */
	double scale_least;            /* of a node in race and duel */
};
struct fleet_stored fleet_stored(const char *store, int64_t search);

#endif
