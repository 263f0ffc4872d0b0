/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/search/search.h"

#include <math.h>

#include "base/stats.h"

enum { REJECTIONS_MAX = 64, ASK_AGAIN_MAX = 16, FIRST_SLOTS = 256, BUILDS_MIN = 5, BUILDS_MAX = 256 };
static const double PATIENCE = 10; /* times the median build */

enum slot_state { SLOT_EMPTY, SLOT_WITHDRAWN, SLOT_ASKED, SLOT_TOLD };

struct slot {
	uint64_t index;
	enum slot_state state;
	struct strategy_outcome outcome;
};

/* A hash table with open addressing, never more than half full. */
struct history {
	struct slot *slots;
	size_t room, used, taken, told; /* used: slots that are not empty; taken: those asked for or told */
	uint64_t best;
	size_t best_told; /* how many were told when the best was */
};

struct search {
	const struct strategy *strategy;
	void *state;
	const struct space *space;
	struct history history;
	struct arena *arena;
	struct rng rng;
	size_t counter_count;
	double builds[BUILDS_MAX]; /* seconds of the latest builds, a ring */
	size_t build_count;
};

/* Fibonacci hashing (Knuth, The art of computer programming 3, section 6.4): neighbouring indexes, which local search
 * asks for, go to slots far apart. */
static size_t slot_at(const struct history *history, uint64_t index) {
	size_t mask = history->room - 1;
	size_t at = (size_t)((index * 0x9E3779B97F4A7C15ull) >> 20) & mask;
	while (history->slots[at].state != SLOT_EMPTY && history->slots[at].index != index)
		at = (at + 1) & mask;
	return at;
}

static void history_grow(struct history *history) {
	struct history larger = *history;
	larger.room = history->room ? 2 * history->room : FIRST_SLOTS;
	larger.slots = mem_alloc(larger.room, sizeof *larger.slots);
	for (size_t i = 0; i < history->room; i++)
		if (history->slots[i].state != SLOT_EMPTY)
			larger.slots[slot_at(&larger, history->slots[i].index)] = history->slots[i];
	free(history->slots);
	*history = larger;
}

static struct slot *slot_make(struct history *history, uint64_t index) {
	if (2 * (history->used + 1) > history->room)
		history_grow(history);
	struct slot *slot = &history->slots[slot_at(history, index)];
	history->used += slot->state == SLOT_EMPTY;
	if (slot->state < SLOT_ASKED) {
		slot->index = index;
		slot->state = SLOT_ASKED;
		history->taken++;
	}
	return slot;
}

static const struct slot *slot_find(const struct history *history, uint64_t index) {
	return history->room ? &history->slots[slot_at(history, index)] : NULL;
}

const struct strategy_outcome *history_find(const struct history *history, uint64_t index) {
	const struct slot *slot = slot_find(history, index);
	return slot && slot->state == SLOT_TOLD ? &slot->outcome : NULL;
}

bool history_taken(const struct history *history, uint64_t index) {
	const struct slot *slot = slot_find(history, index);
	return slot && slot->state >= SLOT_ASKED;
}

uint64_t history_count(const struct history *history) {
	return history->told;
}

uint64_t history_best(const struct history *history) {
	return history->best;
}

void history_each(const struct history *history,
                  void (*tell)(void *ctx, uint64_t index, const struct strategy_outcome *outcome), void *ctx) {
	for (size_t i = 0; i < history->room; i++)
		if (history->slots[i].state == SLOT_TOLD)
			tell(ctx, history->slots[i].index, &history->slots[i].outcome);
}

bool *history_values(const struct history *history, const struct space *space, size_t *stride) {
	int config[SPACE_PARAMS_MAX];
	*stride = 0;
	for (size_t p = 0; p < space_params(space); p++)
		*stride = space_param_values(space, p) > *stride ? space_param_values(space, p) : *stride;
	bool *marks = mem_alloc(space_params(space) * *stride + 1, sizeof *marks);
	for (size_t i = 0; i < history->room; i++) {
		if (history->slots[i].state < SLOT_ASKED)
			continue;
		space_config(space, history->slots[i].index, config);
		for (size_t p = 0; p < space_params(space); p++)
			if (config[p] != SPACE_ABSENT)
				marks[p * *stride + (size_t)config[p]] = true;
	}
	return marks;
}

bool history_covers(const struct history *history, const struct space *space) {
	size_t stride, left = 0;
	mem_auto bool *marks = history_values(history, space, &stride);
	for (size_t p = 0; p < space_params(space); p++)
		for (size_t i = 0; i < space_param_values(space, p); i++)
			left += !marks[p * stride + i];
	return left == 0;
}

uint64_t history_unseen(const struct history *history, const struct space *space, struct rng *rng) {
	uint64_t valid = space_valid(space);
	if (history->taken >= valid)
		return UINT64_MAX;
	for (int i = 0; i < REJECTIONS_MAX; i++) {
		uint64_t index = space_sample(space, rng);
		if (!history_taken(history, index))
			return index;
	}
	uint64_t index = rng_below(rng, valid); /* most indexes are taken, so that the walk is no longer than the history */
	while (history_taken(history, index))
		index = (index + 1) % valid;
	return index;
}

struct search *search_new(const struct strategy *strategy, const struct strategy_task *task, struct err *err) {
	struct search *search = mem_alloc(1, sizeof *search);
	search->strategy = strategy;
	search->space = task->space;
	search->counter_count = task->counter_count;
	search->history.best = UINT64_MAX;
	search->arena = arena_new();
	search->state = arena_alloc(search->arena, 1, strategy->state_size);
	rng_split(&search->rng, task->seed, "search fallback");
	history_grow(&search->history);
	struct strategy_task own = *task;
	own.history = &search->history;
	own.arena = search->arena;
	own.strategy = strategy;
	if (strategy->init(search->state, &own, err)) {
		search_free(search);
		return NULL;
	}
	return search;
}

void search_free(struct search *search) {
	if (!search)
		return;
	arena_free(search->arena);
	free(search->history.slots);
	free(search);
}

/* Leaves out proposals that are taken or invalid, because a strategy is a plug-in and may be wrong. */
static size_t propose(struct search *search, uint64_t *out, size_t want) {
	size_t asked = search->strategy->ask(search->state, out, want), kept = 0;
	for (size_t i = 0; i < asked && i < want; i++) {
		if (out[i] >= space_valid(search->space) || history_taken(&search->history, out[i]))
			continue;
		slot_make(&search->history, out[i]);
		out[kept++] = out[i];
	}
	return kept;
}

size_t search_ask(struct search *search, uint64_t *out, size_t want) {
	size_t count = 0;
	if (want == 0)
		return 0;
	for (int again = 0; count < want && again < ASK_AGAIN_MAX; again++) {
		size_t more = propose(search, out + count, want - count);
		count += more;
		if (more)
			again = 0;
		else if (count)
			return count; /* the strategy waits for results */
	}
	if (count == 0) {
		uint64_t index = history_unseen(&search->history, search->space, &search->rng);
		if (index == UINT64_MAX)
			return 0;
		slot_make(&search->history, index);
		out[count++] = index;
	}
	return count;
}

static struct strategy_outcome outcome_checked(struct search *search, const struct strategy_outcome *told) {
	struct strategy_outcome outcome = *told;
	if (outcome.result != STRATEGY_FAILURE && !(outcome.value > 0 && isfinite(outcome.value)))
		outcome.result = STRATEGY_FAILURE;
	if (outcome.result == STRATEGY_FAILURE)
		outcome.value = 0;
	if (!(outcome.deviation >= 0 && isfinite(outcome.deviation)))
		outcome.deviation = 0;
	if (!(outcome.second > 0 && isfinite(outcome.second)))
		outcome.second = 0;
	if (!(outcome.seconds >= 0 && isfinite(outcome.seconds)))
		outcome.seconds = 0;
	if (!(outcome.build >= 0 && isfinite(outcome.build)))
		outcome.build = 0;
	outcome.given_up = outcome.given_up && outcome.result == STRATEGY_FAILURE && outcome.build > 0;
	outcome.counters = NULL;
	if (told->counters && search->counter_count) {
		double *kept = arena_alloc(search->arena, search->counter_count, sizeof *kept);
		memcpy(kept, told->counters, search->counter_count * sizeof *kept);
		outcome.counters = kept;
	}
	return outcome;
}

void search_tell(struct search *search, uint64_t index, const struct strategy_outcome *told) {
	struct history *history = &search->history;
	if (index >= space_valid(search->space) || history_find(history, index))
		return;
	const struct strategy_outcome outcome = outcome_checked(search, told);
	struct slot *slot = slot_make(history, index);
	slot->state = SLOT_TOLD;
	slot->outcome = outcome;
	history->told++;
	if (outcome.build > 0)
		search->builds[search->build_count++ % BUILDS_MAX] = outcome.build;
	const struct strategy_outcome *best = history->best == UINT64_MAX ? NULL : history_find(history, history->best);
	if (outcome.result == STRATEGY_VALUE && (!best || outcome.value < best->value)) {
		history->best = index;
		history->best_told = history->told;
	}
	search->strategy->tell(search->state, index, &outcome);
}

void search_tell_value(struct search *search, uint64_t index, enum strategy_result result, double value) {
	search_tell(search, index, &(struct strategy_outcome){.result = result, .value = value});
}

static int by_index(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static bool same_set(const uint64_t *a, const uint64_t *b, size_t count) {
	uint64_t *x = mem_alloc(2 * count, sizeof *x), *y = x + count;
	memcpy(x, a, count * sizeof *x);
	memcpy(y, b, count * sizeof *y);
	qsort(x, count, sizeof *x, by_index);
	qsort(y, count, sizeof *y, by_index);
	bool same = memcmp(x, y, count * sizeof *x) == 0;
	free(x);
	return same;
}

/* A strategy that returns anything but another order is ignored, because it is a plug-in and may be wrong. */
size_t search_rank(struct search *search, uint64_t *pending, size_t count) {
	if (!search->strategy->rank || count == 0)
		return count;
	mem_auto uint64_t *ranked = mem_alloc(count, sizeof *ranked);
	memcpy(ranked, pending, count * sizeof *ranked);
	size_t worth = search->strategy->rank(search->state, ranked, count);
	if (worth <= count && same_set(ranked, pending, count))
		memcpy(pending, ranked, count * sizeof *ranked);
	else
		worth = count;
	return worth;
}

void search_withdraw(struct search *search, uint64_t index) {
	struct history *history = &search->history;
	struct slot *slot = history->room ? &history->slots[slot_at(history, index)] : NULL;
	if (!slot || slot->state != SLOT_ASKED)
		return;
	slot->state = SLOT_WITHDRAWN;
	history->taken--;
	if (search->strategy->withdraw)
		search->strategy->withdraw(search->state, index);
}

double search_patience(const struct search *search) {
	size_t count = search->build_count < BUILDS_MAX ? search->build_count : BUILDS_MAX;
	return count < BUILDS_MIN ? INFINITY : PATIENCE * stats_median(search->builds, count);
}

double search_promise(const struct search *search, uint64_t left) {
	return search->strategy->promise ? search->strategy->promise(search->state, left) : NAN;
}

/* A model that knows few results of many parameters is too sure of what is near the best, and where a better one was
 * found late, one more may come as late. Judged by 20 recorded spaces with 300 evaluations left, 16 searches each:
 * where the model alone decides, ten evaluations after the best, what is missed is 8 % on average, and above 1 % in 24
 * of 100 stops; with these numbers it is 1.1 %, and 6 of 100, after 140 evaluations instead of 87. */
enum { STANDS_LEAST = 10, STANDS_EACH_PARAM = 4 };
static const double TOO_SURE = 10;

bool search_hopeless(const struct search *search, double gain, uint64_t left) {
	size_t since = gain > 0 ? search->history.told - search->history.best_told : 0, least = 0;
	for (size_t p = 0; since && p < space_params(search->space); p++)
		least += space_param_values(search->space, p) > 1 ? STANDS_EACH_PARAM : 0;
	if (since < STANDS_LEAST || since < least || since < search->history.best_told ||
	    search->history.best == UINT64_MAX)
		return false;
	return TOO_SURE * search_promise(search, left) < gain; /* NAN: unknown */
}

int search_fault(const struct search *search, struct err *err) {
	const char *fault = search->strategy->fault ? search->strategy->fault(search->state) : NULL;
	return fault ? err_set(err, ERR_FAILED, NULL, "the strategy %.200s: %s", search->strategy->name, fault) : 0;
}

const struct history *search_history(const struct search *search) {
	return &search->history;
}

const char *search_phase(const struct search *search) {
	return search->strategy->phase ? search->strategy->phase(search->state) : NULL;
}

enum { FIRST_ROOM = 64, FREEDOM_MIN = 3 };
/* A lead of this many deviations is clear. */
static const double CLEAR = 2;
/* A value that is so many deviations faster than the others of its configuration is not one of them; noise that is so
 * many times the usual one comes from such values. */
static const double FAR = 3, UNEVEN = 1.2;
static const double EXPECTED = 0.25;

struct entry {
	uint64_t index;
	double mean, squares; /* of the logarithms, of the deviations from it */
	double least;
	size_t times;
	double lone, doubt; /* strategy.expects: mean and variance; doubt 0: nothing */
	double variance;    /* once judged */
};

struct leaders {
	struct entry *entries;
	size_t count, room;
	size_t freedom; /* the repeats */
};

struct leaders *leaders_new(void) {
	return mem_alloc(1, sizeof(struct leaders));
}

void leaders_free(struct leaders *leaders) {
	if (leaders)
		free(leaders->entries);
	free(leaders);
}

static struct entry *entry_of(struct leaders *leaders, uint64_t index) {
	for (size_t i = 0; i < leaders->count; i++)
		if (leaders->entries[i].index == index)
			return &leaders->entries[i];
	leaders->entries = mem_room(leaders->entries, leaders->count, &leaders->room, sizeof *leaders->entries);
	leaders->entries[leaders->count] = (struct entry){.index = index};
	return &leaders->entries[leaders->count++];
}

/* Welford, Note on a method for calculating corrected sums of squares and products, 1962. */
void leaders_note(struct leaders *leaders, uint64_t index, double value) {
	struct entry *entry = entry_of(leaders, index);
	double log_value = log(value), away = log_value - entry->mean;
	entry->least = entry->times ? fmin(entry->least, log_value) : log_value;
	leaders->freedom += entry->times > 0;
	entry->mean += away / (double)++entry->times;
	if (entry->times > 1)
		entry->squares += away * (log_value - entry->mean);
}

/* The median deviation over the configurations that were repeated: each sum of squares is divided by the median that it
 * would have (Wilson, Hilferty, The distribution of chi-square, 1931). */
static double typical_noise(const struct leaders *leaders, double *noises) {
	size_t count = 0;
	for (size_t i = 0; i < leaders->count; i++) {
		double freedom = (double)leaders->entries[i].times - 1;
		if (freedom > 0)
			noises[count++] = sqrt(leaders->entries[i].squares / (freedom * pow(1 - 2 / (9 * freedom), 3)));
	}
	return count >= FREEDOM_MIN ? stats_median(noises, count) : NAN;
}

/* Where some values are far from all others, most configurations have less noise than all together. */
double leaders_noise(const struct leaders *leaders) {
	double squares = 0;
	if (!leaders->freedom)
		return NAN;
	for (size_t i = 0; i < leaders->count; i++)
		squares += leaders->entries[i].squares;
	mem_auto double *noises = mem_alloc(leaders->count, sizeof *noises);
	double all = sqrt(squares / (double)leaders->freedom), typical = typical_noise(leaders, noises);
	return typical * UNEVEN < all ? typical : all;
}

void leaders_inform(struct leaders *leaders, struct search *search) {
	for (size_t i = 0; search->strategy->expects && i < leaders->count; i++) {
		struct entry *entry = &leaders->entries[i];
		if (!search->strategy->expects(search->state, entry->index, &entry->lone, &entry->doubt))
			entry->doubt = 0;
	}
}

/* The mean of a configuration, without its least value if that is too fast beside the others to be one of them. */
static struct entry without_outlier(const struct entry *entry, double noise, const struct leaders *leaders) {
	struct entry whole = *entry, rest = *entry;
	if (leaders->freedom < FREEDOM_MIN || entry->times < 2)
		return whole;
	rest.times--;
	rest.mean = entry->mean + (entry->mean - entry->least) / (double)rest.times;
	return rest.mean - rest.least > FAR * noise * sqrt(1 + 1 / (double)rest.times) ? rest : whole;
}

static size_t least(const struct entry *judged, size_t count) {
	size_t best = 0;
	for (size_t i = 1; i < count; i++)
		if (judged[i].mean < judged[best].mean)
			best = i;
	return best;
}

/* By how many deviations the other is behind. */
static double behind(const struct entry *best, const struct entry *other) {
	return (other->mean - best->mean) / sqrt(best->variance + other->variance);
}

static size_t challenger_of(const struct entry *judged, size_t count, size_t best) {
	size_t challenger = best ? 0 : 1;
	for (size_t i = 0; i < count; i++)
		if (i != best && behind(&judged[best], &judged[i]) < behind(&judged[best], &judged[challenger]))
			challenger = i;
	return challenger;
}

/* A measurement is weighed against what all other results say of it (shrinkage: Efron, Morris, Stein's estimation
 * rule and its competitors, 1973), which errs by at least EXPECTED of the variance of a measurement. */
static struct entry judged(const struct entry *entry, double noise, const struct leaders *leaders) {
	struct entry found = without_outlier(entry, noise, leaders);
	double squared = noise * noise, own = squared / (double)found.times;
	found.variance = 1 / (double)found.times;
	if (leaders->freedom < FREEDOM_MIN || !(noise > 0))
		return found;
	double other = fmax(entry->doubt - squared, EXPECTED * squared),
		   weight = entry->doubt > 0 ? other / (other + own) : 1;
	found.mean = weight * found.mean + (1 - weight) * entry->lone;
	found.variance = weight * own;
	return found;
}

/* The caller frees it. */
static struct entry *judge(const struct leaders *leaders, double noise) {
	struct entry *all = mem_alloc(leaders->count + 1, sizeof *all);
	for (size_t i = 0; i < leaders->count; i++)
		all[i] = judged(&leaders->entries[i], noise, leaders);
	return all;
}

bool leaders_again(const struct leaders *leaders, uint64_t *index) {
	if (leaders->count < 2)
		return false;
	double noise = leaders_noise(leaders), clear = noise > 0 ? CLEAR : 0;
	mem_auto struct entry *all = judge(leaders, noise);
	size_t best = least(all, leaders->count), challenger = challenger_of(all, leaders->count, best);
	if (leaders->freedom >= FREEDOM_MIN && behind(&all[best], &all[challenger]) > clear)
		return false;
	*index = all[all[best].variance >= all[challenger].variance ? best : challenger].index;
	return true;
}

struct leader leaders_best(const struct leaders *leaders) {
	double noise = leaders->freedom ? leaders_noise(leaders) : 0, lowest = INFINITY;
	mem_auto struct entry *all = judge(leaders, noise);
	bool known = leaders->freedom >= FREEDOM_MIN && noise > 0;
	size_t best = SIZE_MAX;
	for (size_t i = 0; i < leaders->count; i++) {
		double upper = all[i].mean + sqrt(all[i].variance) * (known ? 1 : noise);
		if (best != SIZE_MAX && !(upper < lowest))
			continue;
		best = i;
		lowest = upper;
	}
	if (best == SIZE_MAX)
		return (struct leader){UINT64_MAX, NAN, 0};
	const struct entry *entry = &leaders->entries[best];
	return (struct leader){entry->index, exp(without_outlier(entry, noise, leaders).mean), entry->times};
}
