/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/app/lock.h"
#include "src/cmd/machine/ceilings.h"
#include "tuner/busy/busy.h"

/* Finds ceilings that are too low. A level cannot be faster than the one above it, copying cannot be much faster than
 * reading, and a team cannot be much slower than a part of it: where that was measured, the rate that should be the
 * higher one was disturbed, because no disturbance makes a rate too high. */
/* Between levels for noise; the other one allows for stores past the caches, which one thread can keep more of in
 * flight than of loads. */
static const double ABOVE = 1.25, COPIED = 1.5;
/* For lower clocks of many cores, and threads that share a core or the memory's channels. */
static const double FEWER = 1.5;

static bool is_bandwidth(const struct ceiling_item *item) {
	return !item->device && item->kind->group == CEILING_BANDWIDTH && item->level;
}

static int level_of(const struct ceiling_item *item) {
	int level = 0;
	while (ceiling_levels[level] && strcmp(ceiling_levels[level], item->level) != 0)
		level++;
	return level;
}

/* The better one of plain and streaming stores is the ceiling. */
static double value_of(const struct ceiling_item *items, size_t count, const struct ceiling_item *like) {
	double best = NAN;
	for (size_t i = 0; i < count; i++)
		if (is_bandwidth(&items[i]) && items[i].kind == like->kind && items[i].threads == like->threads &&
		    items[i].level == like->level)
			best = fmax(best, items[i].value);
	return best;
}

static bool is_rate(const struct ceiling_item *item) {
	return is_bandwidth(item) || (!item->device && item->kind->group == CEILING_PEAK);
}

/* Is b the same of fewer threads? */
static bool is_part(const struct ceiling_item *a, const struct ceiling_item *b) {
	return is_rate(a) && is_rate(b) && a->kind == b->kind && a->level == b->level && b->threads < a->threads;
}

/* Does b show that a is too low? */
static bool contradicts(const struct ceiling_item *items, size_t count, const struct ceiling_item *a,
                        const struct ceiling_item *b) {
	if (is_part(a, b))
		return b->value > FEWER * (is_bandwidth(a) ? value_of(items, count, a) : a->value);
	if (!is_bandwidth(a) || !is_bandwidth(b) || a->threads != b->threads)
		return false;
	double one = value_of(items, count, a), other = value_of(items, count, b);
	if (a->kind == b->kind)
		return level_of(a) < level_of(b) && other > ABOVE * one;
	return a->level == b->level && strcmp(a->kind->name, "read") == 0 && other > COPIED * one;
}

size_t ceilings_unsteady(struct ceiling_item *items, size_t count) {
	size_t unsteady = 0;
	for (size_t i = 0; i < count; i++)
		items[i].unsteady = false;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			if (contradicts(items, count, &items[i], &items[j]))
				items[i].unsteady = true;
	for (size_t i = 0; i < count; i++)
		unsteady += items[i].unsteady;
	return unsteady;
}

/* The highest rate that is left need not be the highest of this machine, so times must not be judged by it. */
static void others_doubt(struct ceiling_item *items, size_t count, enum ceiling_group group) {
	for (size_t i = 0; i < count; i++)
		if (is_rate(&items[i]) && items[i].kind->group == group)
			items[i].disturbed = true;
}

size_t ceilings_unsteady_drop(struct ceiling_item *items, size_t count) {
	size_t unsteady = ceilings_unsteady(items, count);
	for (size_t i = 0; i < count; i++) {
		if (!items[i].unsteady)
			continue;
		items[i].value = NAN;
		others_doubt(items, count, items[i].kind->group);
	}
	return unsteady;
}

/* Disturbances come in bursts, so the rounds measure each ceiling at moments that are far apart, and a result that was
 * disturbed in its best round is measured again. */
enum { ROUNDS = 3, AGAIN = 2, STEADY = 3, LOOK = 3, TIMEOUT_SECONDS = 60, TEXT = 96 };
static const double SAMPLE_SECONDS = 2e-3, QUIET_SECONDS = 2;

struct plan {
	struct ceiling_item *items;
	size_t count;
	int samples; /* samples of each ceiling in a round */
	bool brief;  /* results are not verified */
	struct busy *busy;
};

/* Costs are measured with threads that are close to each other, and rates with threads that share as little as
 * possible. */
static json_t *config_json(const struct ceiling_item *item) {
	if (item->device)
		return item->block ? json_pack("{s:i,s:i}", "block", item->block, "per_sm", item->per_sm) : json_object();
	bool spread = item->kind->group == CEILING_BANDWIDTH || item->kind->group == CEILING_PEAK;
	json_t *config = json_pack("{s:i,s:s,s:s}", "threads", item->threads, "places", "cores", "proc_bind",
	                           spread ? "spread" : "close");
	if (item->stores)
		json_object_set_new(config, "stores", json_string(item->stores));
	return config;
}

/* Converts to a rate, or to the time of an operation, in the unit of the ceiling. */
static double in_unit(const struct ceiling_kind *kind, double seconds, double ops) {
	bool time = kind->group == CEILING_COST || kind->group == CEILING_PAIR;
	return kind->scale * (time ? seconds / ops : ops / seconds);
}

bool ceiling_better(const struct ceiling_kind *kind, double value, double than) {
	bool time = kind->group == CEILING_COST || kind->group == CEILING_PAIR;
	return isfinite(value) && value > 0 && (isnan(than) || (time ? value < than : value > than));
}

static void item_keep(struct ceiling_item *item, const struct trial_result *result) {
	double ops = js_real_or(json_object_get(result->reply, "work"), "ops", 0);
	double value = ops > 0 ? in_unit(item->kind, result->value, ops) : NAN;
	if (!ceiling_better(item->kind, value, item->value))
		return;
	item->value = value;
	item->disturbed = result->disturbed;
	json_decref(item->samples);
	item->samples = json_array();
	for (size_t i = 0; i < result->sample_count; i++)
		json_array_append_new(item->samples, js_number(in_unit(item->kind, result->samples[i], ops)));
}

static json_t *problem_json(const struct ceiling_item *item) {
	json_t *problem = json_pack("{s:s,s:I}", "what", item->kind->name, "n", (json_int_t)item->n);
	if (!item->device) {
		json_object_set_new(problem, "from", json_integer(item->from));
		json_object_set_new(problem, "to", json_integer(item->to));
	}
	return problem;
}

static const char *item_text(const struct ceiling_item *item, char text[TEXT]) {
	int length =
		snprintf(text, TEXT, "%s%s%s", item->kind->name, item->level ? " in " : "", item->level ? item->level : "");
	if (!item->device)
		snprintf(text + length, TEXT - (size_t)length, ", %d threads", item->threads);
	else if (item->block)
		snprintf(text + length, TEXT - (size_t)length, ", %d blocks of %d for each SM", item->per_sm, item->block);
	return text;
}

/* A ceiling that cannot be measured here, such as stores that bypass the caches, is left out; a wrong result is an
 * error. */
static int item_judge(struct app *app, struct ceiling_item *item, const struct trial_result *result, struct err *err) {
	char text[TEXT];
	if (result->status == TRIAL_CORRECT)
		item_keep(item, result);
	else if (result->status == TRIAL_CORRECTNESS)
		return err_set(err, ERR_FAILED, result->message, "the ceiling %s gave a wrong result", item->kind->name);
	else
		ui_note(app_ui(app), "%s %s: %s", item_text(item, text), trial_status_text(result->status), result->message);
	return 0;
}

static int item_measure(struct app *app, const struct runner *runner, struct ceiling_item *item,
                        const struct plan *plan, struct err *err) {
	js_auto json_t *config = config_json(item);
	js_auto json_t *problem = problem_json(item);
	struct trial_request request = {.kernel = "ceiling",
	                                .device = item->device,
	                                .problem = problem,
	                                .config = config,
	                                .seed = 1,
	                                .samples = plan->samples,
	                                .trusted = plan->brief,
	                                .warmup = 1,
	                                .min_sample_s = SAMPLE_SECONDS,
	                                .timeout_s = TIMEOUT_SECONDS};
	struct trial_result result = {0};
	int failed = runner->run(runner->ctx, &request, &result, err);
	if (!failed)
		failed = item_judge(app, item, &result, err);
	trial_result_clear(&result);
	return failed;
}

enum round { ROUND_ALL, ROUND_DISTURBED, ROUND_UNSTEADY };

static bool is_due(const struct ceiling_item *item, enum round round) {
	return round == ROUND_ALL || (round == ROUND_DISTURBED ? item->disturbed : item->unsteady);
}

static int round_measure(struct app *app, struct plan *plan, const char *name, enum round round, struct err *err) {
	struct runner runner = worker_runner(app_worker(app, NULL));
	for (size_t i = 0; i < plan->count; i++) {
		struct ceiling_item *item = &plan->items[i];
		busy_look(plan->busy);
		if (!is_due(item, round))
			continue;
		if (*app_interrupt(app))
			return err_set(err, ERR_INTERRUPTED, NULL, "interrupted; the ceilings were not saved");
		char text[TEXT];
		ui_progress(app_ui(app), "ceilings  %s, %zu of %zu  %s", name, i + 1, plan->count, item_text(item, text));
		if (item_measure(app, &runner, item, plan, err))
			return -1;
	}
	return 0;
}

/* A small number of samples is measured in a single round. */
static int rounds_measure(struct app *app, struct plan *plan, int samples, struct err *err) {
	int rounds = samples < ROUNDS ? 1 : ROUNDS, failed = 0;
	plan->samples = (samples + rounds - 1) / rounds;
	for (int i = 0; i < rounds && !failed; i++) {
		char name[32];
		snprintf(name, sizeof name, "round %d of %d", i + 1, rounds);
		failed = round_measure(app, plan, name, ROUND_ALL, err);
	}
	for (int i = 0; rounds == ROUNDS && i < AGAIN && !failed; i++)
		failed = round_measure(app, plan, "again", ROUND_DISTURBED, err);
	for (int i = 0; i < STEADY && !failed && ceilings_unsteady(plan->items, plan->count); i++) {
		busy_wait(plan->busy, QUIET_SECONDS, app_interrupt(app));
		failed = round_measure(app, plan, "unsteady", ROUND_UNSTEADY, err);
	}
	return failed;
}

/* A ceiling that is too low is worth less than none: reasons and impossible times would rest on it. */
static void unsteady_drop(struct app *app, struct plan *plan) {
	size_t count = ceilings_unsteady_drop(plan->items, plan->count);
	if (count)
		ui_warn(app_ui(app), "measure them again when the machine is quiet",
		        "%zu of %zu ceilings were left out because they are too low to agree with the others", count,
		        plan->count);
}

/* A ceiling that was measured beside other programs may be too low, so the file says so. */
static void others_mark(struct app *app, struct plan *plan) {
	busy_look(plan->busy);
	js_auto json_t *busy = busy_json(plan->busy);
	if (js_bool_or(busy, "busy", false)) {
		for (size_t i = 0; i < plan->count; i++)
			plan->items[i].disturbed = true;
		ui_warn(app_ui(app), "measure them again when the machine is quiet",
		        "measured on a busy machine, so they may be too low: load %.3g on %lld processors",
		        js_real_or(busy, "load", NAN), (long long)js_int_or(busy, "processors", 0));
	}
}

size_t ceilings_gpu_best(struct ceiling_item *items, size_t count) {
	size_t kept = 0;
	for (size_t i = 0, next; i < count; i = next) {
		size_t best = i;
		for (next = i + 1; next < count && items[i].kind == items[next].kind; next++)
			if (ceiling_better(items[next].kind, items[next].value, items[best].value))
				best = next;
		struct ceiling_item item = items[best];
		bool measured = !isnan(item.value);
		for (size_t k = i; k < next; k++)
			json_decref(items[k].samples);
		item.value = NAN;
		item.samples = NULL;
		item.disturbed = false;
		if (measured)
			items[kept++] = item;
	}
	return kept;
}

/* The best block size does not change from burst to burst, so a brief look at each one is enough before the rounds
 * measure and verify only the best: to bring gigabytes to the host takes far longer than a copy on the GPU. */
static int gpu_measure(struct app *app, struct plan *plan, int samples, struct err *err) {
	plan->samples = samples < LOOK ? samples : LOOK;
	plan->brief = true;
	int failed = round_measure(app, plan, "looking", ROUND_ALL, err);
	plan->samples = samples;
	plan->brief = false;
	if (!failed)
		plan->count = ceilings_gpu_best(plan->items, plan->count);
	failed = failed || round_measure(app, plan, "measuring", ROUND_ALL, err);
	for (int i = 0; i < AGAIN && !failed; i++)
		failed = round_measure(app, plan, "again", ROUND_DISTURBED, err);
	return failed ? -1 : 0;
}

static json_t *item_json(const struct ceiling_item *item) {
	bool gpu = item->device, block = item->block, pair = !gpu && item->kind->group == CEILING_PAIR;
	return json_pack("{s:s,s:s*,s:o*,s:f,s:s,s:O,s:b,s:s*,s:o*,s:o*,s:s*,s:o*,s:o*}", "name", item->kind->name,
	                 "device", gpu ? "cuda" : NULL, "threads", gpu ? NULL : json_integer(item->threads), "value",
	                 item->value, "unit", item->kind->unit, "samples", item->samples, "disturbed", item->disturbed,
	                 "level", item->level, "block", gpu && block ? json_integer(item->block) : NULL, "per_sm",
	                 gpu && block ? json_integer(item->per_sm) : NULL, "stores", item->stores, "from",
	                 pair ? json_integer(item->from) : NULL, "to", pair ? json_integer(item->to) : NULL);
}

/* Keeps the better one of two neighbours that differ only in their kind of store. */
static bool same_ceiling(const struct ceiling_item *a, const struct ceiling_item *b) {
	return a->kind == b->kind && a->level == b->level && a->threads == b->threads && a->from == b->from &&
	       a->to == b->to;
}

static json_t *items_json(const struct ceiling_item *items, size_t count) {
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++) {
		const struct ceiling_item *best = &items[i];
		for (; i + 1 < count && same_ceiling(best, &items[i + 1]); i++)
			if (ceiling_better(best->kind, items[i + 1].value, best->value))
				best = &items[i + 1];
		if (!isnan(best->value))
			json_array_append_new(list, item_json(best));
	}
	return list;
}

/* Turns an empty list into an error. */
static json_t *plan_json(const struct plan *plan, struct err *err) {
	json_t *list = items_json(plan->items, plan->count);
	if (json_array_size(list) > 0)
		return list;
	json_decref(list);
	return err_null(err_set(err, ERR_NOTHING, "run it again with --verbose to see the reasons",
	                        "none of the ceilings could be measured"));
}

static int plan_make(struct app *app, struct plan *plan, struct err *err) {
	struct topo *topo = app_device(app) ? NULL : app_topo(app, err);
	if (app_device(app))
		plan->items = ceilings_gpu_plan(app, &plan->count, err);
	else if (topo)
		plan->items = ceilings_plan(topo, sys_memory_total(), &plan->count);
	return plan->items ? 0 : -1;
}

json_t *ceilings_measure(struct app *app, int samples, struct err *err) {
	struct plan plan = {0};
	if (!app_worker(app, err) || plan_make(app, &plan, err))
		return NULL;
	plan.busy = busy_new();
	int lock = lock_take(app_ui(app), app_interrupt(app), err);
	json_t *list = NULL;
	if (lock >= 0) {
		int failed = app_device(app) ? gpu_measure(app, &plan, samples, err) : rounds_measure(app, &plan, samples, err);
		ui_progress_end(app_ui(app));
		lock_release(lock);
		if (!failed && !app_device(app)) {
			unsteady_drop(app, &plan);
			others_mark(app, &plan);
		}
		list = failed ? NULL : plan_json(&plan, err);
	}
	for (size_t i = 0; i < plan.count; i++)
		json_decref(plan.items[i].samples);
	busy_free(plan.busy);
	free(plan.items);
	return list;
}
