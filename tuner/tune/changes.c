/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The changes of a winner from what is run today, and which of them pay: the final is a duel with today's setting whose
 * blocks have the winner without each of its changes, too (tuner/race/ablation.h). */
#include <math.h>

#include "base/json/js.h"
#include "tuner/race/unsafe.h"
#include "tuner/tune/bench_impl.h"

/* Without a budget of time, what pays is looked for this long, or half as long as all before it. */
static const double RENT_SECONDS_LEAST = 5, RENT_SHARE_SPENT = 0.5;
/* The share of the time that is left for the arms of the next duel; the rest is for the one after it. */
static const double ARMS_SHARE = 0.6;
/* An interval that is wider than this factor, or a baseline whose runs ended so much earlier than they had to, is worth
 * another duel. */
static const double HEADLINE_TIMES = 1.5;
/* Dangerous settings are dropped before all others that are not shown to pay. */
static const double DANGER_RANK = -1e6;
/* A parameter whose effect in the search is below this share of the gain (of its logarithm) is not likely to pay. */
static const double LIKELY_SHARE = 0.15;

/* A parameter, and those that exist only because of its value. */
struct change {
	const char *names[SPACE_PARAMS_MAX];
	size_t count;
};

struct rent {
	struct tune *tune;
	const json_t *winner;
	struct change changes[SPACE_PARAMS_MAX];
	size_t count;
	double rank[ABLATION_CHANGES_MAX];
	uint64_t likely, danger;                         /* likely: by the search */
	struct ablation_arm alone[ABLATION_CHANGES_MAX]; /* without this change only, of whichever set was the last */
	double begun;
	struct duel_log log;
	struct duel_result duel; /* of the set that is kept */
	bool has_duel;
	int duels;
	bool vain;  /* one of them has not proven what it set out to prove, and was not left for another */
	double cut; /* of the arms of the next duel, in times of the best; 0: their runs are whole */
};

static const json_t *today_of(const struct rent *rent) {
	return rent->tune->task->baseline;
}

static void put_back(json_t *config, const json_t *today, const struct change *change) {
	for (size_t i = 0; i < change->count; i++) {
		json_t *value = json_object_get(today, change->names[i]);
		if (value)
			json_object_set(config, change->names[i], value);
		else
			json_object_del(config, change->names[i]);
	}
}

/* The winner with these of its changes only; new reference. Today's setting may lie outside the space. */
static json_t *config_of(const struct rent *rent, uint64_t set) {
	json_t *config = json_copy((json_t *)rent->winner);
	for (size_t i = 0; i < rent->count; i++)
		if (!(set >> i & 1))
			put_back(config, today_of(rent), &rent->changes[i]);
	if (set == 0 || space_config_allowed(rent->tune->task->space, config))
		return config;
	json_decref(config);
	return NULL;
}

static bool is_allowed(const struct rent *rent, uint64_t set) {
	json_t *config = config_of(rent, set);
	json_decref(config);
	return config != NULL;
}

static uint64_t all_of(const struct rent *rent) {
	return rent->count < 64 ? ablation_bit(rent->count) - 1 : UINT64_MAX;
}

static void change_join(struct rent *rent, size_t to, size_t from) {
	for (size_t i = 0; i < rent->changes[from].count; i++)
		rent->changes[to].names[rent->changes[to].count++] = rent->changes[from].names[i];
	rent->changes[from] = rent->changes[--rent->count];
}

static bool is_on_both(const struct rent *rent, const struct change *change) {
	return json_object_get(rent->winner, change->names[0]) && json_object_get(today_of(rent), change->names[0]);
}

static bool is_single(uint64_t set) {
	return set && (set & (set - 1)) == 0;
}

/* This change and what has to be taken back with it: one other where that is enough, else as few as can be found. */
static uint64_t taken_with(const struct rent *rent, size_t one) {
	uint64_t all = all_of(rent), back = all;
	if (is_allowed(rent, all & ~ablation_bit(one)))
		return ablation_bit(one);
	for (size_t k = 0; k < rent->count; k++)
		if (k != one && is_allowed(rent, all & ~ablation_bit(one) & ~ablation_bit(k)))
			return ablation_bit(one) | ablation_bit(k);
	for (size_t k = 0; k < rent->count; k++)
		if (k != one && is_allowed(rent, all & ~(back & ~ablation_bit(k))))
			back &= ~ablation_bit(k);
	return back;
}

/* The first of them that both settings have leads. */
static void changes_join(struct rent *rent, uint64_t group) {
	size_t first = (size_t)__builtin_ctzll(group), lead = first;
	for (size_t i = first; i < rent->count; i++)
		if (group & ablation_bit(i) && is_on_both(rent, &rent->changes[i]) && !is_on_both(rent, &rent->changes[lead]))
			lead = i;
	struct change leader = rent->changes[lead];
	rent->changes[lead] = rent->changes[first];
	rent->changes[first] = leader;
	for (size_t i = rent->count; i-- > first + 1;)
		if (group & ablation_bit(i))
			change_join(rent, first, i);
}

/* Joins the first group of changes that have to be taken back together, if they are at most so many. */
static bool group_tie(struct rent *rent, int most) {
	for (size_t i = 0; i < rent->count; i++) {
		uint64_t group = taken_with(rent, i);
		if (is_single(group) || __builtin_popcountll(group) > most)
			continue;
		changes_join(rent, group);
		return true;
	}
	return false;
}

/* A place belongs to its binding, a chunk to its schedule, and all that exists only for a variant to that variant.
 * Settings that constraints tie together are one change as well. */
static void changes_tie(struct rent *rent) {
	/* Pairs first, so that what a smaller team does without is not tied to a binding and its place. */
	while (group_tie(rent, 2) || group_tie(rent, ABLATION_CHANGES_MAX))
		;
}

static void changes_find(struct rent *rent) {
	const struct space *space = rent->tune->task->space;
	for (size_t p = 0; p < space_params(space) && rent->count < ABLATION_CHANGES_MAX; p++) {
		const char *name = space_param_name(space, p);
		const json_t *value = json_object_get(rent->winner, name), *today = json_object_get(today_of(rent), name);
		if ((value || today) && !json_equal(value, today))
			rent->changes[rent->count++] = (struct change){.names = {name}, .count = 1};
	}
	changes_tie(rent);
}

static const char *danger_of(const struct rent *rent, const struct change *change) {
	const char *word = NULL;
	for (size_t i = 0; i < change->count && !word; i++) {
		const json_t *value = json_object_get(rent->winner, change->names[i]);
		word = value ? unsafe_word(change->names[i], value, json_object_get(today_of(rent), change->names[i])) : NULL;
	}
	return word;
}

/* The effect of a parameter in the search; NULL: not known. */
static const json_t *effect_of(const json_t *effects, const char *name) {
	js_each (effect, effects)
		if (strcmp(js_string_or(effect, "param", ""), name) == 0 && js_bool_or(effect, "known", false))
			return effect;
	return NULL;
}

/* Does the search tell that a parameter may matter beside the gain? */
static bool may_matter(const struct tune *tune, const json_t *effect) {
	double loss = LIKELY_SHARE * log(tune_today_value(tune) / tune->memory.best);
	double low = json_number_value(json_array_get(json_object_get(effect, "ci"), 0));
	return effect && (low > 1 + duel_defaults.margin || log(js_real_or(effect, "ratio", NAN)) > loss);
}

/* Dangerous ones first; then those with the smallest effect in the search, so that groups hold what matters together.
 * What is not known of the search is likely to pay where nothing that is known explains the gain. */
static void changes_rank(struct rent *rent) {
	js_auto json_t *effects = tune_effects(rent->tune);
	double gain = log(tune_today_value(rent->tune) / rent->tune->memory.best);
	bool explained = false;
	uint64_t unknown = 0;
	for (size_t i = 0; i < rent->count; i++) {
		const struct change *change = &rent->changes[i];
		const json_t *first = effect_of(effects, change->names[0]);
		bool matters = false;
		for (size_t k = 0; k < change->count; k++)
			matters = matters || may_matter(rent->tune, effect_of(effects, change->names[k]));
		bool dangerous = danger_of(rent, change);
		rent->danger |= (uint64_t)dangerous << i;
		rent->rank[i] = js_real_or(first, "ratio", 1) + (dangerous ? DANGER_RANK : 0);
		rent->likely |= (uint64_t)matters << i;
		unknown |= (uint64_t)(!first && !matters) << i;
		explained = explained || (first && log(js_real_or(first, "ratio", 1)) >= (1 - LIKELY_SHARE) * gain);
	}
	if (!explained)
		rent->likely |= unknown;
}

static double seconds_left(const struct rent *rent) {
	const struct tune *tune = rent->tune;
	double most = fmax(RENT_SECONDS_LEAST, RENT_SHARE_SPENT * rent->begun);
	return tune_promised(tune) ? tune_left(tune) : rent->begun + most - tune_elapsed(tune);
}

/* Configurations that are not built yet are built first. */
static double builds_affordable(const struct tune *tune, double seconds) {
	struct builder *builder = tune->task->builder;
	double each = builder ? builder_figures(builder).longest_s : 0;
	return each > 0 ? seconds / each : INFINITY;
}

/* The arms for whose blocks there is time beside those of the two sides, today's only in the first few. */
static double arms_fit(const struct rent *rent, double seconds, int pairs) {
	const struct tune *tune = rent->tune;
	double blocks = tune_rounds(tune, pairs), best = tune_final_seconds(tune, tune->memory.best);
	double each = tune_arm_seconds(tune, rent->cut), first = tune_rounds(tune, tune_pairs_first(tune));
	double today = rent->cut > 0 ? 2 * each - best : tune_base_seconds(tune);
	double control = rent->cut > 0 || pairs == RACE_PAIRS_LEAST ? 1 : 2;
	return (seconds - first * today - control * blocks * best) / (blocks * each);
}

/* An arm may take as long as today's setting, but to see that it pays no run has to last that long: where whole runs of
 * as many as there are changes do not fit, those that take much longer than the best are ended. */
static int room(void *ctx, uint64_t set) {
	struct rent *rent = ctx;
	const struct tune *tune = rent->tune;
	double left = seconds_left(rent), share = ARMS_SHARE * left, wanted = __builtin_popcountll(set);
	bool is_long = tune_pairs_first(tune) == RACE_PAIRS_LEAST;
	int blocks = is_long ? RACE_PAIRS_LEAST : RACE_PAIRS_OF_CHANGE_VAIN;
	if (rent->duels > 0 && (tune_interrupted(tune) || left < fmax(tune_proof_seconds(tune), 0)))
		return -1;
	rent->cut = 0;
	double arms = arms_fit(rent, share, blocks);
	if (arms < wanted && (rent->cut = tune_arm_cut(tune)) > 0)
		arms = arms_fit(rent, share, blocks);
	if (arms < wanted) /* fewer blocks may show a large price */
		arms = fmin(wanted, arms_fit(rent, share, tune_pairs_first(tune)));
	arms = fmin(arms, builds_affordable(tune, share));
	if (arms < 1)
		rent->cut = 0;
	return arms > ABLATION_CHANGES_MAX ? ABLATION_CHANGES_MAX : arms > 0 ? (int)arms : 0;
}

static int rent_duel(void *ctx, uint64_t set, struct ablation_arm *arms, size_t count, bool first,
                     struct ablation_gain *gain, struct err *err) {
	struct rent *rent = ctx;
	struct tune *tune = rent->tune;
	const json_t *others[ABLATION_ARMS_MAX];
	size_t at[ABLATION_ARMS_MAX];
	/* The gain of a set that will shrink need not be known well. */
	struct tune_others also = {.configs = others,
	                           .seconds = (is_single(set) && !first ? 1 : ARMS_SHARE) * seconds_left(rent),
	                           .cut = rent->cut,
	                           .rough = first && rent->count > 1,
	                           .doubted = first && count > 0 && (arms[0].set & set) == set,
	                           .again = rent->vain,
	                           .log = &rent->log};
	js_auto json_t *config = config_of(rent, set);
	for (size_t i = 0; i < count; i++) {
		others[also.count] = config_of(rent, arms[i].set);
		at[also.count] = i;
		also.count += others[also.count] != NULL;
	}
	duel_result_clear(&tune->finals.duel);
	rent->duels++;
	int rc = config ? tune_duel_honest(tune, config, &also, err) : 0;
	bool met = config && rc == 0; /* a set that the space does not permit is no proof of anything */
	const struct duel_result *duel = &tune->finals.duel;
	for (size_t i = 0; rc == 0 && duel->others && i < also.count; i++) {
		struct ablation_arm *arm = &arms[at[i]];
		ablation_arm_take(arm, &duel->others[i]);
		if (is_single(set & ~arm->set) && (arm->set & ~set) == 0)
			rent->alone[__builtin_ctzll(set & ~arm->set)] = *arm;
	}
	gain->faster = met && duel->verdict == PAIRED_FASTER && !duel->lost[1] && !tune->finals.gain.unconfirmed;
	gain->likely = met && duel_leans(duel->paired.ratio, duel->paired.ci, PAIRED_FASTER);
	gain->ratio = met ? 1 / duel->paired.ratio : NAN;
	gain->open = met && duel->left_open;
	rent->vain = rent->vain || !(gain->faster || gain->open);
	for (size_t i = 0; i < also.count; i++)
		json_decref((json_t *)others[i]);
	return rc;
}

static void rent_keep(void *ctx) {
	struct rent *rent = ctx;
	duel_result_clear(&rent->duel);
	rent->duel = rent->tune->finals.duel;
	rent->tune->finals.duel = (struct duel_result){0};
	rent->has_duel = true;
}

static json_t *price_json(const struct rent *rent, const struct change *change, const struct ablation_arm *arm) {
	const char *danger = danger_of(rent, change);
	json_t *value = json_object_get(rent->winner, change->names[0]), *with = json_array();
	json_t *price = ablation_price_json(change->names[0], value, arm);
	for (size_t i = 1; i < change->count; i++)
		json_array_append_new(with, json_string(change->names[i]));
	if (json_array_size(with))
		json_object_set(price, "with", with);
	if (danger)
		json_object_set_new(price, "danger", json_string(danger));
	json_decref(with);
	return price;
}

/* A change against what it replaces, as the effect of its parameter. */
static json_t *effect_json(const struct rent *rent, const struct change *change, const struct ablation_arm *arm) {
	const char *name = change->names[0];
	bool pays = arm->ratio >= 1, proven = pays ? arm->slower : arm->faster;
	double low = pays ? arm->ci[0] : 1 / arm->ci[1];
	json_t *value = json_object_get(rent->winner, name), *today = json_object_get(today_of(rent), name);
	return json_pack("{s:s,s:b,s:o,s:[o,o],s:O?,s:O?}", "param", name, "known", true, "ratio",
	                 js_number(pays ? arm->ratio : 1 / arm->ratio), "ci", js_number(proven ? low : fmin(low, 1)),
	                 js_number(pays ? arm->ci[1] : 1 / arm->ci[0]), "best", pays ? value : today, "worst",
	                 pays ? today : value);
}

/* A change whose absence fails, or was never measured alone, has no ratio. */
static void effect_note(const struct rent *rent, const struct change *change, const struct ablation_arm *arm) {
	if (arm->ratio > 0 && isfinite(arm->ratio) && isfinite(arm->ci[0]) && arm->ci[0] > 0 && isfinite(arm->ci[1]))
		json_array_append_new(rent->tune->finals.effects, effect_json(rent, change, arm));
}

static void prices_note(const struct rent *rent, const struct ablation_result *result, const struct duel_result *duel) {
	struct tune_finals *finals = &rent->tune->finals;
	json_decref(finals->worth);
	json_decref(finals->not_needed);
	json_decref(finals->priced);
	finals->priced = config_of(rent, result->kept);
	finals->worth = json_array();
	finals->not_needed = json_array();
	json_decref(finals->effects);
	finals->effects = json_array();
	for (size_t i = 0; i < rent->count; i++) {
		const struct change *change = &rent->changes[i];
		struct ablation_arm arm = is_single(result->kept) ? ablation_arm_of_duel(duel) : result->without[i];
		if (isnan(arm.ratio)) /* of a set with more changes, which were not shown to pay */
			arm = rent->alone[i];
		bool stays = result->kept >> i & 1;
		effect_note(rent, change, stays ? &arm : &rent->alone[i]);
		if (stays)
			json_array_append_new(finals->worth, price_json(rent, change, &arm));
		for (size_t k = 0; k < change->count && !stays; k++)
			json_array_append_new(finals->not_needed, json_string(change->names[k]));
	}
}

static void rent_begin(struct rent *rent) {
	changes_find(rent);
	for (size_t i = 0; i < rent->count; i++)
		rent->alone[i] = (struct ablation_arm){.ratio = NAN, .ci = {NAN, NAN}};
}

size_t tune_changes(const struct tune *tune, const json_t *config) {
	struct rent rent = {.tune = (struct tune *)tune, .winner = config};
	changes_find(&rent);
	return rent.count;
}

void tune_prices_match(struct tune *tune) {
	struct rent rent = {.tune = tune, .winner = tune->finals.best_config};
	struct ablation_result all = {0};
	if (!tune->finals.best_config || json_equal(tune->finals.best_config, tune->finals.priced) ||
	    json_equal(tune->finals.best_config, tune->task->baseline))
		return;
	rent_begin(&rent);
	all.kept = all_of(&rent);
	for (size_t i = 0; i < rent.count; i++)
		all.without[i] = rent.alone[i];
	prices_note(&rent, &all, &tune->finals.duel);
}

/* A duel that was about the changes may say little of how large the gain is: pairs whose baseline may take longer, or
 * more of them, tell that better. */
static bool says_little(const struct rent *rent) {
	const struct duel_result *duel = &rent->duel;
	double bound = tune_duel_bound(rent->tune, tune_left(rent->tune));
	if (duel->verdict == PAIRED_FASTER)
		return duel->paired.ci[1] > HEADLINE_TIMES * duel->paired.ci[0] ||
		       (duel->bounded > 0 && (bound == 0 || bound > HEADLINE_TIMES * duel->median[1]));
	bool better = duel->paired.ratio < 1 - duel_defaults.margin;
	return duel->verdict == PAIRED_TIE &&
	       ((better && !duel->decided) || duel_leans(duel->paired.ratio, duel->paired.ci, PAIRED_FASTER));
}

/* Uses what is left of the time for the recommendation. */
static int rent_headline(struct rent *rent, const json_t *kept, struct err *err) {
	struct tune *tune = rent->tune;
	const struct tune_others none = {.again = rent->vain, .log = &rent->log};
	bool proven = rent->duel.verdict == PAIRED_FASTER;
	/* Without time for more, the blocks of all duels together may prove what none of them does alone. */
	bool late = tune_left(tune) < tune_proof_seconds(tune) && (proven || tune->bench.fleet);
	if (!tune_promised(tune) || tune_interrupted(tune) || late || !says_little(rent))
		return 0;
	if (tune_duel_honest(tune, kept, &none, err))
		return -1;
	const struct duel_result *duel = &tune->finals.duel;
	bool better = duel->verdict == PAIRED_FASTER && duel->paired.ci[1] < rent->duel.paired.ci[1];
	if (proven ? better && !tune->finals.gain.unconfirmed : duel->paired.count >= rent->duel.paired.count)
		rent_keep(rent);
	return 0;
}

int tune_rent(struct tune *tune, const json_t *winner, json_t **kept, struct err *err) {
	struct rent rent = {.tune = tune, .winner = winner, .begun = tune_elapsed(tune)};
	struct ablation_result result = {0};
	*kept = NULL;
	if (tune_winner_check(tune, today_of(&rent), err))
		return -1;
	rent_begin(&rent);
	if (rent.count == 0) {
		*kept = json_incref((json_t *)winner);
		return tune_duel_honest(tune, winner, &(struct tune_others){0}, err);
	}
	changes_rank(&rent);
	const struct ablation_task task = {.ctx = &rent,
	                                   .count = rent.count,
	                                   .rank = rent.rank,
	                                   .danger = rent.danger,
	                                   .likely = rent.likely,
	                                   .room = room,
	                                   .duel = rent_duel,
	                                   .keep = rent_keep};
	int rc = ablation_run(&task, &result, err);
	if (rent.has_duel) { /* what was proven stays, whatever became of the rest */
		*kept = config_of(&rent, result.kept);
		if (rc == 0)
			rc = rent_headline(&rent, *kept, err);
		duel_result_clear(&tune->finals.duel);
		tune->finals.duel = rent.duel;
		prices_note(&rent, &result, &tune->finals.duel);
	}
	duel_log_clear(&rent.log);
	return rc;
}
