/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "tuner/race/numbers.h"
#include "tuner/race/race.h"

enum regression regression_judge(double low, double high, double limit) {
	return low > 1 + limit ? REGRESSION_SLOWER : high <= 1 + limit ? REGRESSION_WITHIN : REGRESSION_UNDECIDED;
}

const char *regression_word(enum regression outcome) {
	static const char *const words[] = {"within", "undecided", "slower"};
	return words[outcome];
}

/* More than SINGLY changes are first taken back in GROUPS. */
enum { STAGES_MAX = 16, SINGLY = 6, GROUPS = 4 };
/* A loss below this is none. */
static const double MARGIN = 0.01;
/* Where the time was too short to tell, so much of the gain may be lost by what is dropped (of its logarithm). */
static const double LOSS_SHARE = 0.25;

struct ablation {
	const struct ablation_task *task;
	struct ablation_result *result;
	uint64_t set;   /* under test */
	uint64_t known; /* changes whose part in `set` is known */
	size_t parts;   /* into which it is split; 0: not yet */
	uint64_t failed[STAGES_MAX];
	size_t failed_count;
	uint64_t dropped[ABLATION_ARMS_MAX]; /* from the last set that was kept, in order; the last comes back first */
	size_t dropped_count;
	struct ablation_arm arms[ABLATION_ARMS_MAX];
	size_t arm_count, wide; /* wide: the number of arms that are the set kept so far, 0 or 1; it is the first */
};

static size_t size_of(uint64_t set) {
	return (size_t)__builtin_popcountll(set);
}

/* The `count` changes of the set that are dropped first. */
static uint64_t firsts_of(const struct ablation_task *task, uint64_t set, size_t count) {
	uint64_t firsts = 0;
	for (; count > 0 && set & ~firsts; count--) {
		size_t first = SIZE_MAX;
		for (size_t i = 0; i < task->count; i++)
			if (set & ~firsts & ablation_bit(i) && (first == SIZE_MAX || task->rank[i] < task->rank[first]))
				first = i;
		firsts |= ablation_bit(first);
	}
	return firsts;
}

static void arm_add(struct ablation *ablation, uint64_t set) {
	ablation->arms[ablation->arm_count++] = (struct ablation_arm){.set = set, .ratio = NAN, .ci = {NAN, NAN}};
}

static size_t parts_first(size_t size, size_t room) {
	size_t parts = size > SINGLY ? GROUPS : size;
	parts = parts < room ? parts : room;
	return parts < 2 ? 2 : parts;
}

/* The arms of the next duel: the set kept so far, if changes were dropped from it, and the one under test without each
 * group of what is not known. Without all of it there is today's setting, which it meets in any case. */
static void arms_plan(struct ablation *ablation, size_t room) {
	uint64_t set = ablation->set, open = set & ~ablation->known;
	ablation->arm_count = ablation->wide = 0;
	if (ablation->dropped_count > 0 && room > 0) {
		arm_add(ablation, ablation->result->kept);
		ablation->wide = 1;
		room--;
	}
	if (ablation->parts == 0)
		ablation->parts = parts_first(size_of(set), room);
	/* Where there is no room for all, some of them have to wait. */
	size_t size = (size_of(set) + ablation->parts - 1) / ablation->parts, groups = room;
	for (; groups > 0 && open != 0; groups--) {
		uint64_t group = firsts_of(ablation->task, open, size);
		open &= ~group;
		if (set & ~group)
			arm_add(ablation, set & ~group);
	}
}

/* Arms that look harmless go first, in the order of the ranks, and then the cheapest. */
static double key_of(const struct ablation_arm *arm) {
	return arm->ratio > 1 + MARGIN ? arm->ratio : 0;
}

static bool has_failed(const struct ablation *ablation, uint64_t set) {
	for (size_t i = 0; i < ablation->failed_count; i++)
		if ((set & ~ablation->failed[i]) == 0)
			return true;
	return set == 0;
}

/* As duel_leans. Of an arm that got all the blocks it may have, the interval has to reach half as far. */
static bool arm_leans(const struct ablation_arm *arm, enum paired_verdict to) {
	double least = arm->open ? arm->ratio : sqrt(arm->ratio);
	return duel_leans(least, arm->ci, to);
}

/* The set that was kept is faster, or probably is. */
static bool is_missed(const struct ablation *ablation) {
	const struct ablation_arm *whole = &ablation->arms[0];
	return ablation->wide && (whole->faster || arm_leans(whole, PAIRED_FASTER));
}

/* Drops what was not shown to be needed, but not so much of it that what is left is known to be too little. */
static void drop(struct ablation *ablation, const struct ablation_gain *gain) {
	const struct ablation_arm *open[ABLATION_ARMS_MAX];
	uint64_t whole = ablation->set;
	double loss = LOSS_SHARE * log(gain->ratio);
	size_t count = 0;
	for (size_t i = ablation->wide; i < ablation->arm_count; i++) {
		const struct ablation_arm *arm = &ablation->arms[i];
		size_t at = count++;
		if (arm->slower || isnan(arm->ratio)) {
			count--;
			continue;
		}
		for (; at > 0 && key_of(arm) < key_of(open[at - 1]); at--)
			open[at] = open[at - 1];
		open[at] = arm;
	}
	ablation->dropped_count = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t group = whole & ~open[i]->set;
		double price = key_of(open[i]) > 0 && open[i]->open ? log(open[i]->ratio) : 0;
		bool stays = price > loss || arm_leans(open[i], PAIRED_SLOWER);
		if (has_failed(ablation, ablation->set & ~group) || (stays && !(group & ablation->task->danger)))
			continue;
		loss -= fmin(price, loss);
		ablation->set &= ~group;
		ablation->dropped[ablation->dropped_count++] = group;
	}
}

/* Takes what the duel says of single changes. */
static void prices_take(struct ablation *ablation) {
	for (size_t i = ablation->wide; i < ablation->arm_count; i++) {
		uint64_t group = ablation->set & ~ablation->arms[i].set;
		if (size_of(group) != 1)
			continue;
		ablation->known |= group;
		ablation->result->without[__builtin_ctzll(group)] = ablation->arms[i];
	}
}

static void set_change(struct ablation *ablation) {
	ablation->known = 0;
	ablation->parts = 0;
}

static void prices_forget(struct ablation_result *result) {
	for (size_t i = 0; i < ABLATION_CHANGES_MAX; i++)
		result->without[i] = (struct ablation_arm){.ratio = NAN, .ci = {NAN, NAN}};
}

/* The set under test becomes the one that is kept, and less of it is tested next. False: all of it is known. */
static bool go_on(struct ablation *ablation, const struct ablation_gain *gain) {
	struct ablation_result *result = ablation->result;
	if (result->kept != ablation->set)
		prices_forget(result);
	result->kept = ablation->set;
	prices_take(ablation);
	drop(ablation, gain);
	if (ablation->dropped_count > 0)
		set_change(ablation);
	else
		ablation->parts *= 2;
	return ablation->dropped_count > 0 || (size_of(ablation->set) > 1 && ablation->set & ~ablation->known);
}

/* The set that was kept is faster than the one without a single change: that is its price. */
static void price_of_return(struct ablation *ablation) {
	uint64_t back = ablation->result->kept & ~ablation->set;
	const struct ablation_arm *whole = &ablation->arms[0];
	if (is_missed(ablation) && size_of(back) == 1)
		ablation->result->without[__builtin_ctzll(back)] = (struct ablation_arm){
			.ratio = 1 / whole->ratio, .ci = {1 / whole->ci[1], 1 / whole->ci[0]}, .slower = whole->faster};
}

/* The set under test is too little: half of what was dropped comes back. Of two settings that do the same, one comes
 * back. False: there is nothing between it and the set that was kept. */
static bool go_back(struct ablation *ablation) {
	size_t left = ablation->dropped_count / 2;
	price_of_return(ablation);
	ablation->failed[ablation->failed_count++] = ablation->set;
	ablation->set = ablation->result->kept;
	for (size_t i = 0; i < left; i++)
		ablation->set &= ~ablation->dropped[i];
	ablation->dropped_count = left;
	set_change(ablation);
	return left > 0;
}

/* A set that is not proven is better than a larger one that is not proven, either. */
static bool is_enough(const struct ablation *ablation, const struct ablation_gain *gain, bool first) {
	bool likely = !ablation->result->faster && gain->ratio > 1 + MARGIN;
	bool missed = first && (gain->faster || gain->likely) ? ablation->arms[0].faster : is_missed(ablation);
	return (gain->faster || likely) && !missed;
}

/* Begins with the changes that are likely to pay, and without all others. */
static void begin_likely(struct ablation *ablation) {
	uint64_t all = ablation->set, likely = ablation->task->likely & all;
	ablation->result->kept = all;
	prices_forget(ablation->result);
	if (likely == 0 || likely == all)
		return;
	ablation->set = likely;
	for (uint64_t rest = all & ~likely; rest != 0; rest &= rest - 1)
		ablation->dropped[ablation->dropped_count++] = rest & -rest;
}

/* The likely ones are not enough: all of them are next. */
static void begin_all(struct ablation *ablation) {
	ablation->set = ablation->result->kept;
	ablation->dropped_count = 0;
	set_change(ablation);
}

static int stage_run(struct ablation *ablation, bool *first, bool *more, struct err *err) {
	const struct ablation_task *task = ablation->task;
	struct ablation_result *result = ablation->result;
	struct ablation_gain gain = {.ratio = NAN, .faster = result->faster};
	if (task->duel(task->ctx, ablation->set, ablation->arms, ablation->arm_count, *first, &gain, err))
		return -1;
	bool last = *first && (ablation->dropped_count == 0 || task->room(task->ctx, result->kept) < 0);
	if (last || is_enough(ablation, &gain, *first)) {
		task->keep(task->ctx);
		*first = false;
		result->faster = gain.faster;
		*more = go_on(ablation, &gain) && (gain.faster || gain.open);
	} else if (*first) {
		begin_all(ablation);
	} else {
		*more = go_back(ablation) || !result->faster;
	}
	return 0;
}

void duel_result_clear(struct duel_result *result) {
	free(result->a);
	free(result->b);
	free(result->others);
	*result = (struct duel_result){0};
}

bool duel_leans(double ratio, const double ci[2], enum paired_verdict to) {
	double least = pow(1 + MARGIN, 2);
	return to == PAIRED_FASTER ? ratio * ci[1] < 1 / least : ratio * ci[0] > least;
}

double duel_noise_floor(const struct duel_result *result) {
	const double *ci = result->control.ci;
	return result->control.count < RACE_PAIRS_SHORT ? NAN : fmax(fabs(1 - ci[0]), fabs(ci[1] - 1));
}

void ablation_arm_take(struct ablation_arm *arm, const struct duel_other *other) {
	arm->ratio = other->lost ? INFINITY : other->paired.ratio;
	arm->ci[0] = other->paired.ci[0];
	arm->ci[1] = other->paired.ci[1];
	arm->slower = other->verdict == PAIRED_SLOWER;
	arm->faster = other->verdict == PAIRED_FASTER;
	arm->fails = other->lost;
	arm->open = !other->decided;
}

struct ablation_arm ablation_arm_of_duel(const struct duel_result *duel) {
	double high = duel->bounded > 0 ? RACE_UNKNOWN : 1 / duel->paired.ci[0];
	return (struct ablation_arm){.ratio = 1 / duel->paired.ratio,
	                             .ci = {1 / duel->paired.ci[1], high},
	                             .slower = duel->verdict == PAIRED_FASTER};
}

json_t *ablation_price_json(const char *param, json_t *value, const struct ablation_arm *arm) {
	double ratio = arm->fails ? NAN : arm->ratio;
	/* The interval of few pairs may exclude 1 although they do not prove a difference (look.c). */
	double low = fmin(fmax(arm->ci[0], 0), arm->slower ? RACE_UNKNOWN : 1);
	json_t *price = json_pack("{s:s,s:O?,s:o,s:[f,f],s:b}", "param", param, "value", value, "ratio", js_number(ratio),
	                          "ci", low, fmin(arm->ci[1], RACE_UNKNOWN), "proven", arm->slower);
	if (arm->fails)
		json_object_set_new(price, "fails", json_true());
	if (isnan(ratio))
		json_object_set_new(
			price, "why", json_string(arm->fails ? "nothing works without it" : "no run was left to measure it alone"));
	return price;
}

int ablation_run(const struct ablation_task *task, struct ablation_result *result, struct err *err) {
	struct ablation ablation = {.task = task, .result = result};
	bool more = true, first = true;
	*result = (struct ablation_result){0};
	for (size_t i = 0; i < task->count; i++)
		ablation.set |= ablation_bit(i);
	begin_likely(&ablation);
	for (int stage = 0; more && stage < STAGES_MAX; stage++) {
		int room = task->room(task->ctx, ablation.set);
		if (room < 0 && stage > 0)
			return 0;
		arms_plan(&ablation, room > 0 ? (size_t)room : 0);
		if (stage > 0 && result->faster && ablation.dropped_count == 0 && ablation.arm_count == 0)
			return 0;
		if (stage_run(&ablation, &first, &more, err))
			return -1;
	}
	return 0;
}
