/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the model of a search, watched at every proposal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "tests/tuner/search/land.h"
#include "tests/tuner/space/help.h"
#include "tests/tuner/surrogate/watched.h"

enum { BATCH = 8 };

static void used_up(struct land *land, const char *name) {
	struct search *search = watched_begin(land->space, NULL, 0);
	uint64_t index, count = 0;
	while (search_ask(search, &index, 1)) {
		watched_answer(search, index, land->time[index]);
		count++;
	}
	ok(count == land->valid && watch.fresh, "%s: proposes every configuration once", name);
	ok(watch.finite && (watch.models > 0 || land->valid <= WATCHED_FIRST), "%s: all numbers are finite", name);
	search_free(search);
	land_free(land);
}

static void promises(void) {
	struct land *land = land_separable();
	struct search *search = watched_begin(land->space, NULL, 0);
	double first = NAN, last = NAN;
	uint64_t index;
	for (uint64_t i = 0; i + 8 < land->valid && search_ask(search, &index, 1); i++) {
		watched_answer(search, index, land->time[index]);
		last = surrogate_promise(watch.surrogate, land->valid - i);
		first = isnan(first) ? last : first;
	}
	ok(first > 0.02 && last >= 0 && last < 0.005, "the model promises less and less (%.3g at first, %.3g at last)",
	   first, last);
	ok(surrogate_promise(watch.surrogate, 0) == 0, "the model promises nothing for no more evaluations");
	search_free(search);
	land_free(land);
}

/* A step is drawn for every other proposal; asking again draws the same one. */
static void steps(void) {
	struct land *land = land_separable();
	struct search *search = watched_begin(land->space, NULL, 0);
	double sum = 0, drawn = 0;
	uint64_t index;
	bool same = true;
	for (int i = 0; i < 120 && search_ask(search, &index, 1); i++) {
		watched_answer(search, index, land->time[index]);
		if (i < WATCHED_FIRST)
			continue;
		same = same && surrogate_ask(watch.surrogate) == surrogate_ask(watch.surrogate);
		sum += watch.surrogate->fit.told % 2 ? 0 : (double)watch.surrogate->worth.step;
		drawn += watch.surrogate->fit.told % 2 == 0;
	}
	ok(drawn > 50 && sum > 0.03 * drawn && sum < 0.08 * drawn,
	   "what a proposal has to gain is drawn every other time (%.3f on average)", sum / drawn);
	ok(same, "the model proposes the same when it is asked again");
	search_free(search);
	land_free(land);
}

static double spread(const struct space *space, const uint64_t *index, size_t count) {
	double sum = 0;
	int a[SPACE_PARAMS_MAX], b[SPACE_PARAMS_MAX];
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++) {
			space_config(space, index[i], a);
			space_config(space, index[j], b);
			for (size_t p = 0; p < space_params(space); p++)
				sum += abs(a[p] - b[p]);
		}
	return sum / (double)(count * (count - 1) / 2);
}

static void most_gaining(uint64_t *out, size_t count) {
	const struct surrogate *surrogate = watch.surrogate;
	double limit = INFINITY;
	for (size_t i = 0; i < count; i++) {
		size_t best = 0;
		double most = -1;
		for (size_t c = 0; c < surrogate->pool.count; c++) {
			double gain = surrogate->worth.gain[c] > 0 ? surrogate_gain_at(surrogate, c) : 0;
			if (gain < limit && gain > most) {
				most = gain;
				best = c;
			}
		}
		limit = most;
		out[i] = surrogate->pool.index[best];
	}
}

static void batches(void) {
	struct land *land = land_bowl();
	struct search *search = watched_begin(land->space, NULL, 0);
	uint64_t batch[BATCH], alone[BATCH], index;
	double apart = 0, near = 0;
	bool distinct = true;
	for (int i = 0; i < 12 && search_ask(search, &index, 1); i++)
		watched_answer(search, index, land->time[index]);
	for (int round = 0; round < 4; round++) {
		for (size_t i = 0; i < BATCH; i++) {
			search_ask(search, &batch[i], 1);
			if (i == 0)
				most_gaining(alone, BATCH);
			for (size_t j = 0; j < i; j++)
				distinct &= batch[i] != batch[j];
		}
		apart += spread(land->space, batch, BATCH);
		near += spread(land->space, alone, BATCH);
		for (size_t i = BATCH; i-- > 0;)
			watched_answer(search, batch[i], land->time[batch[i]]);
	}
	ok(distinct && watch.fresh && watch.finite, "a pending configuration is not proposed again");
	ok(apart > 1.2 * near, "proposals of a batch are spread (%.2f steps, the most promising ones %.2f)", apart / 4,
	   near / 4);
	ok(watch.surrogate->waiting.count == 0, "nothing is pending at the end");
	search_free(search);
	land_free(land);
}

/* Four of ten fail: almost all with half of one parameter's values. */
static void failures(void) {
	struct land *land = land_bowl();
	struct search *search = watched_begin(land->space, NULL, 0);
	uint64_t index;
	int config[SPACE_PARAMS_MAX], failed = 0;
	bool found = false;
	for (int i = 0; i < 60 && search_ask(search, &index, 1); i++) {
		space_config(land->space, index, config);
		bool fails = config[2] < 4 ? config[0] != 0 : config[0] == 7 && config[1] == 0;
		failed += fails && !found;
		found |= index == land->best;
		watched_answer(search, index, fails ? INFINITY : land->time[index]);
	}
	ok(watch.finite && watch.fresh, "failures: finite numbers");
	ok(found && failed < 10, "failures: few before the best is found (%d)", failed);
	search_free(search);
	land_free(land);
}

static void nothing_works(void) {
	struct land *land = land_separable();
	struct search *search = watched_begin(land->space, NULL, 0);
	uint64_t index, count = 0;
	for (; count < 60 && search_ask(search, &index, 1); count++)
		watched_answer(search, index, INFINITY);
	ok(count == 60 && watch.fresh && watch.models == 0, "the search goes on without a model if nothing works");
	for (index = 0; history_taken(search_history(search), index);)
		index++;
	watched_answer(search, index, 1);
	for (; count < 80 && search_ask(search, &index, 1); count++)
		watched_answer(search, index, INFINITY);
	ok(count == 80 && watch.fresh && watch.finite && watch.models > 0,
	   "the search goes on with a model as soon as something works");
	search_free(search);
	land_free(land);
}

static void censored(void) {
	struct land *land = land_interacting();
	struct search *search = watched_begin(land->space, NULL, 0);
	double best = INFINITY;
	uint64_t index;
	int cut = 0;
	for (int i = 0; i < 120 && search_ask(search, &index, 1); i++) {
		double time = land->time[index];
		if (time > 1.5 * best) {
			search_tell_value(search, index, STRATEGY_CENSORED, 1.3 * best);
			cut++;
		} else {
			search_tell_value(search, index, STRATEGY_VALUE, time);
		}
		best = fmin(best, time);
	}
	ok(cut > 10 && watch.lifted && watch.finite,
	   "a trial that was cut short counts as slower than its limit (%d of 120)", cut);
	search_free(search);
	land_free(land);
}

static void extremes(void) {
	struct land *land = land_bowl();
	struct search *search = watched_begin(land->space, NULL, 0);
	static const double times[] = {1e-308, 1e308, 1, 5e-324, 1e-9, 1e9};
	uint64_t index;
	for (size_t i = 0; i < 60 && search_ask(search, &index, 1); i++)
		search_tell(search, index,
		            &(struct strategy_outcome){.result = i % 7 == 6 ? STRATEGY_CENSORED : STRATEGY_VALUE,
		                                       .value = times[i % 6],
		                                       .deviation = i % 5 ? 0 : 1e200});
	ok(watch.finite && watch.fresh, "times from 5e-324 to 1e308, and deviations of 1e200: finite numbers");
	search_free(search);
	land_free(land);
}

static double far_time(const struct space *space, uint64_t index) {
	int config[SPACE_PARAMS_MAX];
	double sum = 0;
	space_config(space, index, config);
	for (size_t p = 0; p < space_params(space); p++)
		sum += 0.1 * fabs(config[p] - 3.0);
	return exp(sum);
}

static void large(void) {
	struct space *space = space_new();
	char name[] = "pa";
	for (int p = 0; p < 12; p++, name[1]++)
		add_param(space, name, "1..10", NULL);
	uint64_t valid = space_valid(built(space)), index = 0;
	struct search *search = watched_begin(space, NULL, 0);
	double first = INFINITY, last = INFINITY;
	for (int i = 0; i < 60 && search_ask(search, &index, 1); i++) {
		double time = far_time(space, index);
		watched_answer(search, index, time);
		*(i < 30 ? &first : &last) = fmin(i < 30 ? first : last, time);
	}
	ok(valid == UINT64_C(1000000000000) && watch.fresh && watch.finite && watch.models > 50, "10^12 configurations");
	ok(last < first, "the search of 10^12 configurations improves (from %.2f to %.2f)", first, last);
	search_free(search);
	space_free(space);
}

static void many(void) {
	struct land *land = land_wide();
	struct search *search = watched_begin(land->space, NULL, 0);
	struct rng rng;
	uint64_t index;
	bool bounded = true, keeps = true;
	rng_seed(&rng, 8);
	for (int i = 0; i < 1500; i++) {
		if (i % 60 == 59)
			search_ask(search, &index, 1);
		else
			index = history_unseen(search_history(search), land->space, &rng);
		watched_answer(search, index, i % 9 == 4 ? INFINITY : land->time[index]);
		const struct surrogate *surrogate = watch.surrogate;
		bounded &= surrogate->count <= OBSERVED_MAX;
		if (i % 60 == 59) {
			uint64_t best = history_best(search_history(search));
			bool kept = false;
			for (size_t j = 0; j < surrogate->count; j++)
				kept |= surrogate->observed[j].index == best;
			keeps &= kept;
		}
	}
	ok(bounded && keeps, "the important ones of 1500 observations stay");
	ok(watch.fresh && watch.finite && watch.models > 20, "the search goes on with the observations that stay");
	ok(surrogate_fits(watch.surrogate) <= 16, "the more results, the rarer are fits: %zu in %zu proposals",
	   surrogate_fits(watch.surrogate), watch.models);
	search_free(search);
	land_free(land);
}

static void caps(void) {
	bool rises = true, same = true;
	for (double cap = 0.15; cap < 3; cap += 0.4)
		for (double x = -1; x < 800; x += x < 5 ? 0.01 : 10) {
			double y = surrogate_cap(x, cap);
			rises &= y <= surrogate_cap(x + 0.001, cap) && isfinite(y);
			same &= x > cap || y == x;
		}
	ok(rises && same && isfinite(surrogate_cap(INFINITY, 1)), "the cap compresses slow values and keeps their order");
}

/* Only the first parameter has an effect, of *shape; nothing repeats exactly. */
static double one_of_three(const struct space *space, const int *config, const void *shape) {
	struct rng rng;
	(void)space;
	rng_split(&rng, (uint64_t)(config[0] + 8 * config[1] + 48 * config[2]), "land");
	return exp(*(const double *)shape * abs(config[0] - 3) + 0.01 * rng_normal(&rng));
}

static void described(double effect, const char *end) {
	struct space *space = space_new();
	add_param(space, "matters", "1,2,3,4,5,6,7,8", NULL);
	add_param(space, "idle", "1,2,3,4,5,6", NULL);
	add_param(space, "word", "x,y,z", NULL);
	struct land *land = land_new(space, one_of_three, &effect, NULL);
	struct search *search = watched_begin(land->space, NULL, 0);
	uint64_t index;
	char said[200] = "";
	bool as_it_is = true;
	for (int i = 0; i < 40 && search_ask(search, &index, 1); i++) {
		watched_answer(search, index, land->time[index]);
		if (i < 15 || i % 8)
			continue;
		surrogate_describe(watch.surrogate, said, sizeof said);
		const char *last = strchr(said, ';');
		as_it_is &= strcmp(last ? last : "", end) == 0;
	}
	ok(as_it_is && *said, "an effect of %g of one parameter, none of the others: %s", effect, said);
	search_free(search);
	land_free(land);
}

int main(void) {
	used_up(land_single(), "single");
	used_up(land_two(), "two");
	used_up(land_separable(), "separable");
	used_up(land_interacting(), "interacting");
	used_up(land_plateau(), "plateau");
	used_up(land_needle(), "needle");
	used_up(land_conditional(), "conditional");
	used_up(land_table(), "table");
	used_up(land_failing(), "failing");
	promises();
	steps();
	batches();
	failures();
	nothing_works();
	censored();
	extremes();
	large();
	many();
	caps();
	described(0, "");
	described(0.3, "; matters matters most");
	return tap_done();
}
