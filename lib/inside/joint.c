/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts that may influence each other are chosen jointly: the tuner makes cells of the ring members, and gives each
 * of them a few options. A round has one option of every member. It lasts until each was called, and the first one is
 * called again, and costs what their calls took on average, times the calls that a round has of each: so what one gains
 * and another one loses comes into the same sum. As it may lose it in its next call only, a round counts if the one
 * before had the same options. A learner of its own learns the members like the parameters of a context, with rounds as
 * its calls. */
#include "lib/inside/learn_impl.h"

enum { ROUNDS_LATE = 16, CALLS_LATE = 64 }; /* a round that has so many calls will not become whole */

struct member {
	struct inside_learner *learner; /* NULL: not yet called */
	const struct inside_config *options[INSIDE_JOINT];
	double weight, sum;
	unsigned calls; /* of this round */
};

static struct {
	_Atomic uint32_t busy;
	struct inside_learner *learner; /* NULL: not all members are there */
	struct sweetspot_choice choice;
	unsigned waited;
	uint32_t count;
	bool settled; /* the round before had the same options */
	struct member members[INSIDE_MEMBERS];
} joint;

static struct member *member_of(const struct inside_learner *learner) {
	uint32_t number = atomic_load_explicit(&learner->cell->member, memory_order_acquire);
	return number > 0 && number <= INSIDE_MEMBERS ? &joint.members[number - 1] : NULL;
}

/* The default replaces what the rules forbid. */
static void member_join(struct member *member, struct inside_learner *learner) {
	const struct inside_cell *cell = learner->cell;
	struct sweetspot_context *context = learner->context;
	if (pthread_mutex_trylock(&context->lock) != 0)
		return;
	for (uint32_t i = 0; i < INSIDE_JOINT; i++) {
		bool allowed = i < cell->options && ssi_allows(context, &cell->option[i]);
		member->options[i] = allowed ? ssi_config_of(context, &cell->option[i]) : NULL;
		if (!member->options[i])
			member->options[i] = &context->otherwise;
	}
	pthread_mutex_unlock(&context->lock);
	member->weight = cell->weight > 0 ? fmin(cell->weight, COST_MOST) : 1;
	member->learner = learner;
	joint.count++;
}

static void joint_make(struct inside_ring *ring) {
	static const long long numbers[INSIDE_JOINT] = {0, 1, 2, 3, 4, 5};
	static const struct inside_past none;
	struct sweetspot_context *context = sweetspot_context_open(":jointly");
	char name[16];
	for (uint32_t i = 0; context && i < joint.count; i++) {
		snprintf(name, sizeof name, "%u", i);
		sweetspot_context_int(context, name, numbers, INSIDE_JOINT, 0);
	}
	if (!context || pthread_mutex_trylock(&context->lock) != 0)
		return;
	joint.learner = ssi_alone.make(ring, context, &ring->joint, &context->otherwise, &none);
	pthread_mutex_unlock(&context->lock);
}

static void round_clear(void) {
	joint.waited = 0;
	for (uint32_t i = 0; i < INSIDE_MEMBERS; i++)
		joint.members[i].sum = joint.members[i].calls = 0;
}

/* The cost of a round of usual length. False: a member was not called. */
static bool round_cost(double *cost) {
	*cost = 0;
	for (uint32_t i = 0; i < joint.count; i++) {
		const struct member *member = &joint.members[i];
		if (member->calls == 0)
			return false;
		*cost += member->weight * member->sum / member->calls;
	}
	return true;
}

static bool is_late(void) {
	double calls = 0;
	for (uint32_t i = 0; i < joint.count; i++)
		calls += joint.members[i].weight;
	return ++joint.waited > CALLS_LATE + ROUNDS_LATE * calls;
}

static void options_set(const struct inside_config *config) {
	for (uint32_t i = 0; i < joint.count; i++) {
		uint16_t at = config->levels.at[i];
		atomic_store_explicit(&joint.members[i].learner->incumbent,
		                      joint.members[i].options[at < INSIDE_JOINT ? at : 0], memory_order_release);
	}
}

/* Before a call of the member. Of a round that is late nothing is told, and the next ones have what holds. */
static void round_look(const struct member *member) {
	double cost;
	bool late = is_late(), whole = round_cost(&cost), begun = joint.choice.place, settled = joint.settled;
	const void *before = joint.choice.config;
	if (begun && !late && !(whole && member == joint.members))
		return;
	joint.settled = true;
	round_clear();
	if (begun && whole && !settled) {
		account(joint.learner, joint.choice.ticket % ROLES == ROLE_CANDIDATE, cost);
		return;
	}
	if (begun && whole)
		ssi_alone.report(joint.learner, &joint.choice, cost);
	joint.choice = (struct sweetspot_choice){.place = joint.learner};
	ssi_alone.choose(joint.learner, &joint.choice);
	joint.settled = joint.choice.config == before;
	options_set(joint.choice.config);
}

static void member_choose(struct member *member, struct inside_learner *learner, struct sweetspot_choice *choice) {
	if (busy_take(&joint.busy)) {
		if (!member->learner)
			member_join(member, learner);
		if (!joint.learner && joint.count == atomic_load(&learner->ring->members))
			joint_make(learner->ring);
		if (joint.learner)
			round_look(member);
		busy_leave(&joint.busy);
	}
	choice->config = atomic_load_explicit(&learner->incumbent, memory_order_acquire);
	choice->ticket = ROLE_MEMBER;
	choice->start = now_ns();
}

static void member_report(struct inside_learner *learner, struct sweetspot_choice *choice, double cost) {
	struct member *member = member_of(learner);
	if (isnan(cost))
		cost = 1e-9 * (double)(now_ns() - choice->start);
	choice->ticket = 0;
	if (!call_count(learner, cost) || !member || !busy_take(&joint.busy))
		return;
	if (choice->config == atomic_load_explicit(&learner->incumbent, memory_order_relaxed)) {
		member->sum += cost;
		member->calls++;
	}
	busy_leave(&joint.busy);
}

static void choose(struct inside_learner *learner, struct sweetspot_choice *choice) {
	struct member *member = member_of(learner);
	if (member)
		member_choose(member, learner, choice);
	else
		ssi_alone.choose(learner, choice);
}

static void report(struct inside_learner *learner, struct sweetspot_choice *choice, double cost) {
	if (choice->ticket % ROLES == ROLE_MEMBER)
		member_report(learner, choice, cost);
	else
		ssi_alone.report(learner, choice, cost);
}

static void forked(struct inside_learner *learner) {
	joint.busy = 0;
	joint.choice = (struct sweetspot_choice){0};
	round_clear();
	ssi_alone.forked(learner);
}

const struct inside_learning ssi_learning = {.choose = choose, .report = report, .forked = forked};
