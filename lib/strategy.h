/* SPDX-License-Identifier: BSD-3-Clause */
/* A search strategy of your own, for `--strategy ./mine.so` of tune, replay, score and suggest. The shared object
 * exports a table:
 *
 *     const struct ss_strategy sweetspot_strategy = {SS_STRATEGY_ABI, begin, ask, tell, end};
 *
 * A configuration is a level for each parameter, the place of its value from 0 on, or SS_ABSENT where its condition
 * does not hold. Several searches may run at the same time in threads, so use no global variables, and the same seed
 * and values must give the same configurations. doc/search.md has an example, and the same for programs. */
#ifndef SWEETSPOT_STRATEGY_H
#define SWEETSPOT_STRATEGY_H
#include <stdint.h>

#define SS_STRATEGY_ABI 1
#define SS_ABSENT       (-1)

struct ss_param {
	const char *name;
	int values;            /* how many */
	const double *numbers; /* the values in order; NAN for a word */
};

struct ss_space {
	int params;
	const struct ss_param *param;
	uint64_t seed;
	uint64_t budget; /* evaluations to expect; 0: unknown */
	double configurations;
	/* Does it exist, with all conditions and constraints? */
	int (*valid)(const struct ss_space *space, const int *levels);
	/* A configuration that exists, uniform; *seed advances. */
	void (*draw)(const struct ss_space *space, uint64_t *seed, int *levels);
	const void *own; /* ours */
};

enum ss_result {
	SS_VALUE,  /* `value`, of which less is better, above 0 */
	SS_CUT,    /* cut short, since it takes more than `value` */
	SS_FAILURE /* it does not work or does not exist */
};

struct ss_strategy {
	uint32_t abi;
	void *(*begin)(const struct ss_space *space); /* the space outlives the state that it returns; NULL: failed */
	/* Writes the configuration to measure next; 0: it has no idea, so that a random one follows. What was measured
	 * already is told again and costs nothing; what does not exist is told as a failure. */
	int (*ask)(void *state, int *levels);
	/* Also of configurations that it did not ask for, such as the baseline. */
	void (*tell)(void *state, const int *levels, enum ss_result result, double value);
	void (*end)(void *state); /* may be NULL */
};
#endif
