/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Virtual nodes behind struct pool: a discrete-event simulation in virtual time, without threads and deterministic by
 * seed. It stands in for fleets that are larger than any test machine. */
#ifndef TESTS_TUNER_FLEET_SIMULATED_H
#define TESTS_TUNER_FLEET_SIMULATED_H
#include "base/rng.h"
#include "tuner/fleet/pool.h"

struct simulated_node {
	double speed;        /* divides times; > 0 */
	double noise;        /* standard deviation of the logarithm of a sample */
	double queue_s;      /* time in the queue */
	double fail_every_s; /* mean of the exponential time to failure; 0: never fails */
	double away_s;       /* time until it is back after a failure; 0: lost for good */
	double throttle;     /* factor on times from throttle_at on; 0: never */
	double throttle_at;
};

struct simulated_options {
	size_t count;
	uint64_t seed;
	void *ctx;
	/* Called once per node to set it up; *out arrives with speed 1 and all else 0. NULL: all nodes stay like that. */
	void (*node)(void *ctx, size_t node, struct rng *rng, struct simulated_node *out);
	double (*seconds)(void *ctx, const json_t *config); /* time of a run at speed 1; NAN: it fails; < 0: it is wrong */
	/* Factor on the times that a node reports of a configuration, whose runs then are in the reply as well. NULL: the
	 * truth. */
	double (*says)(void *ctx, size_t node, const json_t *config);
	double trial_s; /* fixed cost of a trial besides its samples, on any node */
	/* The clock of the caller: time that it spends between its calls also passes for the nodes. NULL: none does. */
	double (*clock)(void);
	const volatile int *interrupt; /* may be NULL */
};

struct simulated_tally {
	uint64_t jobs, trials, lost; /* jobs handed over; trials completed; jobs lost with their node */
	double busy_s;               /* time that nodes spent in jobs */
};

struct pool *pool_simulated_new(const struct simulated_options *options);
void pool_simulated_free(struct pool *pool);
struct simulated_tally pool_simulated_tally(const struct pool *pool);

#endif
