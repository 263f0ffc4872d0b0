/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Virtual nodes behind struct pool, in discrete virtual time: an event heap, no threads, the same again by seed. For
 * fleets that are larger than what there is to test on. */
#ifndef TUNER_FLEET_POOL_SIMULATED_H
#define TUNER_FLEET_POOL_SIMULATED_H
#include "src/base/rng.h"
#include "tuner/fleet/pool.h"

struct simulated_node {
	double speed;        /* times are divided by it; > 0 */
	double noise;        /* deviation of a sample's logarithm */
	double queue_s;      /* until it is given */
	double fail_every_s; /* mean of the exponential time until it fails; 0: never */
	double away_s;       /* until it is back from a failure; 0: it is lost for good */
	double throttle;     /* from throttle_at on, times are multiplied by it; 0: never */
	double throttle_at;
};

struct simulated_options {
	size_t count;
	uint64_t seed;
	void *ctx;
	/* Called once a node; it comes with speed 1 and nothing else. NULL: all are like that. */
	void (*node)(void *ctx, size_t node, struct rng *rng, struct simulated_node *out);
	double (*seconds)(void *ctx, const json_t *config); /* of a run at speed 1; NAN: it fails */
	double trial_s;                                     /* that a trial takes besides its samples, on any node */
	/* What the caller takes between its calls passes for the nodes, too, by this clock. NULL: it takes no time. */
	double (*clock)(void);
	const volatile int *interrupt; /* may be NULL */
};

struct simulated_tally {
	uint64_t jobs, trials,
		lost;      /* handed over; run to their end; jobs that their node did not live to see the end of */
	double busy_s; /* that nodes spent in jobs */
};

struct pool *pool_simulated_new(const struct simulated_options *options);
void pool_simulated_free(struct pool *pool);
struct simulated_tally pool_simulated_tally(const struct pool *pool);

#endif
