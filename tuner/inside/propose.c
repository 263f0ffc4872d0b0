/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of proposals for a cell: what is best in other cells of its context; then `auto`; at last what makes the
 * best certain: each of its changes taken back, the default beside it, and another chance for those that a single call
 * spoke against. */
#include <sys/mman.h>

#include "tuner/inside/inside_impl.h"

enum { PENDING_MOST = 4, ASKED_MOST = 120, CHANCES = 8, NEIGHBOURS = 3, NEAR_MOST = 64 };
/* The part of the share that waits for a drift once all was searched; where what was won may be spent, that serves. */
static const double KEEPS = 0.7, KEEPS_CREDIT = 0.3;
static const double PROMISE = 0.01, NEAR = 0.05, CHANCE = 1.1;

static const struct inside_tried *tried_find(const struct inside_known *cell, uint64_t index) {
	for (size_t i = 0; i < cell->count; i++)
		if (cell->tried[i].index == index)
			return &cell->tried[i];
	return NULL;
}

static bool is_tried(const struct inside_known *cell, uint64_t index) {
	const struct inside_tried *tried = tried_find(cell, index);
	return tried && (tried->failed || (tried->calls > 0 && tried->epoch == cell->epoch));
}

static bool is_pending(const struct inside_known *cell, uint64_t index) {
	for (size_t i = 0; cell->shared && i < INSIDE_SLOTS; i++)
		if (atomic_load(&cell->shared->slots[i].state) != INSIDE_EMPTY && cell->in_slot[i] == index)
			return true;
	return false;
}

static bool is_default(const struct inside_known *cell, uint64_t index) {
	return index == cell->subject->start;
}

/* ---- the search ---- */

static void search_inform(const struct inside_known *cell, const struct inside_tried *tried) {
	struct strategy_outcome outcome = {.result = STRATEGY_FAILURE};
	if (!tried->failed && isfinite(tried->relative))
		outcome = (struct strategy_outcome){.result = STRATEGY_VALUE,
		                                    .value = exp(fmax(-50, fmin(50, tried->relative))),
		                                    .deviation = isfinite(tried->error) ? tried->error : 0};
	if (cell->search && tried->index != UINT64_MAX)
		search_tell(cell->search, tried->index, &outcome);
}

static void search_begin(struct inside_known *cell) {
	struct err none = {0};
	uint64_t valid = space_valid(cell->subject->space);
	search_free(cell->search);
	cell->task.budget = valid < ASKED_MOST ? valid : ASKED_MOST;
	cell->search = search_new(strategy_find("auto"), &cell->task, &none);
	cell->proposed = 0;
	cell->searched = !cell->search;
	if (cell->search && cell->subject->start != UINT64_MAX)
		search_tell_value(cell->search, cell->subject->start, STRATEGY_VALUE, 1);
	for (size_t i = 0; i < cell->count; i++)
		if (is_tried(cell, cell->tried[i].index))
			search_inform(cell, &cell->tried[i]);
}

/* Not tried yet, or dropped by a single call, which an interrupt may have made slow. */
static bool is_unsure(const struct inside_known *cell, uint64_t index) {
	const struct inside_tried *tried = tried_find(cell, index);
	return !is_tried(cell, index) || (!tried->failed && tried->calls == 1 && tried->rounds == 0);
}

/* One step away from what holds or, where the default cannot hold, from the leader: a model may miss it, and it seldom
 * costs much to try. */
static bool neighbour_next(struct inside_known *cell, uint64_t *index) {
	const struct inside_subject *subject = cell->subject;
	uint64_t from = subject->without_default ? inside_known_leader(cell) : cell->best, near[NEAR_MOST];
	size_t count = from == UINT64_MAX ? 0 : space_near(subject->space, from, SPACE_ADJACENT, near, NEAR_MOST);
	for (size_t i = 0; i < count; i++) {
		*index = near[i];
		if (is_default(cell, *index) || is_pending(cell, *index) || !is_unsure(cell, *index))
			continue;
		if (is_tried(cell, *index))
			inside_tried_get(cell, *index)->rounds++;
		return true;
	}
	return false;
}

/* With search_hopeless, as in a tune, a drift is followed in time in 90 of 100 models of the test instead of 97. */
static bool search_next(struct inside_known *cell, uint64_t *index) {
	if (!cell->search && !cell->searched)
		search_begin(cell);
	bool hopeless = cell->proposed > 16 && search_promise(cell->search, 16) < PROMISE;
	if (cell->searched || cell->proposed >= ASKED_MOST || hopeless) {
		cell->searched = !neighbour_next(cell, index);
		return !cell->searched;
	}
	if (cell->proposed++ % NEIGHBOURS == 0 && neighbour_next(cell, index))
		return true;
	while (search_ask(cell->search, index, 1) > 0)
		if (!is_tried(cell, *index) && !is_pending(cell, *index)) /* as a neighbour */
			return true;
	cell->searched = true; /* the space is used up */
	return false;
}

/* ---- what comes after it ---- */

static bool best_elsewhere(const struct inside_known *cell, uint64_t *index) {
	for (size_t i = 0; i < cell->subject->count; i++) {
		const struct inside_known *other = cell->subject->cells[i];
		*index = other->best;
		if (other != cell && !is_default(other, other->best) && !is_tried(cell, *index) && !is_pending(cell, *index))
			return true;
	}
	return false;
}

/* The best with one of its changes taken back. */
static bool simpler_next(struct inside_known *cell, uint64_t *index) {
	const struct inside_subject *subject = cell->subject;
	int config[SPACE_PARAMS_MAX];
	for (size_t p = 0; p < space_params(subject->space) && !subject->without_default; p++) {
		space_config(subject->space, cell->best, config);
		if (config[p] == (int)subject->settings[p].otherwise)
			continue;
		config[p] = (int)subject->settings[p].otherwise;
		if (!space_index(subject->space, config, index) || is_default(cell, *index) || is_pending(cell, *index))
			continue;
		struct inside_tried *tried = inside_tried_get(cell, *index);
		bool is_worse =
			tried->calls > 1 && tried->relative - 2 * tried->error > inside_tried_get(cell, cell->best)->relative;
		if (tried->rounds == 0 && !tried->failed && !is_worse) {
			tried->rounds++;
			return true;
		}
	}
	return false;
}

/* One that a single call spoke against, as an interrupt may have, or that is close to the best. */
static bool chance_next(struct inside_known *cell, uint64_t *index) {
	struct inside_tried *best = NULL;
	double limit = is_default(cell, cell->best) ? 0 : inside_tried_get(cell, cell->best)->relative;
	size_t chances = 0;
	for (size_t i = 0; i < cell->count; i++) {
		struct inside_tried *tried = &cell->tried[i];
		bool once = tried->calls == 1 && tried->relative < CHANCE, near = tried->relative < limit + NEAR;
		chances += tried->rounds > 0;
		if (tried->index != cell->best && !is_default(cell, tried->index) && !tried->failed && tried->rounds == 0 &&
		    tried->epoch == cell->epoch && (once || near) && !is_pending(cell, tried->index) &&
		    (!best || tried->relative < best->relative))
			best = tried;
	}
	if (!best || chances >= CHANCES)
		return false;
	best->rounds++;
	*index = best->index;
	return true;
}

static bool final_next(struct inside_known *cell, uint64_t *index, enum inside_goal *goal) {
	const struct inside_subject *subject = cell->subject;
	bool changed = !is_default(cell, cell->best);
	*goal = INSIDE_TRY;
	if (neighbour_next(cell, index))
		return true;
	*goal = INSIDE_SIMPLER;
	if (changed && simpler_next(cell, index))
		return true;
	*goal = INSIDE_COMPARE;
	*index = subject->start;
	if (changed && !subject->without_default && !inside_known_compared(cell) && !is_pending(cell, *index))
		return true;
	*goal = INSIDE_SIMPLER; /* it is not faster after all */
	if (changed && !subject->without_default && !inside_known_faster(cell) && !is_pending(cell, *index) &&
	    inside_tried_get(cell, *index)->rounds++ == 0)
		return true;
	*goal = INSIDE_TRY;
	return chance_next(cell, index);
}

static bool next(struct inside_known *cell, uint64_t *index, enum inside_goal *goal) {
	*goal = INSIDE_TRY;
	if (cell->retries > 0) {
		*index = cell->retry[--cell->retries];
		return true;
	}
	if (best_elsewhere(cell, index))
		return true;
	if (!cell->searched)
		return search_next(cell, index);
	return final_next(cell, index, goal);
}

static void levels_of(const struct inside_subject *subject, uint64_t index, struct inside_levels *levels) {
	int config[SPACE_PARAMS_MAX];
	memset(levels, 0xff, sizeof *levels);
	if (index == UINT64_MAX)
		return;
	space_config(subject->space, index, config);
	for (size_t p = 0; p < space_params(subject->space) && p < INSIDE_PARAMS; p++)
		if (config[p] >= 0 && (size_t)config[p] < subject->settings[p].count)
			levels->at[p] = (uint16_t)config[p];
}

static void slots_fill(struct inside_known *cell, double keeps) {
	size_t pending = 0;
	uint64_t index;
	enum inside_goal goal;
	for (size_t i = 0; i < INSIDE_SLOTS; i++)
		pending += atomic_load(&cell->shared->slots[i].state) != INSIDE_EMPTY;
	for (size_t i = 0; i < INSIDE_SLOTS && pending < PENDING_MOST; i++) {
		struct inside_slot *slot = &cell->shared->slots[i];
		if (atomic_load(&slot->state) != INSIDE_EMPTY)
			continue;
		if (!next(cell, &index, &goal))
			return;
		cell->in_slot[i] = index;
		slot->goal = goal;
		slot->keeps = cell->searched ? keeps : 0;
		levels_of(cell->subject, index, &slot->levels);
		atomic_store_explicit(&slot->state, INSIDE_READY, memory_order_release);
		pending++;
	}
}

/* ---- results ---- */

/* The cost of the calls has changed: everything may be different, and is looked at again, the best first. Proposals
 * that nobody has taken yet would be in the way. */
static void epoch_begin(struct inside_known *cell) {
	cell->epoch++;
	cell->searched = cell->jointly = false;
	search_free(cell->search);
	cell->search = NULL;
	cell->gain_calls = 0;
	cell->gain = cell->gain_error = NAN;
	for (size_t i = 0; i < cell->count; i++)
		cell->tried[i].rounds = 0;
	for (size_t i = 0; i < INSIDE_SLOTS; i++)
		atomic_compare_exchange_strong(&cell->shared->slots[i].state, &(uint32_t){INSIDE_READY}, INSIDE_EMPTY);
	if (!is_default(cell, cell->best) && cell->subject->start != UINT64_MAX)
		cell->retry[cell->retries++ % INSIDE_RETRIES] = cell->subject->start;
	cell->retries = cell->retries < INSIDE_RETRIES ? cell->retries : INSIDE_RETRIES;
}

static void compare_note(struct inside_known *cell, const struct inside_slot *slot) {
	double weight = slot->calls, all = cell->gain_calls + weight;
	bool first = cell->gain_calls == 0;
	if (!isfinite(slot->log) || !(all > 0))
		return;
	cell->gain = first ? slot->log : (cell->gain_calls * cell->gain + weight * slot->log) / all;
	cell->gain_error = first ? slot->error : hypot(cell->gain_calls * cell->gain_error, weight * slot->error) / all;
	cell->gain_calls += slot->calls;
	if (slot->outcome == INSIDE_BETTER) { /* the default holds again: the costs have changed */
		cell->best = cell->subject->start;
		epoch_begin(cell);
	}
}

static void best_set(struct inside_known *cell, uint64_t index) {
	if (cell->best == index)
		return;
	cell->best = index;
	cell->gain_calls = 0;
	cell->gain = cell->gain_error = NAN;
}

/* Tells the processes of a run what is good. They read it when they have no candidate, and never wait. */
static void advise(const struct inside_known *cell, double relative) {
	struct inside_cell *shared = cell->shared;
	uint32_t advice = atomic_load(&shared->advice) | 1;
	atomic_store(&shared->advice, advice);
	levels_of(cell->subject, cell->best, &shared->advised);
	shared->advised_relative = relative;
	atomic_store_explicit(&shared->advice, advice + 1, memory_order_release);
}

static void result_note(struct inside_known *cell, uint64_t index, const struct inside_slot *slot) {
	struct inside_tried *tried = inside_tried_get(cell, index);
	double log = isfinite(slot->relative) ? slot->relative : NAN;
	if (slot->goal == INSIDE_COMPARE) {
		compare_note(cell, slot);
		return;
	}
	if (slot->outcome == INSIDE_NOTHING || isnan(log)) {
		tried->failed = true;
	} else if (index != cell->subject->start &&
	           (tried->calls == 0 || tried->epoch != cell->epoch || slot->calls >= tried->calls)) {
		tried->relative = log;
		tried->error = slot->error;
		tried->cost = slot->cost;
		tried->calls = slot->calls ? slot->calls : 1;
	}
	tried->epoch = cell->epoch;
	search_inform(cell, tried);
	if (slot->outcome != INSIDE_BETTER)
		return;
	best_set(cell, index);
	if (cell->gain_calls == 0 && -log - 4 * slot->error > INSIDE_CLEAR) /* that few calls are enough to say so */
		compare_note(cell, &(struct inside_slot){.calls = INSIDE_SEEN, .log = -log, .error = slot->error});
	if (cell->shared->finder && cell->shared->finder != slot->pid) /* not only one process looks for it */
		advise(cell, log);
	cell->shared->finder = slot->pid;
}

static void totals_read(struct inside_known *cell) {
	struct inside_cell *shared = cell->shared;
	uint64_t calls = atomic_load(&shared->calls), ns = atomic_load(&shared->ns),
			 none = atomic_load(&shared->default_ns);
	cell->calls += calls - cell->before_calls;
	cell->seconds += 1e-9 * (double)(ns - cell->before_ns);
	cell->run_seconds = 1e-9 * (double)ns;
	cell->before_calls = calls;
	cell->before_ns = ns;
	if (!none)
		return;
	/* later runs cannot measure it */
	cell->is_new = cell->is_new || (cell->subject->without_default && !(cell->default_s > 0));
	cell->default_s = 1e-9 * (double)none;
}

static size_t serve(const struct inside_session *session, struct inside_known *cell) {
	size_t results = 0;
	uint32_t epoch = atomic_load(&cell->shared->epoch);
	totals_read(cell);
	if (!cell->subject->space)
		return 0;
	if (epoch != cell->run_epoch) {
		cell->run_epoch = epoch;
		epoch_begin(cell);
	}
	for (size_t i = 0; i < INSIDE_SLOTS; i++) {
		struct inside_slot *slot = &cell->shared->slots[i];
		if (atomic_load_explicit(&slot->state, memory_order_acquire) != INSIDE_DONE)
			continue;
		const struct inside_slot seen = *slot;
		atomic_store_explicit(&slot->state, INSIDE_EMPTY, memory_order_release);
		result_note(cell, cell->in_slot[i], &seen);
		cell->is_new = true;
		results++;
	}
	if (session->mode.learns && !cell->jointly && atomic_load(&cell->shared->member) == 0)
		slots_fill(cell, session->mode.credit ? KEEPS_CREDIT : KEEPS);
	return results;
}

static void leave(struct inside_known *cell, bool crashed) {
	cell->retries = 0;
	for (size_t i = 0; i < INSIDE_SLOTS; i++) {
		struct inside_slot *slot = &cell->shared->slots[i];
		uint32_t state = atomic_load(&slot->state);
		if (state == INSIDE_EMPTY || state == INSIDE_DONE)
			continue;
		if (crashed && state == INSIDE_TAKEN && atomic_load(&slot->live) > 0) {
			struct inside_tried *tried = inside_tried_get(cell, cell->in_slot[i]);
			tried->failed = cell->is_new = true;
			search_inform(cell, tried);
		} else if (slot->goal == INSIDE_TRY && cell->retries < INSIDE_RETRIES) {
			cell->retry[cell->retries++] = cell->in_slot[i];
		} else if (slot->goal == INSIDE_SIMPLER) {
			inside_tried_get(cell, cell->in_slot[i])->rounds = 0;
		}
	}
	cell->shared = NULL;
}

/* ---- runs ---- */

/* NULL: another cell of this run is of the same class. */
static struct inside_known *known_of(struct inside_session *session, struct inside_subject *subject,
                                     struct inside_cell *shared) {
	for (size_t i = 0; i < subject->count; i++)
		if (subject->cells[i]->shared == shared)
			return subject->cells[i];
	mem_auto char *problem = mem_printf("%.*s", INSIDE_PROBLEM, shared->problem);
	struct inside_known *cell = inside_known_get(session, subject, problem);
	if (cell->shared)
		return NULL;
	cell->shared = shared;
	cell->before_calls = cell->before_ns = 0;
	/* An earlier run had it, and it probably takes as long again: its share may be spent at once, but in production no
	 * more than was left. What is owed, because one call can cost more than there was, has to be earned first. */
	double ahead = session->mode.share * cell->run_seconds, left = session->mode.credit ? ahead : cell->debt.left;
	atomic_store(&session->ring->ahead_s, atomic_load(&session->ring->ahead_s) + fmin(ahead, left));
	cell->run_seconds = 0;
	cell->run_epoch = atomic_load(&shared->epoch);
	return cell;
}

static struct inside_subject *subject_of(struct inside_session *session, struct inside_context *shared) {
	for (size_t i = 0; i < session->count; i++)
		if (session->subjects[i]->shared == shared)
			return session->subjects[i];
	mem_auto char *kernel = mem_printf("%.*s", INSIDE_NAME - 1, shared->kernel);
	mem_auto char *text = mem_printf("%.*s", INSIDE_SPACE - 1, shared->space);
	struct inside_subject *subject = *kernel ? inside_subject_get(session, kernel, text) : NULL;
	if (subject && !subject->shared)
		subject->shared = shared;
	return subject && subject->shared == shared ? subject : NULL;
}

/* ---- what is chosen jointly ---- */

static void member_tell(struct inside_joint *joint, size_t number) {
	const struct inside_part *member = &joint->members[number];
	struct inside_cell *shared = member->cell->shared;
	if (!shared || atomic_load(&shared->member) != 0)
		return;
	for (size_t i = 0; i < member->count; i++)
		levels_of(member->cell->subject, member->options[i], &shared->option[i]);
	shared->options = (uint32_t)member->count;
	shared->weight = member->weight;
	atomic_store_explicit(&shared->member, (uint32_t)number + 1, memory_order_release);
}

/* The members have what is best for all of them. */
static void joint_apply(struct inside_joint *joint) {
	int config[SPACE_PARAMS_MAX];
	if (joint->applied == joint->known->best)
		return;
	joint->applied = joint->known->best;
	space_config(joint->subject->space, joint->applied, config);
	for (size_t i = 0; i < joint->count; i++) {
		const struct inside_part *member = &joint->members[i];
		best_set(member->cell, member->options[config[i]]);
		member->cell->jointly = member->cell->is_new = true;
	}
}

static size_t joint_serve(struct inside_session *session) {
	struct inside_joint *joint = &session->joint;
	if (!session->mode.learns || (!joint->known && !inside_joint_make(session)))
		return 0;
	struct inside_known *known = joint->known;
	if (!known->shared) {
		known->shared = &session->ring->joint;
		known->before_calls = known->before_ns = known->run_epoch = 0;
		if (known->best != joint->subject->start)
			advise(known, inside_tried_get(known, known->best)->relative);
		atomic_store(&session->ring->members, (uint32_t)joint->count);
	}
	for (size_t i = 0; i < joint->count; i++)
		member_tell(joint, i);
	size_t results = serve(session, known);
	joint_apply(joint);
	return results;
}

size_t inside_run_poll(struct inside_session *session) {
	size_t results = 0;
	for (size_t i = 0; session->ring && i < INSIDE_CONTEXTS; i++) {
		struct inside_context *shared = &session->ring->contexts[i];
		bool there = atomic_load_explicit(&shared->there, memory_order_acquire) == INSIDE_THERE;
		struct inside_subject *subject = there ? subject_of(session, shared) : NULL;
		for (size_t k = 0; subject && k < INSIDE_CELLS; k++) {
			struct inside_cell *cell = &shared->cells[k];
			if (atomic_load_explicit(&cell->there, memory_order_acquire) != INSIDE_THERE)
				continue;
			struct inside_known *known = known_of(session, subject, cell);
			results += known ? serve(session, known) : 0;
		}
	}
	results += session->ring ? joint_serve(session) : 0;
	session->trials += results;
	return results;
}

/* The cells share by their time in what the run lost against the defaults, or won, and in what trying took. */
static void debt_note(const struct inside_session *session, struct inside_known *cell) {
	double all = 1e-9 * (double)atomic_load(&session->ring->ns);
	double saved = 1e-9 * (double)(int64_t)atomic_load(&session->ring->saved_ns);
	double spent = 1e-9 * (double)atomic_load(&session->ring->spent_ns), part = all > 0 ? cell->run_seconds / all : 0;
	cell->debt.time += cell->run_seconds;
	cell->is_new = cell->is_new || session->mode.waits || spent > 0;
	cell->debt.left += session->mode.credit ? 0 : session->mode.share * cell->run_seconds - part * spent;
	if (session->mode.waits || part == 0)
		return;
	cell->debt.last = -part * saved;
	cell->debt.lost += cell->debt.last;
}

void inside_run_end(struct inside_session *session, bool crashed) {
	if (!session->ring)
		return;
	inside_run_poll(session);
	for (size_t i = 0; i < session->count; i++) {
		session->subjects[i]->shared = NULL;
		for (size_t k = 0; k < session->subjects[i]->count; k++)
			if (session->subjects[i]->cells[k]->shared) {
				debt_note(session, session->subjects[i]->cells[k]);
				leave(session->subjects[i]->cells[k], crashed);
			}
	}
	if (session->joint.known && session->joint.known->shared)
		leave(session->joint.known, crashed);
	session->seconds += 1e-9 * (double)atomic_load(&session->ring->ns);
	session->lost += 1e-9 * (double)atomic_load(&session->ring->spent_ns);
	munmap(session->ring, sizeof *session->ring);
	session->ring = NULL;
}
