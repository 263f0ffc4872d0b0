/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/race/numbers.h"
#include "tuner/sizes/impl.h"

/* Finds the stored results that differ in one number of the problem only. */

enum { RESULTS_MAX = 1024 };

struct found {
	json_t *result;
	char *source;
	int64_t search;
};

struct finder {
	const char *kernel, *objective;
	struct found *found; /* oldest first */
	size_t count;
};

static double cost_of(const json_t *result) {
	return js_real_or(json_object_get(result, "best"), "median", NAN);
}

static int result_add(void *ctx, const struct store_row *stored) {
	struct finder *finder = ctx;
	const json_t *result = stored->result;
	if (strcmp(stored->kernel, finder->kernel) != 0 ||
	    strcmp(js_string_or(result, "objective", "time"), finder->objective) != 0 ||
	    json_object_get(result, "program") || !json_is_object(json_object_get(result, "problem")) ||
	    !json_is_object(js_at(result, "best.config")) || !(cost_of(result) > 0))
		return 0;
	finder->found = mem_grow(finder->found, finder->count + 1, sizeof *finder->found);
	finder->found[finder->count++] = (struct found){
		.result = json_incref((json_t *)result), .source = mem_strdup(stored->source), .search = stored->search};
	return finder->count == RESULTS_MAX;
}

/* A kernel on another device or with another source is another kernel. */
static bool same_kernel(const struct found *a, const struct found *b) {
	return strcmp(a->source, b->source) == 0 &&
	       strcmp(js_string_or(a->result, "device", "cpu"), js_string_or(b->result, "device", "cpu")) == 0;
}

static json_t *without(const json_t *problem, const char *over) {
	json_t *rest = json_copy((json_t *)problem);
	json_object_del(rest, over);
	return rest;
}

static bool in_group(const struct found *one, const struct found *problem_row, const char *over, const json_t *rest) {
	const json_t *problem = json_object_get(one->result, "problem");
	js_auto json_t *others = without(problem, over);
	return same_kernel(one, problem_row) && json_number_value(json_object_get(problem, over)) > 0 &&
	       json_equal(others, (json_t *)rest);
}

/* Collects the results that equal one of them in all but `over`; of several with the same size the newest stays. */
static struct sizes *group(const struct finder *finder, const struct found *problem_row, const char *over) {
	struct sizes *sizes = sizes_new(finder->kernel, over);
	json_t *rest = without(json_object_get(problem_row->result, "problem"), over);
	for (size_t i = 0; i < finder->count; i++) {
		const struct found *one = &finder->found[i];
		const json_t *best = json_object_get(one->result, "best"), *ci = json_object_get(best, "ci");
		if (!in_group(one, problem_row, over, rest))
			continue;
		const json_t *low = json_array_get(ci, 0), *high = json_array_get(ci, 1);
		const struct sizes_point point = {
			.n = json_number_value(json_object_get(json_object_get(one->result, "problem"), over)),
			.cost = cost_of(one->result),
			.ci = {json_is_number(low) ? json_number_value(low) : NAN,
		           json_is_number(high) ? json_number_value(high) : NAN},
			.config = json_object_get(best, "config"),
			.finalists = json_object_get(one->result, "finalists"),
			.search = one->search,
		};
		sizes_add(sizes, &point);
	}
	json_t *about = json_pack("{s:o,s:s,s:s,s:s}", "problem", rest, "objective", finder->objective, "device",
	                          js_string_or(problem_row->result, "device", "cpu"), "unit",
	                          js_string_or(json_object_get(problem_row->result, "best"), "unit", "s"));
	sizes_about(sizes, about);
	return sizes;
}

static bool is_wanted(const json_t *problem, const char *name, const char *over, const json_t *asked) {
	if (over && strcmp(over, name) != 0)
		return false;
	js_members (other, value, asked)
		if (strcmp(other, name) != 0 && !json_equal(value, json_object_get(problem, other)))
			return false;
	return true;
}

/* The largest group; of equally large ones the group of the newest result. */
static struct sizes *largest(const struct finder *finder, const char *over, const json_t *asked) {
	struct sizes *best = NULL;
	for (size_t i = finder->count; i-- > 0;) {
		const json_t *problem = json_object_get(finder->found[i].result, "problem");
		if (!same_kernel(&finder->found[i], &finder->found[finder->count - 1]))
			continue;
		js_members (name, value, problem) {
			if (!(json_number_value(value) > 0) || !is_wanted(problem, name, over, asked))
				continue;
			struct sizes *one = group(finder, &finder->found[i], name);
			bool more = !best || sizes_count(one) > sizes_count(best);
			sizes_free(more ? best : one);
			best = more ? one : best;
		}
	}
	return best;
}

struct sizes *sizes_load(struct store *store, const char *fingerprint, const char *kernel, const char *objective,
                         const char *over, const json_t *problem, struct err *err) {
	const struct store_filter own = {.fingerprint = fingerprint, .kernel = kernel};
	struct finder finder = {.kernel = kernel, .objective = objective};
	struct sizes *sizes = NULL;
	int failed = store_each(store, STORE_RESULTS, &own, result_add, &finder, err);
	if (!failed)
		sizes = largest(&finder, over, problem);
	for (size_t i = 0; i < finder.count; i++) {
		json_decref(finder.found[i].result);
		free(finder.found[i].source);
	}
	free(finder.found);
	if (!failed && !sizes)
		failed = err_set(err, ERR_NOTHING, "tune it at several sizes: sweetspot tune KERNEL --sizes NAME=A..B",
		                 "%s does not hold results of %s at several sizes on this machine", store_path(store), kernel);
	if (!failed && sizes_ratios_read(sizes, store, err))
		failed = -1;
	if (!failed)
		return sizes;
	sizes_free(sizes);
	return NULL;
}

/* The best configuration between two sizes need not be the best of either. The one recommended there is therefore raced
 * against the best and the finalists of both neighbours and the best of the next two, in interleaved blocks and without
 * a search. */
/* A configuration that takes this much longer than the best drops out from the second round on. The rest stay: if a
 * size is left out, together with what only its search found, they may be the best that is left. */
static const double OUT = 1.4;
enum { OUT_FROM = 2, ROUNDS_LEAST = 3 /* rounds for a ratio that counts */ };

struct midpoint_race {
	struct sizes_midpoint midpoint;
	json_t *configs[SIZES_MIDPOINT_RACE_MAX]; /* the first is the one recommended there so far */
	size_t count;
	double costs[SIZES_MIDPOINT_RACE_ROUNDS * SIZES_MIDPOINT_RACE_MAX]; /* [round * count + config]; NAN: none */
	bool out[SIZES_MIDPOINT_RACE_MAX];
};

static void config_add(struct midpoint_race *race, json_t *config) {
	for (size_t i = 0; i < race->count; i++)
		if (race->configs[i] == config)
			return;
	if (config && race->count < SIZES_MIDPOINT_RACE_MAX)
		race->configs[race->count++] = config;
}

static void candidate_add(struct midpoint_race *race, const struct sizes *sizes, size_t point, size_t rank) {
	if (point < sizes->count)
		config_add(race, json_array_get(sizes->entries[point].candidates, rank));
}

static void race_init(struct sizes *sizes, const struct sizes_midpoint *midpoint, struct midpoint_race *race) {
	size_t low = midpoint->near, high = low + 1;
	*race = (struct midpoint_race){.midpoint = *midpoint};
	config_add(race, sizes_config(sizes, midpoint->config));
	candidate_add(race, sizes, low, 0);
	candidate_add(race, sizes, high, 0);
	if (low > 0)
		candidate_add(race, sizes, low - 1, 0);
	candidate_add(race, sizes, high + 1, 0);
	for (size_t rank = 1; rank < SIZES_CANDIDATES_MAX; rank++) {
		candidate_add(race, sizes, low, rank);
		candidate_add(race, sizes, high, rank);
	}
	for (size_t i = 0; i < sizeof race->costs / sizeof *race->costs; i++)
		race->costs[i] = NAN;
}

/* The median ratio of a configuration to the first one within the same blocks; NAN: they share none. */
static double ratio_of(const double *costs, size_t count, size_t rounds, size_t config, size_t *pairs) {
	double logs[SIZES_MIDPOINT_RACE_ROUNDS];
	*pairs = 0;
	for (size_t round = 0; round < rounds; round++) {
		double log_ratio = log(costs[round * count + config] / costs[round * count]);
		if (isfinite(log_ratio))
			logs[(*pairs)++] = log_ratio;
	}
	return *pairs ? exp(stats_median(logs, *pairs)) : NAN;
}

static void out_set(struct midpoint_race *race, size_t rounds) {
	double ratios[SIZES_MIDPOINT_RACE_MAX], least = 1;
	size_t pairs;
	for (size_t i = 0; i < race->count; i++) {
		ratios[i] = ratio_of(race->costs, race->count, rounds, i, &pairs);
		least = fmin(least, ratios[i]);
	}
	for (size_t i = 1; i < race->count; i++)
		race->out[i] = race->out[i] || ratios[i] > OUT * least;
}

/* Returns 0, 1 if the budget allows no more, -1 with err. A configuration that fails or is invalid at this size is out.
 * The order of the others is reversed every other round, so that a slow drift hits all alike. */
static int round_run(const struct sizes_bench *bench, struct midpoint_race *race, int round, struct err *err) {
	for (size_t k = 0; k < race->count; k++) {
		size_t i = k && round % 2 ? race->count - k : k;
		struct sizes_midpoint midpoint = race->midpoint;
		double cost = NAN;
		if (race->out[i])
			continue;
		midpoint.config = race->configs[i];
		int answer = bench->midpoint_race(bench->ctx, &midpoint, round, &cost, err);
		if (answer)
			return answer;
		if (!(cost > 0) && i == 0)
			return 0;
		race->out[i] = race->out[i] || !(cost > 0);
		race->costs[(size_t)round * race->count + i] = cost;
	}
	return 0;
}

static void midpoint_race_remove(struct sizes *sizes, double n) {
	for (size_t i = 0; i < sizes->midpoint_race_count; i++) {
		if (sizes->midpoint_races[i].point.n != n)
			continue;
		sizes_entry_clear(&sizes->midpoint_races[i]);
		sizes->midpoint_races[i] = sizes->midpoint_races[--sizes->midpoint_race_count];
		return;
	}
}

void sizes_midpoint_race_record(struct sizes *sizes, double n, json_t *const *configs, size_t count,
                                const double *costs, size_t rounds) {
	struct sizes_entry entry = {.point = {.n = n, .cost = NAN, .ci = {NAN, NAN}}};
	if (count < 2 || sizes_is_tuned(sizes, n))
		return;
	midpoint_race_remove(sizes, n);
	if (sizes->midpoint_race_count == SIZES_MIDPOINTS_MAX)
		return;
	entry.point.config = json_incref(sizes_config(sizes, configs[0]));
	for (size_t i = 1; i < count; i++) {
		size_t pairs;
		double ratio = ratio_of(costs, count, rounds, i, &pairs);
		if (pairs >= ROUNDS_LEAST || ratio > OUT)
			sizes_entry_set(sizes, &entry, configs[i], ratio, pairs);
	}
	if (entry.ratio_count)
		sizes->midpoint_races[sizes->midpoint_race_count++] = entry;
	else
		sizes_entry_clear(&entry);
}

/* The race at a size: [{"config", "ratio"}], ratios to the configuration recommended before. New reference. */
static json_t *sizes_midpoint_race_json(const struct sizes *sizes, double n) {
	json_t *met = json_array();
	for (size_t i = 0; i < sizes->midpoint_race_count; i++) {
		const struct sizes_entry *midpoint_race = &sizes->midpoint_races[i];
		for (size_t k = 0; midpoint_race->point.n == n && k < midpoint_race->ratio_count; k++)
			json_array_append_new(met, json_pack("{s:O,s:o}", "config", midpoint_race->ratios[k].config, "ratio",
			                                     js_number(midpoint_race->ratios[k].ratio)));
	}
	return met;
}

int sizes_midpoint_races(struct sizes *sizes, const struct sizes_bench *bench, struct err *err) {
	struct sizes_midpoint midpoints[SIZES_MIDPOINTS_MAX];
	if (!bench->midpoint_race)
		return 0;
	size_t count = sizes_midpoints_plan(sizes, midpoints);
	mem_auto struct midpoint_race *races = mem_alloc(count + 1, sizeof *races);
	int answer = 0, rounds = 0;
	for (size_t i = 0; i < count; i++)
		race_init(sizes, &midpoints[i], &races[i]);
	for (int round = 0; round < SIZES_MIDPOINT_RACE_ROUNDS && answer == 0; round++, rounds++) {
		for (size_t i = 0; i < count && answer == 0; i++) {
			answer = races[i].count > 1 ? round_run(bench, &races[i], round, err) : 0;
			if (round + 1 >= OUT_FROM)
				out_set(&races[i], (size_t)round + 1);
		}
	}
	for (size_t i = 0; i < count; i++)
		sizes_midpoint_race_record(sizes, races[i].midpoint.n, races[i].configs, races[i].count, races[i].costs,
		                           (size_t)rounds);
	return answer < 0 ? -1 : 0;
}

static int law_of(const struct sizes *sizes, struct growth *growth, struct err *err) {
	double n[SIZES_MAX], cost[SIZES_MAX];
	size_t count = sizes->count;
	for (size_t i = 0; i < sizes->count; i++) {
		n[i] = sizes->entries[i].point.n;
		cost[i] = sizes->entries[i].point.cost;
	}
	for (size_t i = 0; i < sizes->midpoint_count && count < SIZES_MAX; i++, count++) {
		n[count] = sizes->midpoints[i].n;
		cost[count] = sizes->midpoints[i].cost;
	}
	return growth_fit(n, cost, count, NULL, 0, growth, err);
}

static json_t *pair_json(const double pair[2]) {
	return json_pack("[o,o]", js_number(pair[0]), js_number(pair[1]));
}

/* Sizes are usually whole numbers and are then written as such. */
static json_t *size_json(double n) {
	return n == floor(n) && fabs(n) < 1e15 ? json_integer((json_int_t)n) : js_number(n);
}

static json_t *measured_json(const struct sizes *sizes) {
	json_t *array = json_array();
	for (size_t i = 0; i < sizes->count; i++) {
		const struct sizes_point *point = &sizes->entries[i].point;
		json_array_append_new(array,
		                      json_pack("{s:o,s:o,s:o,s:O}", "size", size_json(point->n), "median",
		                                js_number(point->cost), "ci", pair_json(point->ci), "config", point->config));
	}
	return array;
}

static json_t *between_json(const struct sizes *sizes) {
	json_t *array = json_array();
	for (size_t i = 0; i < sizes->midpoint_count; i++) {
		const struct sizes_midpoint *midpoint = &sizes->midpoints[i];
		json_array_append_new(array, json_pack("{s:o,s:o,s:O,s:o}", "size", size_json(midpoint->n), "median",
		                                       js_number(midpoint->cost), "config", midpoint->config, "met",
		                                       sizes_midpoint_race_json(sizes, midpoint->n)));
	}
	return array;
}

/* Ranges do not share a size: if sizes are whole numbers, each range begins one above the end of the last. */
static json_t *thresholds_json(const struct sizes *sizes, const struct sizes_range *ranges, size_t count) {
	json_t *array = json_array();
	bool whole = sizes_is_whole(sizes);
	for (size_t i = 0; i < count; i++) {
		const struct sizes_range *range = &ranges[i];
		double from = whole && i > 0 ? floor(range->from) + 1 : range->from, to = whole ? floor(range->to) : range->to;
		json_t *one = json_pack("{s:o,s:o,s:O,s:o}", "from", size_json(from), "to", size_json(to), "config",
		                        range->config, "loss", js_number(range->loss));
		if (i + 1 < count)
			json_object_set_new(one, "between",
			                    json_pack("[o,o]", size_json(range->last), size_json(ranges[i + 1].first)));
		json_array_append_new(array, one);
	}
	return array;
}

static json_t *pieces_json(const struct growth *growth) {
	struct growth_piece pieces[GROWTH_PIECES_MAX];
	json_t *array = json_array();
	for (size_t i = 0, count = growth_pieces(growth, pieces); i < count; i++) {
		const struct growth_piece *piece = &pieces[i];
		json_array_append_new(array, json_pack("{s:o,s:o,s:o,s:o,s:o}", "from", js_number(piece->from), "to",
		                                       js_number(piece->to), "overhead", js_number(piece->overhead), "factor",
		                                       js_number(piece->factor), "exponent", js_number(piece->exponent)));
	}
	return array;
}

static json_t *law_json(const struct growth *growth) {
	return json_pack("{s:s,s:s,s:o,s:o,s:o,s:I}", "of", "best", "law", growth_word(growth->law.kind), "pieces",
	                 pieces_json(growth), "deviation", js_number(growth->law.sigma), "freedom",
	                 js_number(growth->law.freedom), "sizes", (json_int_t)growth->count);
}

/* The prediction for a point from all other sizes; NAN: there is no law. */
static void foretold(const struct growth *growth, double n, double *cost, double *error) {
	*cost = *error = NAN;
	for (size_t i = 0; growth && i < growth->count; i++) {
		if (growth->n[i] != n)
			continue;
		*cost = growth->predicted[i];
		*error = growth->error[i];
	}
}

/* The lowest ratio known at a point: 1, or less if the best of another size was found to be faster. */
static double sizes_least(const struct sizes *sizes, size_t point) {
	const struct sizes_entry *entry = &sizes->entries[point];
	double least = 1;
	for (size_t i = 0; i < entry->ratio_count; i++)
		if (entry->ratios[i].pairs >= RACE_PAIRS_OF_RATIO) /* separate trials are too noisy to replace the best */
			least = fmin(least, entry->ratios[i].ratio);
	return least;
}

/* The loss of a configuration at a point against the best one known there; NAN: not known. */
static double sizes_loss(const struct sizes *sizes, size_t point, const json_t *config) {
	double loss = sizes_ratio(sizes, point, config, NULL) / sizes_least(sizes, point) - 1;
	return loss < 0 ? 0 : loss;
}

/* Checks one size against the others: its predicted cost, and the loss of what they recommend for it. */
static json_t *check_json(const struct sizes *sizes, size_t at, const struct growth *growth) {
	const struct sizes_point *point = &sizes->entries[at].point;
	struct sizes_range ranges[SIZES_RANGES_MAX];
	const struct sizes_range *range = sizes_range_of(ranges, sizes_ranges(sizes, at, ranges), point->n);
	double cost, error;
	foretold(growth, point->n, &cost, &error);
	json_t *one = json_pack("{s:o,s:o,s:o,s:o}", "size", size_json(point->n), "measured", js_number(point->cost),
	                        "predicted", js_number(cost), "error", js_number(error));
	size_t pairs;
	double ratio = sizes_ratio(sizes, at, range->config, &pairs);
	json_object_set(one, "config", (json_t *)range->config);
	json_object_set_new(one, "loss", js_number(sizes_loss(sizes, at, range->config)));
	json_object_set_new(one, "works", isnan(ratio) ? json_null() : json_boolean(isfinite(ratio)));
	json_object_set_new(one, "paired", json_boolean(pairs >= RACE_PAIRS_OF_RATIO));
	return one;
}

/* Median and worst of all checks. A recommendation that does not work is counted apart, because no loss is large enough
 * for it. */
static json_t *honesty_json(const json_t *checked, const struct growth *growth) {
	double loss[SIZES_MAX], worst = NAN;
	size_t known = 0, i, failed = 0;
	js_each (one, checked) {
		failed += json_is_false(json_object_get(one, "works"));
		if (json_is_number(json_object_get(one, "loss")))
			loss[known++] = js_real_or(one, "loss", NAN);
	}
	for (i = 0; i < known; i++)
		worst = fmax(worst, loss[i]);
	return json_pack("{s:o,s:o,s:o,s:o,s:I,s:I}", "median_error", js_number(growth ? growth->median_error : NAN),
	                 "worst_error", js_number(growth ? growth->worst_error : NAN), "median_loss",
	                 js_number(stats_median(loss, known)), "worst_loss", js_number(worst), "compared",
	                 (json_int_t)(known + failed), "failed", (json_int_t)failed);
}

json_t *sizes_json(const struct sizes *sizes) {
	struct sizes_range ranges[SIZES_RANGES_MAX];
	struct growth growth;
	struct err why = {0};
	bool lawful = law_of(sizes, &growth, &why) == 0;
	size_t count = sizes_ranges(sizes, SIZE_MAX, ranges);
	json_t *json = json_pack("{s:s,s:s}", "kernel", sizes->kernel, "over", sizes->over);
	if (sizes->about)
		json_object_update(json, sizes->about);
	json_object_set_new(json, "measured", measured_json(sizes));
	json_object_set_new(json, "between", between_json(sizes));
	json_object_set_new(json, "thresholds", thresholds_json(sizes, ranges, count));
	json_t *laws = json_array(), *checked = json_array();
	if (lawful)
		json_array_append_new(laws, law_json(&growth));
	for (size_t i = 0; i < sizes->count && sizes->count > 1; i++)
		json_array_append_new(checked, check_json(sizes, i, lawful ? &growth : NULL));
	json_object_set_new(json, "laws", laws);
	json_object_set_new(json, "refused", lawful ? json_null() : json_string(why.what));
	json_object_set_new(json, "leave_one_out", honesty_json(checked, lawful ? &growth : NULL));
	json_object_set_new(json, "checked", checked);
	return json;
}
