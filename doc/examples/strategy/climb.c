/* SPDX-License-Identifier: BSD-3-Clause */
/* A search strategy of one's own: from the best so far, one parameter takes another value.
 *
 *     make && sweetspot tune gol --strategy ./climb.so --budget 50e
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sweetspot/strategy.h>

struct climb {
	const struct ss_space *space;
	uint64_t seed;
	double least;
	int *best; /* a level for each parameter */
};

static void *begin(const struct ss_space *space) {
	struct climb *climb = malloc(sizeof *climb);
	*climb = (struct climb){space, space->seed, INFINITY, calloc((size_t)space->params, sizeof(int))};
	return climb;
}

static int ask(void *state, int *levels) {
	struct climb *climb = state;
	climb->space->draw(climb->space, &climb->seed, levels);
	if (isinf(climb->least))
		return 1;
	int param = (int)(climb->seed % (uint64_t)climb->space->params), level = levels[param];
	memcpy(levels, climb->best, (size_t)climb->space->params * sizeof *levels);
	levels[param] = level;
	return climb->space->valid(climb->space, levels); /* 0: a random one for this time */
}

static void tell(void *state, const int *levels, enum ss_result result, double value) {
	struct climb *climb = state;
	if (result != SS_VALUE || !(value < climb->least))
		return;
	climb->least = value;
	memcpy(climb->best, levels, (size_t)climb->space->params * sizeof *levels);
}

static void end(void *state) {
	struct climb *climb = state;
	free(climb->best);
	free(climb);
}

const struct ss_strategy sweetspot_strategy = {SS_STRATEGY_ABI, begin, ask, tell, end};
