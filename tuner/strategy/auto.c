/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The default strategy. It starts with what is known before anything is measured: the baseline, the best of earlier
 * searches, and hints of the machine; then it tries other words around the best (surrogate.h), or the middle of the
 * space. From there the surrogate proposes. If the surrogate has not improved the best for long, or has more results
 * than it can hold, every other proposal, and later most of them, come from iterated local search, which does not
 * depend on a model. Both learn from the results of the other.
 *
 * With earlier searches, all of this is done twice: by a search that uses them, and beside it by one that does not
 * (strategy_impl.h), because they may mislead.
 *
 * A proposal of the model takes milliseconds. If many configurations are being measured at a time, as with
 * hundreds of nodes, only a share of the proposals comes from the model, the smaller the more there are, so that nodes
 * do not wait for it. */
#include <math.h>

#include "tuner/search/search.h"
#include "tuner/strategy/strategy_impl.h"
#include "tuner/surrogate/surrogate.h"

/* The informed search begins with FIRST evaluations. An improvement of the best by COLD_PROGRESS or more earns it
 * REWARD more, a smaller one a part of them; it never has more than SAVED_MAX to spend. Of the others, every
 * COLD_SHARE-th is its own.
 */
enum { FIRST = 7, REWARD = 8, SAVED_MAX = 16, COLD_SHARE = 128, AWAITED_MAX = 256, KNOWN_MAX = 4096 };
static const double COLD_PROGRESS = 0.01;

struct cold {
	const struct history *history; /* of both */
	struct search *search;
	uint64_t awaited[AWAITED_MAX]; /* what the informed search asked for */
	size_t awaited_count, asked;
	double turns, best;
	bool begun; /* the informed search has a value */
};

static void release(void *search) {
	search_free(search);
}

struct cold *cold_new(const struct strategy *strategy, const struct strategy_task *task, struct err *err) {
	struct cold *cold = arena_alloc(task->arena, 1, sizeof *cold);
	struct strategy_task own = *task;
	own.sources = NULL;
	own.source_count = 0;
	*cold = (struct cold){.history = task->history, .turns = FIRST, .best = INFINITY};
	cold->search = search_new(strategy, &own, err);
	if (!cold->search)
		return NULL;
	arena_defer(task->arena, release, cold->search);
	return cold;
}

uint64_t cold_ask(struct cold *cold) {
	uint64_t index;
	if (cold->turns >= 1 || ++cold->asked % COLD_SHARE == 0)
		return UINT64_MAX;
	for (int i = 0; i < KNOWN_MAX && search_ask(cold->search, &index, 1); i++) {
		const struct strategy_outcome *outcome = history_find(cold->history, index);
		if (!outcome)
			return history_taken(cold->history, index) ? UINT64_MAX : index;
		search_tell(cold->search, index, outcome);
	}
	return UINT64_MAX;
}

void cold_await(struct cold *cold, uint64_t index) {
	cold->turns = fmax(0, cold->turns - 1);
	cold->awaited[cold->awaited_count % AWAITED_MAX] = index;
	cold->awaited_count++;
}

static bool is_awaited(const struct cold *cold, uint64_t index) {
	for (size_t i = 0; i < cold->awaited_count && i < AWAITED_MAX; i++)
		if (cold->awaited[i] == index)
			return true;
	return false;
}

/* The first value is not the search's own merit: the best of earlier results nearly always beats a baseline. */
static void reward(struct cold *cold, double gain) {
	cold->turns = fmin(SAVED_MAX, cold->turns + REWARD * fmin(1, gain / COLD_PROGRESS));
}

void cold_report(struct cold *cold, uint64_t index, const struct strategy_outcome *outcome, bool sources) {
	bool informed = is_awaited(cold, index);
	/* The cold search may have asked for a configuration that was already on its way. */
	if (!informed || history_taken(search_history(cold->search), index))
		search_tell(cold->search, index, outcome);
	if (outcome->result != STRATEGY_VALUE)
		return;
	if (informed && sources && cold->begun && outcome->value < cold->best)
		reward(cold, 1 - outcome->value / cold->best);
	cold->begun |= informed;
	cold->best = fmin(cold->best, outcome->value);
}
static const char *cold_phase(const struct cold *cold) {
	return search_phase(cold->search);
}

enum { BEGIN = 3, HINTS = 2, FEW = 16, VAIN = 40, MANY = 800, SHARE = 2, SHARE_MANY = 8, CROWD = 24, FIRST_MAX = 64 };
/* A smaller relative gain does not count as progress, because noise alone would make it. */
static const double PROGRESS = 0.002;

/* Values within this factor of each other are alike: a model of them knows nothing. */
static const double ALIKE = 1.1;

enum phase { PHASE_BEGIN, PHASE_MODEL, PHASE_BOTH };

struct automatic {
	struct strategy_task task;
	struct opening *opening;
	struct surrogate *surrogate;
	struct cold *cold; /* NULL without earlier searches */
	const struct strategy *local;
	void *local_state;
	enum phase phase;
	uint64_t asked, told, vain; /* vain: results since the best improved */
	size_t hint, fits;
	uint64_t best_index;
	double best, worst;   /* worst: INFINITY once a trial was cut short */
	bool covers, covered; /* the first values were all alike; and then each value was tried */
	bool start_asked, source_asked, waited, cold_turn;
	char text[280];
};

extern const struct strategy strategy_auto;

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct automatic *automatic = state;
	automatic->best = INFINITY;
	automatic->best_index = UINT64_MAX;
	automatic->surrogate = surrogate_new(task, true);
	automatic->task = *task;
	automatic->task.source_count = surrogate_sources(automatic->surrogate);
	task = &automatic->task;
	struct strategy_task alone = *task;
	if (task->source_count)
		alone.lengths = surrogate_lengths(automatic->surrogate, &alone.length_count);
	if (task->source_count && !(automatic->cold = cold_new(&strategy_auto, &alone, err)))
		return -1;
	automatic->opening = opening_new(task);
	automatic->local = strategy_find("ils");
	automatic->local_state = arena_alloc(task->arena, 1, automatic->local->state_size);
	snprintf(automatic->text, sizeof automatic->text,
	         "start: %llu configurations, hints of the machine: %zu, earlier searches: %zu",
	         (unsigned long long)space_valid(task->space), task->hint_count, task->source_count);
	struct strategy_task informed = *task;
	informed.doubts = surrogate_doubts;
	informed.model = automatic->surrogate;
	return automatic->local->init(automatic->local_state, &informed, err);
}

static bool is_free(const struct automatic *automatic, uint64_t index) {
	return index < space_valid(automatic->task.space) && !history_taken(automatic->task.history, index);
}

static void opening_enter(struct automatic *automatic) {
	char said[200] = "";
	opening_describe(automatic->opening, said, sizeof said);
	snprintf(automatic->text, sizeof automatic->text, "opening: %s", said);
}

/* With few evaluations the hints are most of what can be tried. They come in an order, such as smaller and smaller
 * teams, so that the next one is worth a try as long as the last one was the best so far. */
static bool hint_wanted(const struct automatic *automatic) {
	const struct strategy_task *task = &automatic->task;
	size_t most = (size_t)(task->budget * 3 / 4), at = automatic->hint;
	bool few = task->budget && task->budget < FEW;
	return at < (few && most > HINTS ? most : HINTS) || (few && automatic->best_index == task->hints[at - 1]);
}

/* The baseline, the best of earlier searches, hints, then the opening. */
static uint64_t known_first(struct automatic *automatic) {
	const struct strategy_task *task = &automatic->task;
	if (!automatic->start_asked) {
		automatic->start_asked = true;
		if (is_free(automatic, task->start))
			return task->start;
	}
	if (task->source_count && !automatic->source_asked) {
		automatic->source_asked = true;
		uint64_t index = surrogate_first(automatic->surrogate);
		cold_await(automatic->cold, index);
		return index;
	}
	uint64_t code = opening_ask(automatic->opening, true);
	if (code != UINT64_MAX) {
		opening_enter(automatic);
		return code;
	}
	while (automatic->hint < task->hint_count && hint_wanted(automatic)) {
		uint64_t index = task->hints[automatic->hint++];
		if (is_free(automatic, index))
			return index;
	}
	uint64_t index = opening_ask(automatic->opening, false);
	if (index != UINT64_MAX)
		opening_enter(automatic);
	return index;
}

/* Are there too few results for the model? With sources it knows more than points far apart would tell. A batch is
 * asked for before the first result. */
static bool is_beginning(const struct automatic *automatic) {
	bool few = automatic->asked < BEGIN || automatic->told < BEGIN;
	return (few && automatic->task.source_count == 0) || !surrogate_ready(automatic->surrogate);
}

static void phase_enter(struct automatic *automatic, enum phase phase) {
	static const char *const words[] = {"start", "model", "model and local search"};
	char said[200];
	size_t fits = surrogate_fits(automatic->surrogate);
	if (phase == automatic->phase && fits == automatic->fits)
		return;
	automatic->phase = phase;
	automatic->fits = fits;
	surrogate_describe(automatic->surrogate, said, sizeof said);
	if (phase == PHASE_BOTH)
		snprintf(automatic->text, sizeof automatic->text, "%s: no improvement in %llu evaluations; %s", words[phase],
		         (unsigned long long)automatic->vain, said);
	else
		snprintf(automatic->text, sizeof automatic->text, "%s: %llu measured, %s", words[phase],
		         (unsigned long long)automatic->told, said);
}

static uint64_t on_their_way(const struct automatic *automatic) {
	return automatic->asked > automatic->told ? automatic->asked - automatic->told : 0;
}

static bool local_turn(const struct automatic *automatic) {
	uint64_t crowd = on_their_way(automatic) / CROWD;
	if (crowd >= SHARE_MANY || (crowd > 0 && automatic->told <= MANY))
		return automatic->asked % (crowd + 1) != 0;
	if (automatic->told > MANY)
		return automatic->asked % SHARE_MANY != 0;
	return automatic->vain >= VAIN && !automatic->task.two && automatic->asked % SHARE != 0;
}

static uint64_t local_ask(struct automatic *automatic) {
	uint64_t index;
	return automatic->local->ask(automatic->local_state, &index, 1) && is_free(automatic, index) ? index : UINT64_MAX;
}

/* With few results, many evaluations at a time would be almost blind. If the budget is in evaluations, a batch is no
 * larger than the number of results, and only a caller that asks again without reporting another result gets more. If
 * the budget is time, idle workers would be the waste (ADR 15). */
static bool waits(struct automatic *automatic) {
	uint64_t most = automatic->told > BEGIN ? automatic->told : BEGIN;
	if (automatic->waited || automatic->task.seconds > 0 || on_their_way(automatic) < most)
		return false;
	return automatic->waited = true;
}

/* Where everything is alike at first, only a value that has not been tried can make a difference, and a model that
 * knows one exception knows nothing of the others: each value is tried once before it is asked. */
static bool is_covering(const struct automatic *automatic) {
	return automatic->covers && automatic->told < FIRST_MAX &&
	       !history_covers(automatic->task.history, automatic->task.space);
}

static uint64_t informed_ask(struct automatic *automatic, bool *by_model) {
	if (automatic->covers && !automatic->covered && !is_covering(automatic)) {
		automatic->covered = true;
		opening_widen(automatic->opening); /* the model takes what does nothing elsewhere for what does nothing here */
		uint64_t index = opening_ask(automatic->opening, false);
		if (index != UINT64_MAX)
			return index;
	}
	uint64_t unseen = is_covering(automatic) ? surrogate_unseen(automatic->surrogate) : UINT64_MAX;
	if (unseen != UINT64_MAX)
		return unseen;
	*by_model = is_beginning(automatic) && on_their_way(automatic) < FIRST_MAX;
	if (is_beginning(automatic))
		return *by_model ? surrogate_first(automatic->surrogate) : local_ask(automatic);
	uint64_t index = local_turn(automatic) ? local_ask(automatic) : UINT64_MAX;
	if (index == UINT64_MAX) {
		index = surrogate_ask(automatic->surrogate);
		*by_model = true;
	}
	phase_enter(automatic, automatic->vain >= VAIN ? PHASE_BOTH : PHASE_MODEL);
	return index;
}

static uint64_t propose(struct automatic *automatic, bool *by_model) {
	uint64_t index = known_first(automatic);
	if (index != UINT64_MAX)
		return index;
	if (waits(automatic))
		return UINT64_MAX;
	automatic->cold_turn = automatic->cold && (index = cold_ask(automatic->cold)) != UINT64_MAX;
	if (automatic->cold_turn)
		return index;
	index = informed_ask(automatic, by_model);
	if (automatic->cold && index != UINT64_MAX)
		cold_await(automatic->cold, index);
	return index;
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct automatic *automatic = state;
	(void)want; /* one at a time, because the search marks each as taken before it asks again */
	bool by_model = false;
	*out = propose(automatic, &by_model);
	if (*out == UINT64_MAX)
		return 0;
	automatic->asked++;
	surrogate_await(automatic->surrogate, *out, by_model);
	return 1;
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct automatic *automatic = state;
	automatic->told++;
	automatic->waited = false;
	automatic->vain++;
	if (outcome->result != STRATEGY_FAILURE)
		automatic->worst =
			outcome->result == STRATEGY_VALUE ? fmax(automatic->worst, outcome->value) : (double)INFINITY;
	if (outcome->result == STRATEGY_VALUE && outcome->value < automatic->best * (1 - PROGRESS))
		automatic->vain = 0;
	if (outcome->result == STRATEGY_VALUE && outcome->value < automatic->best) {
		automatic->best = outcome->value;
		automatic->best_index = index;
	}
	automatic->covers |= automatic->task.seconds > 0 && automatic->told >= 2 && automatic->told <= BEGIN &&
	                     automatic->worst < automatic->best * ALIKE;
	if (automatic->cold)
		cold_report(automatic->cold, index, outcome, surrogate_sources(automatic->surrogate) > 0);
	opening_report(automatic->opening, index, outcome);
	surrogate_report(automatic->surrogate, index, outcome);
	automatic->local->tell(automatic->local_state, index, outcome);
}

static size_t rank(void *state, uint64_t *pending, size_t count) {
	struct automatic *automatic = state;
	return surrogate_ready(automatic->surrogate) ? surrogate_rank(automatic->surrogate, pending, count) : count;
}

static void withdraw(void *state, uint64_t index) {
	struct automatic *automatic = state;
	automatic->asked -= automatic->asked > automatic->told;
	surrogate_withdraw(automatic->surrogate, index);
	if (automatic->cold)
		search_withdraw(automatic->cold->search, index);
}

static const char *phase(const void *state) {
	const struct automatic *automatic = state;
	const char *cold = automatic->cold_turn ? cold_phase(automatic->cold) : NULL;
	return cold ? cold : automatic->text;
}

/* While the cold search proposes, the model that knows all results was last asked long ago. */
static double promise(const void *state, uint64_t left) {
	const struct automatic *automatic = state;
	if (is_covering(automatic))
		return NAN; /* nobody knows what the other values do */
	if (automatic->cold_turn && surrogate_ready(automatic->surrogate))
		surrogate_ask(automatic->surrogate);
	return surrogate_promise(automatic->surrogate, left);
}

static bool expects(void *state, uint64_t index, double *mean, double *variance) {
	return surrogate_expects(((struct automatic *)state)->surrogate, index, mean, variance);
}

const struct strategy strategy_auto = {
	.name = "auto",
	.summary = "a model of all results, earlier ones included; local search when it stops improving",
	.state_size = sizeof(struct automatic),
	.init = init,
	.ask = ask,
	.tell = tell,
	.rank = rank,
	.withdraw = withdraw,
	.phase = phase,
	.promise = promise,
	.expects = expects,
};
