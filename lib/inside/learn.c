/* SPDX-License-Identifier: BSD-3-Clause */
/* How a class of problems is learned. A candidate is always compared with the incumbent in calls of the same stretch of
 * time, in pairs of random order, by the medians of the logarithms of their costs: so neither drift, nor phases of the
 * program, nor a call that was interrupted decides. One candidate at a time in a process: a call inside another one's
 * trial, or beside it, is not what it would be alone. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/inside/learn_impl.h"

enum { PATIENCE = 64 }; /* choices until one that was not reported is given up */

static const double DRIFT = 0.15; /* of the incumbent's cost: what was learned may not hold */
static const double GUESS = 0.5;  /* what a call with an unknown candidate may lose, of the incumbent's cost */
static const double RELATIVE_MOST = 20;

static struct inside_learner *_Atomic trying; /* its candidate is in use */

/* A candidate against the incumbent. */
struct effect {
	double log, error;
};

/* Is a candidate better than the incumbent? By the medians of the logarithms of their costs, in calls of the same
 * stretch of time. */
static const double GAIN = 0.02; /* less is not worth a change */
static const double FAR = 0.4;   /* a single call that is so much worse is enough */
static const double NOISE = 0.01;

static double median_of(const double *values, size_t count) {
	double sorted[SAMPLES];
	for (size_t i = 0; i < count; i++) {
		size_t k = i;
		for (; k > 0 && sorted[k - 1] > values[i]; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = values[i];
	}
	return count == 0 ? NAN : count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double least_of(const double *values, size_t count) {
	return count > 1 ? fmin(values[count - 1], least_of(values, count - 1)) : values[0];
}

static double spread_of(const double *values, size_t count, double median) {
	double distance[SAMPLES];
	for (size_t i = 0; i < count; i++)
		distance[i] = fabs(values[i] - median);
	return fmax(NOISE, 1.4826 * median_of(distance, count));
}

static struct effect effect_of(const struct inside_learner *learner) {
	const struct trial *trial = &learner->trial;
	bool enough = trial->held >= 3;
	double here = median_of(trial->candidate, trial->tried);
	double there = enough ? median_of(trial->incumbent, trial->held) : learner->level;
	double noise = learner->noise, beside = noise;
	if (enough)
		beside = fmax(noise, spread_of(trial->incumbent, trial->held, there));
	if (trial->tried >= 4)
		noise = fmax(noise / 2, spread_of(trial->candidate, trial->tried, here));
	double error = noise * noise / trial->tried + beside * beside / (enough ? trial->held : RECENT_LEAST);
	return (struct effect){.log = here - there, .error = 1.2533 * sqrt(error)};
}

/* The first calls may only drop it, unless one of them says otherwise; what seems better is seen more often. */
static enum inside_outcome judge_try(const struct inside_learner *learner, struct effect effect) {
	const struct trial *trial = &learner->trial;
	if (trial->tried == 1)
		return effect.log > FAR ? INSIDE_WORSE : INSIDE_NOTHING;
	if (trial->tried == 2)
		return least_of(trial->candidate, 2) - learner->level > fmax(0.15, 2.5 * learner->noise) ? INSIDE_WORSE
		                                                                                         : INSIDE_NOTHING;
	bool worse = effect.log - 2 * effect.error > 0 || (trial->tried > 3 && effect.log > GAIN + effect.error);
	if (worse && (trial->tried > 4 || least_of(trial->candidate, trial->tried) > learner->level))
		return INSIDE_WORSE;
	if (trial->tried >= 5 && effect.log < -GAIN && effect.log + 3 * effect.error < 0)
		return INSIDE_BETTER;
	if (trial->tried >= 6 && effect.log - effect.error > -GAIN)
		return INSIDE_SAME;
	if (trial->tried < SAMPLES)
		return INSIDE_NOTHING;
	return effect.log + 2 * effect.error < -GAIN / 2 ? INSIDE_BETTER : INSIDE_SAME;
}

static enum inside_outcome judge_simpler(const struct inside_learner *learner, struct effect effect) {
	const struct trial *trial = &learner->trial;
	if (trial->tried < 6)
		return trial->tried >= 2 && effect.log > FAR ? INSIDE_WORSE : INSIDE_NOTHING;
	if (effect.log > GAIN / 2 && effect.log - 2 * effect.error > 0)
		return INSIDE_WORSE;
	bool last = trial->tried == SAMPLES;
	if (effect.log + (last ? 1 : 1.5) * effect.error < GAIN)
		return INSIDE_BETTER;
	return last ? INSIDE_WORSE : INSIDE_NOTHING;
}

static enum inside_outcome judge_compare(const struct inside_learner *learner, struct effect effect) {
	unsigned tried = learner->trial.tried;
	if (tried >= 4 && effect.log - 4 * effect.error > 0.1)
		return INSIDE_WORSE;
	if (tried >= 8 && effect.log < -GAIN && effect.log + 3 * effect.error < 0)
		return INSIDE_BETTER;
	return tried < SAMPLES ? INSIDE_NOTHING : INSIDE_SAME;
}

/* From the latest calls. */
static void level_find(struct inside_learner *learner) {
	size_t count = seen_of(learner->calls);
	learner->level = median_of(learner->recent, count);
	learner->noise = spread_of(learner->recent, count, learner->level);
	learner->cost = exp(learner->level);
}

/* NOTHING: more calls are needed. */
static enum inside_outcome judge(const struct inside_learner *learner, struct effect *effect) {
	static enum inside_outcome (*const judges[])(const struct inside_learner *, struct effect) = {
		[INSIDE_TRY] = judge_try, [INSIDE_SIMPLER] = judge_simpler, [INSIDE_COMPARE] = judge_compare};
	*effect = effect_of(learner);
	return judges[learner->trial.goal](learner, *effect);
}

static struct inside_learner *learner_make(struct inside_ring *ring, struct sweetspot_context *context,
                                           struct inside_cell *cell, const struct inside_config *known,
                                           const struct inside_past *past) {
	size_t free = 0;
	while (free < INSIDE_CELLS && context->learners[free])
		free++;
	struct inside_learner *learner = cell && free < INSIDE_CELLS ? calloc(1, sizeof *learner) : NULL;
	if (!learner)
		return NULL;
	learner->context = context;
	learner->ring = ring;
	learner->cell = cell;
	learner->incumbent = known;
	learner->settled = NAN;
	learner->random = (ring->seed ^ (atomic_fetch_add(&ring->learners, 1) + 1) * 2654435761u) | 1;
	uint64_t none = 0;
	if (known != &context->otherwise && fabs(past->relative) < RELATIVE_MOST)
		learner->relative = past->relative;
	if (past->default_cost > COST_LEAST && past->default_cost < COST_MOST)
		atomic_compare_exchange_strong(&cell->default_ns, &none, (uint64_t)(past->default_cost * 1e9));
	return context->learners[free] = learner;
}

static void default_tell(const struct inside_learner *learner, double log_cost) {
	atomic_store(&learner->cell->default_ns, (uint64_t)(1e9 * fmin(exp(log_cost), COST_MOST)));
}

static void relative_find(struct inside_learner *learner) {
	uint64_t ns = atomic_load_explicit(&learner->cell->default_ns, memory_order_relaxed);
	if (ns)
		learner->relative = learner->level - log(1e-9 * (double)ns);
}

/* The cost has moved, in two windows on end: the search begins again. As there may be phases, more is needed then. */
static void drift_look(struct inside_learner *learner) {
	double limit = fmax(DRIFT, 3 * learner->noise) * (1 + learner->drifts);
	if (isnan(learner->settled))
		learner->settled = learner->level;
	learner->drifting = fabs(learner->level - learner->settled) < limit ? 0 : learner->drifting + 1;
	if (learner->drifting < 2)
		return;
	learner->drifting = 0;
	learner->drifts += learner->drifts < 4;
	learner->settled = learner->level;
	atomic_fetch_add_explicit(&learner->cell->epoch, 1, memory_order_release);
}

static void incumbent_sample(struct inside_learner *learner, double log_cost) {
	struct trial *trial = &learner->trial;
	learner->recent[learner->calls++ % WINDOW] = log_cost;
	if (learner->calls <= WINDOW || learner->calls % WINDOW == 0 || trial->slot)
		level_find(learner);
	if (trial->slot && trial->held < SAMPLES && trial->held <= trial->tried)
		trial->incumbent[trial->held++] = log_cost;
	if (learner->calls % WINDOW)
		return;
	drift_look(learner);
	if (learner->context->needs_another && atomic_load(&learner->incumbent) != &learner->context->otherwise)
		relative_find(learner);
	else
		default_tell(learner, learner->level - learner->relative);
}

static void incumbent_set(struct inside_learner *learner, const struct inside_config *config, const double *seen,
                          size_t count, double settled) {
	atomic_store_explicit(&learner->incumbent, config, memory_order_release);
	learner->calls = 0;
	learner->settled = settled; /* unless the cost has moved meanwhile */
	learner->drifting = 0;
	for (size_t i = 0; i < count && i < WINDOW - 1; i++)
		learner->recent[learner->calls++] = seen[i];
	if (count)
		level_find(learner);
}

/* NULL: another thread has the context now, or there is no memory. */
static const struct inside_config *config_of(struct sweetspot_context *context, const struct inside_levels *levels) {
	if (pthread_mutex_trylock(&context->lock) != 0)
		return NULL;
	const struct inside_config *config = ssi_config_of(context, levels);
	pthread_mutex_unlock(&context->lock);
	return config;
}

static void trial_end(struct inside_learner *learner, enum inside_outcome outcome, struct effect effect) {
	struct trial *trial = &learner->trial;
	struct inside_slot *slot = trial->slot;
	bool is_default = trial->config == &learner->context->otherwise;
	slot->outcome = outcome;
	slot->calls = trial->tried;
	slot->pid = (uint32_t)getpid();
	slot->cost = trial->tried ? exp(median_of(trial->candidate, trial->tried)) : 0;
	slot->log = effect.log;
	slot->relative = learner->relative + effect.log;
	slot->error = effect.error;
	if (is_default && trial->tried >= RECENT_LEAST) /* it may have moved; what is certain, as it may be spent */
		learner->relative = fmin(0, 2 * effect.error - effect.log);
	if (outcome == INSIDE_BETTER) {
		incumbent_set(learner, trial->config, trial->candidate, trial->tried, learner->settled + effect.log);
		learner->relative = is_default ? 0 : learner->relative + fmin(0, effect.log + 2 * effect.error);
	}
	atomic_store_explicit(&slot->state, INSIDE_DONE, memory_order_release);
	*trial = (struct trial){0};
	learner->random = learner->random * 1664525 + 1013904223;
	learner->gap = (learner->random >> 16) % 3;
}

static void candidate_sample(struct inside_learner *learner, double log_cost) {
	struct trial *trial = &learner->trial;
	trial->candidate[trial->tried++] = log_cost;
	struct effect effect;
	enum inside_outcome outcome = judge(learner, &effect);
	if (outcome != INSIDE_NOTHING || trial->tried == SAMPLES)
		trial_end(learner, outcome, effect);
}

static void answer_take(struct inside_learner *learner) {
	struct trial *trial = &learner->trial;
	uint64_t bits = trial->out ? atomic_exchange_explicit(&learner->answer, 0, memory_order_acquire) : 0;
	double log_cost;
	if (!bits)
		return;
	trial->out = false;
	trial->waited = 0;
	memcpy(&log_cost, &bits, sizeof log_cost);
	account(learner, true, exp(log_cost));
	candidate_sample(learner, log_cost);
}

static void out_end(struct inside_learner *learner, struct inside_slot *slot) {
	struct inside_learner *expected = learner;
	atomic_fetch_sub(&slot->live, 1);
	atomic_compare_exchange_strong(&trying, &expected, NULL);
}

/* The choice with the candidate was never reported. */
static void give_up(struct inside_learner *learner) {
	if (atomic_exchange(&learner->out, 0))
		out_end(learner, learner->trial.slot);
	else if (!atomic_load(&learner->answer)) /* its report is on the way */
		return;
	atomic_store(&learner->answer, 0);
	trial_end(learner, INSIDE_NOTHING, (struct effect){.log = NAN, .error = NAN});
}

static bool can_afford(const struct inside_learner *learner, const struct inside_slot *slot) {
	const struct inside_ring *ring = learner->ring;
	const struct trial *trial = &learner->trial;
	double cost = learner->cost;
	double loss = trial->tried ? exp(median_of(trial->candidate, trial->tried)) - cost : GUESS * cost;
	double all = 1e-9 * (double)atomic_load(&ring->ns), spent = 1e-9 * (double)atomic_load(&ring->spent_ns);
	double saved = 1e-9 * (double)(int64_t)atomic_load(&ring->saved_ns);
	bool is_free = trial->tried > 0 && loss <= 0;
	if (is_free || (learner->context->needs_another && learner->relative > DRIFT))
		return true; /* of the latter, what holds is worse than the default, which is out of reach */
	double ahead = atomic_load(&ring->ahead_s), grown = ring->share * (ring->credit ? all + saved : all);
	double part = fmax(0, 1 - slot->keeps), may = part * (ahead < 0 ? grown + ahead : fmax(grown, ahead));
	return may + (ring->credit ? saved : -spent) >= fmax(0, loss);
}

/* The find of another process. */
static void advice_take(struct inside_learner *learner) {
	struct inside_cell *cell = learner->cell;
	uint32_t advice = atomic_load_explicit(&cell->advice, memory_order_acquire);
	if (advice == learner->advice || advice % 2)
		return;
	struct inside_levels levels = cell->advised;
	double relative = cell->advised_relative;
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&cell->advice, memory_order_relaxed) != advice || !ssi_allows(learner->context, &levels))
		return;
	const struct inside_config *config = config_of(learner->context, &levels);
	if (!config)
		return;
	learner->advice = advice;
	if (config == atomic_load_explicit(&learner->incumbent, memory_order_relaxed) || !(relative < learner->relative))
		return;
	incumbent_set(learner, config, NULL, 0, NAN);
	learner->relative = fmax(relative, -RELATIVE_MOST);
}

/* A proposal that is not allowed, or already holds, is answered at once. */
static bool slot_use(struct inside_learner *learner, struct inside_slot *slot) {
	struct trial *trial = &learner->trial;
	bool allowed = ssi_allows(learner->context, &slot->levels) && slot->goal <= INSIDE_COMPARE;
	const struct inside_config *config = allowed ? config_of(learner->context, &slot->levels) : NULL;
	if (allowed && !config) { /* another thread has the context now */
		atomic_store_explicit(&slot->state, INSIDE_READY, memory_order_release);
		return false;
	}
	*trial = (struct trial){.slot = slot, .config = config, .goal = slot->goal};
	bool holds = config == atomic_load_explicit(&learner->incumbent, memory_order_relaxed);
	if (allowed && !holds && !(learner->context->needs_another && config == &learner->context->otherwise))
		return true;
	trial_end(learner, holds ? INSIDE_SAME : INSIDE_NOTHING,
	          (struct effect){.log = holds ? 0 : NAN, .error = learner->noise});
	return false;
}

static bool trial_start(struct inside_learner *learner) {
	if (learner->calls < RECENT_LEAST || learner->gap > 0) {
		learner->gap -= learner->gap > 0;
		return false;
	}
	if (learner->context->needs_another) /* the first trials need it, too */
		relative_find(learner);
	for (size_t i = 0; i < INSIDE_SLOTS; i++) {
		struct inside_slot *slot = &learner->cell->slots[i];
		uint32_t expected = INSIDE_READY;
		if (atomic_load_explicit(&slot->state, memory_order_relaxed) == INSIDE_READY && can_afford(learner, slot) &&
		    atomic_compare_exchange_strong(&slot->state, &expected, INSIDE_TAKEN))
			return slot_use(learner, slot);
	}
	return false;
}

/* Whether the next call has the candidate: whichever of the two has had fewer calls, and at random where none has. */
static bool is_turn(struct inside_learner *learner) {
	const struct trial *trial = &learner->trial;
	if (trial->tried != trial->held)
		return trial->tried < trial->held;
	learner->random = learner->random * 1664525 + 1013904223;
	return trial->tried == 0 || learner->random >> 31;
}

/* True: this call tries the candidate. */
static bool turn(struct inside_learner *learner) {
	struct trial *trial = &learner->trial;
	struct inside_learner *none = NULL;
	if (trial->out) {
		if (++trial->waited > PATIENCE)
			give_up(learner);
		return false;
	}
	if (!trial->slot)
		advice_take(learner);
	if (!learner->ring->learns || (!trial->slot && !trial_start(learner)) || !is_turn(learner) ||
	    !can_afford(learner, trial->slot) || !atomic_compare_exchange_strong(&trying, &none, learner))
		return false;
	trial->out = true;
	trial->waited = 0;
	atomic_fetch_add(&trial->slot->live, 1);
	return true;
}

static void learner_choose(struct inside_learner *learner, struct sweetspot_choice *choice) {
	const struct inside_learner *other = atomic_load_explicit(&trying, memory_order_relaxed);
	enum role role = other && other != learner ? ROLE_BESIDE : ROLE_INCUMBENT;
	choice->config = atomic_load_explicit(&learner->incumbent, memory_order_acquire);
	choice->ticket = role;
	if (role == ROLE_INCUMBENT && busy_take(&learner->busy)) {
		answer_take(learner);
		bool tries = turn(learner);
		choice->config =
			tries ? learner->trial.config : atomic_load_explicit(&learner->incumbent, memory_order_relaxed);
		if (tries) {
			choice->ticket = ++learner->tickets * ROLES + ROLE_CANDIDATE;
			choice->reserved[0] = learner->trial.slot;
			atomic_store_explicit(&learner->out, choice->ticket, memory_order_release);
		}
		busy_leave(&learner->busy);
	}
	choice->start = now_ns();
}

static void learner_observe(struct inside_learner *learner, struct sweetspot_choice *choice) {
	bool holds = atomic_load_explicit(&learner->incumbent, memory_order_relaxed) == choice->config;
	choice->ticket = holds ? ROLE_INCUMBENT : ROLE_DEFAULT;
	choice->start = now_ns();
}

static void default_sample(struct inside_learner *learner, double log_cost) {
	learner->observed[learner->observed_calls++ % WINDOW] = log_cost;
	if (learner->observed_calls >= RECENT_LEAST)
		default_tell(learner, median_of(learner->observed, seen_of(learner->observed_calls)));
}

/* Another thread may have the learner: it then takes the answer. */
static void candidate_report(struct inside_learner *learner, const struct sweetspot_choice *choice, double log_cost) {
	uint64_t expected = choice->ticket, bits;
	if (!atomic_compare_exchange_strong(&learner->out, &expected, 0))
		return; /* it was given up, or this is a forked child */
	out_end(learner, choice->reserved[0]);
	memcpy(&bits, &log_cost, sizeof bits);
	atomic_store_explicit(&learner->answer, bits ? bits : 1, memory_order_release);
}

static void learner_report(struct inside_learner *learner, struct sweetspot_choice *choice, double cost) {
	enum role role = choice->ticket % ROLES;
	if (isnan(cost))
		cost = 1e-9 * (double)(now_ns() - choice->start);
	bool counts = call_count(learner, cost);
	double log_cost = counts ? log(cost) : log(COST_MOST);
	if (role == ROLE_CANDIDATE)
		candidate_report(learner, choice, log_cost);
	choice->ticket = 0;
	if (!busy_take(&learner->busy))
		return;
	answer_take(learner);
	if (counts && role != ROLE_CANDIDATE)
		account(learner, false, cost);
	if (counts && role == ROLE_DEFAULT)
		default_sample(learner, log_cost);
	else if (counts && role == ROLE_INCUMBENT &&
	         choice->config == atomic_load_explicit(&learner->incumbent, memory_order_relaxed))
		incumbent_sample(learner, log_cost);
	busy_leave(&learner->busy);
}

static void learner_forked(struct inside_learner *learner) {
	atomic_store(&trying, NULL);
	atomic_store(&learner->busy, 0);
	atomic_store(&learner->out, 0);
	atomic_store(&learner->answer, 0);
	learner->trial = (struct trial){0};
	learner->tickets += 1u << 20;
	learner->calls = 0;
	learner->settled = NAN;
	learner->random ^= (atomic_fetch_add(&learner->ring->learners, 1) + 1) * 2654435761u | 1;
}

const struct inside_learning ssi_alone = {learner_make, learner_observe, learner_choose, learner_report,
                                          learner_forked};
