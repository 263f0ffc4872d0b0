/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model behind a search, watched at every proposal. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "tests/tap.h"
#include "tests/tuner/search_land.h"
#include "tests/tuner/space_help.h"
#include "tuner/search.h"
#include "tuner/strategy/surrogate_impl.h"

enum { FIRST = 3, BATCH = 8 };

struct watched {
	struct surrogate *surrogate;
	const struct history *history;
	size_t asked;
};

static struct watch {
	struct watched *watched;
	bool fresh, finite, lifted; /* so far */
	size_t models;              /* proposals by the model */
} watch;

static bool all_finite(const double *x, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static bool is_finite(const struct surrogate *surrogate) {
	const float *mean = gp_pool_mean(surrogate->values), *variance = gp_pool_variance(surrogate->values);
	bool finite = isfinite(surrogate->incumbent) && isfinite(surrogate->stretch) && isfinite(surrogate->error);
	finite &= all_finite(surrogate->target, surrogate->in_value + surrogate->pending_count);
	finite &= all_finite(surrogate->gain, surrogate->pool.count);
	for (size_t c = 0; c < surrogate->pool.count; c++) {
		finite &= isfinite(mean[c]) && isfinite(variance[c]);
		finite &= !surrogate->works || isfinite(gp_pool_mean(surrogate->workings)[c]);
	}
	return finite;
}

/* What was cut short counts as slower than all that is known to be faster than its limit. */
static bool is_lifted(const struct surrogate *surrogate) {
	for (size_t i = 0; i < surrogate->in_value; i++) {
		const struct observed *cut = &surrogate->observed[surrogate->row[i]];
		for (size_t j = 0; cut->result == STRATEGY_CENSORED && j < surrogate->in_value; j++) {
			const struct observed *other = &surrogate->observed[surrogate->row[j]];
			if (other->result == STRATEGY_VALUE && other->log < cut->log && surrogate->target[i] < surrogate->target[j])
				return false;
		}
	}
	return true;
}

static int watched_init(void *state, const struct strategy_task *task, struct err *err) {
	struct watched *watched = state;
	(void)err;
	watched->surrogate = surrogate_new(task, true);
	watched->history = task->history;
	watch = (struct watch){.watched = watched, .fresh = true, .finite = true, .lifted = true};
	return 0;
}

static size_t watched_ask(void *state, uint64_t *out, size_t want) {
	struct watched *watched = state;
	struct surrogate *surrogate = watched->surrogate;
	bool model = watched->asked++ >= FIRST && surrogate_ready(surrogate);
	(void)want;
	*out = model ? surrogate_ask(surrogate) : surrogate_first(surrogate);
	if (model) {
		watch.models++;
		watch.finite &= is_finite(surrogate) && isfinite(surrogate_promise(surrogate, 10));
		watch.lifted &= is_lifted(surrogate);
	}
	if (*out == UINT64_MAX)
		return 0;
	watch.fresh &= !history_taken(watched->history, *out);
	surrogate_await(surrogate, *out);
	return 1;
}

static void watched_tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	surrogate_tell(((struct watched *)state)->surrogate, index, outcome);
}

static const struct strategy WATCHED = {.name = "watched",
                                        .state_size = sizeof(struct watched),
                                        .init = watched_init,
                                        .ask = watched_ask,
                                        .tell = watched_tell};

static struct search *begin(const struct space *space, const struct strategy_source *sources, size_t source_count) {
	struct err err = {0};
	const struct strategy_task task = {
		.space = space, .seed = 3, .start = UINT64_MAX, .sources = sources, .source_count = source_count};
	return search_new(&WATCHED, &task, &err);
}

static void answer(struct search *search, uint64_t index, double time) {
	if (isinf(time))
		search_tell_value(search, index, STRATEGY_FAILURE, 0);
	else
		search_tell_value(search, index, STRATEGY_VALUE, time);
}

static void used_up(struct land *land, const char *name) {
	struct search *search = begin(land->space, NULL, 0);
	uint64_t index, count = 0;
	while (search_ask(search, &index, 1)) {
		answer(search, index, land->time[index]);
		count++;
	}
	ok(count == land->valid && watch.fresh, "%s: proposes all, and none again", name);
	ok(watch.finite && (watch.models > 0 || land->valid <= FIRST), "%s: with finite numbers", name);
	search_free(search);
	land_free(land);
}

static void promises(void) {
	struct land *land = land_separable();
	struct search *search = begin(land->space, NULL, 0);
	double first = NAN, last = NAN;
	uint64_t index;
	for (uint64_t i = 0; i + 8 < land->valid && search_ask(search, &index, 1); i++) {
		answer(search, index, land->time[index]);
		last = surrogate_promise(watch.watched->surrogate, land->valid - i);
		first = isnan(first) ? last : first;
	}
	ok(first > 0.02 && last >= 0 && last < 0.005, "it promises less and less (%.3g at first, %.3g at last)", first, last);
	ok(surrogate_promise(watch.watched->surrogate, 0) == 0, "and nothing of no more evaluations");
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
	const struct surrogate *surrogate = watch.watched->surrogate;
	double limit = INFINITY;
	for (size_t i = 0; i < count; i++) {
		size_t best = 0;
		double most = -1;
		for (size_t c = 0; c < surrogate->pool.count; c++)
			if (surrogate->gain[c] < limit && surrogate->gain[c] > most) {
				most = surrogate->gain[c];
				best = c;
			}
		limit = most;
		out[i] = surrogate->pool.index[best];
	}
}

static void batches(void) {
	struct land *land = land_bowl();
	struct search *search = begin(land->space, NULL, 0);
	uint64_t batch[BATCH], alone[BATCH], index;
	double apart = 0, near = 0;
	bool distinct = true;
	for (int i = 0; i < 12 && search_ask(search, &index, 1); i++)
		answer(search, index, land->time[index]);
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
			answer(search, batch[i], land->time[batch[i]]);
	}
	ok(distinct && watch.fresh && watch.finite, "what is on its way is not proposed again");
	ok(apart > 1.2 * near, "proposals of a batch lie apart (%.2f steps, the most promising %.2f)", apart / 4, near / 4);
	ok(watch.watched->surrogate->pending_count == 0, "nothing is left on its way");
	search_free(search);
	land_free(land);
}

/* Four of ten fail: those of half of one parameter's values, nearly. */
static void failures(void) {
	struct land *land = land_bowl();
	struct search *search = begin(land->space, NULL, 0);
	uint64_t index;
	int config[SPACE_PARAMS_MAX], failed = 0;
	bool found = false;
	for (int i = 0; i < 60 && search_ask(search, &index, 1); i++) {
		space_config(land->space, index, config);
		bool fails = config[2] < 4 ? config[0] != 0 : config[0] == 7 && config[1] == 0;
		failed += fails && !found;
		found |= index == land->best;
		answer(search, index, fails ? INFINITY : land->time[index]);
	}
	ok(watch.finite && watch.fresh, "failures: finite numbers");
	ok(found && failed < 10, "failures: few on the way to the best (%d)", failed);
	search_free(search);
	land_free(land);
}

static void nothing_works(void) {
	struct land *land = land_separable();
	struct search *search = begin(land->space, NULL, 0);
	uint64_t index, count = 0;
	for (; count < 60 && search_ask(search, &index, 1); count++)
		answer(search, index, INFINITY);
	ok(count == 60 && watch.fresh && watch.models == 0, "where nothing works it goes on without a model");
	for (index = 0; history_taken(search_history(search), index);)
		index++;
	answer(search, index, 1);
	for (; count < 80 && search_ask(search, &index, 1); count++)
		answer(search, index, INFINITY);
	ok(count == 80 && watch.fresh && watch.finite && watch.models > 0, "and with one when something does");
	search_free(search);
	land_free(land);
}

static void censored(void) {
	struct land *land = land_interacting();
	struct search *search = begin(land->space, NULL, 0);
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
	ok(cut > 10 && watch.lifted && watch.finite, "what was cut short counts as slower than its limit (%d of 120)", cut);
	search_free(search);
	land_free(land);
}

static void extremes(void) {
	struct land *land = land_bowl();
	struct search *search = begin(land->space, NULL, 0);
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
	struct search *search = begin(space, NULL, 0);
	double first = INFINITY, last = INFINITY;
	for (int i = 0; i < 60 && search_ask(search, &index, 1); i++) {
		double time = far_time(space, index);
		answer(search, index, time);
		*(i < 30 ? &first : &last) = fmin(i < 30 ? first : last, time);
	}
	ok(valid == UINT64_C(1000000000000) && watch.fresh && watch.finite && watch.models > 50, "10^12 configurations");
	ok(last < first, "where it gets better (from %.2f to %.2f)", first, last);
	search_free(search);
	space_free(space);
}

static void many(void) {
	struct land *land = land_wide();
	struct search *search = begin(land->space, NULL, 0);
	struct rng rng;
	uint64_t index;
	bool bounded = true, keeps = true;
	rng_seed(&rng, 8);
	for (int i = 0; i < 1500; i++) {
		if (i % 60 == 59)
			search_ask(search, &index, 1);
		else
			index = history_unseen(search_history(search), land->space, &rng);
		answer(search, index, i % 9 == 4 ? INFINITY : land->time[index]);
		const struct surrogate *surrogate = watch.watched->surrogate;
		bounded &= surrogate->count <= OBSERVED_MAX;
		if (i % 60 == 59) {
			uint64_t best = history_best(search_history(search));
			bool kept = false;
			for (size_t j = 0; j < surrogate->count; j++)
				kept |= surrogate->observed[j].index == best;
			keeps &= kept;
		}
	}
	ok(bounded && keeps, "of 1500 observations those that matter stay");
	ok(watch.fresh && watch.finite && watch.models > 20, "and it goes on with them");
	search_free(search);
	land_free(land);
}

/* All at once in single precision, or each alone. */
static bool codes_agree(const struct surrogate *surrogate) {
	size_t dim = surrogate->dims - surrogate->source_count;
	for (size_t c = 0; c < surrogate->pool.count; c++) {
		const uint16_t *codes = surrogate->pool.codes + c * surrogate->dims;
		for (size_t s = 0; s < surrogate->source_count; s++)
			if (abs(codes[dim + s] - source_model_code(surrogate->source[s], codes, surrogate->pool.index[c])) > 1)
				return false;
	}
	return true;
}

static void source_followed(void) {
	struct land *land = land_bowl();
	enum { COUNT = 300 };
	struct strategy_outcome outcome[COUNT];
	uint64_t index[COUNT], next = 0;
	struct rng rng;
	rng_seed(&rng, 6);
	for (size_t i = 0; i < COUNT; i++) {
		index[i] = space_sample(land->space, &rng);
		outcome[i] = (struct strategy_outcome){.result = STRATEGY_VALUE, .value = 3 * land->time[index[i]]};
	}
	const struct strategy_source source = {.name = "a", .count = COUNT, .index = index, .outcome = outcome};
	struct search *search = begin(land->space, &source, 1);
	bool agree = true;
	double best = INFINITY;
	for (int i = 0; i < 8 && search_ask(search, &next, 1); i++) {
		answer(search, next, land->time[next]);
		best = fmin(best, land->time[next]);
		agree &= codes_agree(watch.watched->surrogate);
	}
	ok(agree, "a source says the same of all candidates and of each");
	ok(best <= 1.35 * land->time[land->best], "what was the best elsewhere is near the best here (%.3f)", best);
	search_free(search);
	land_free(land);
}

static void sources(void) {
	static const double values[] = {1, INFINITY, 0, -1, NAN, 2, 1e308, 1e-308, 3, 4, 5, 6};
	enum { COUNT = sizeof values / sizeof *values };
	struct strategy_outcome outcome[COUNT];
	uint64_t index[COUNT], twins[COUNT] = {0}, next;
	for (size_t i = 0; i < COUNT; i++) {
		outcome[i] = (struct strategy_outcome){.result = STRATEGY_VALUE, .value = values[i]};
		index[i] = i == 8 ? UINT64_MAX : i / 2;
	}
	const struct strategy_source list[] = {{.name = "a", .count = COUNT, .index = index, .outcome = outcome},
	                                       {.name = "b", .count = 0},
	                                       {.name = "c", .count = COUNT, .index = twins, .outcome = outcome}};
	struct land *lands[] = {land_separable(), land_single(), land_two(), land_conditional()};
	for (size_t l = 0; l < sizeof lands / sizeof *lands; l++) {
		struct search *search = begin(lands[l]->space, list, 3);
		bool taken = watch.watched->surrogate->source_count > 0;
		search_tell_value(search, 0, STRATEGY_VALUE, 2);
		uint64_t count = 1;
		for (; count < 40 && search_ask(search, &next, 1); count++)
			answer(search, next, lands[l]->time[next]);
		ok(taken && watch.fresh && watch.finite && count == (lands[l]->valid < 40 ? lands[l]->valid : 40),
		   "sources with twins, extremes and numbers that are no configurations do no harm (%zu)", l);
		search_free(search);
		land_free(lands[l]);
	}
}

static void caps(void) {
	bool rises = true, same = true;
	for (double cap = 0.15; cap < 3; cap += 0.4)
		for (double x = -1; x < 800; x += x < 5 ? 0.01 : 10) {
			double y = surrogate_cap(x, cap);
			rises &= y <= surrogate_cap(x + 0.001, cap) && isfinite(y);
			same &= x > cap || y == x;
		}
	ok(rises && same && isfinite(surrogate_cap(INFINITY, 1)), "the cap bends what is slow and keeps its order");
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
	batches();
	failures();
	nothing_works();
	censored();
	extremes();
	large();
	many();
	source_followed();
	sources();
	caps();
	return tap_done();
}
