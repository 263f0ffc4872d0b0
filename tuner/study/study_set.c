/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/study/study.h"

struct study_set {
	struct study_item **items; /* allocated one by one, because pointers to them are handed out */
	char **keys;
	size_t count, room;
	char *objective;
	json_t *assumed; /* the machine of everything that is added; NULL: as each file says */
};

struct study_set *study_set_new(const char *objective) {
	struct study_set *set = mem_alloc(1, sizeof *set);
	set->objective = mem_strdup(objective);
	return set;
}

static void item_free(struct study_item *item) {
	study_free(item->study);
	json_decref(item->machine);
	json_decref(item->ceilings);
	json_decref(item->tunes);
	json_decref(item->probes);
	free(item->source);
	json_decref(item->table);
	json_decref(item->producer);
	json_decref(item->failed);
	free(item->kernel);
	free(item->device);
	free(item);
}

void study_set_free(struct study_set *set) {
	if (!set)
		return;
	for (size_t i = 0; i < set->count; i++) {
		item_free(set->items[i]);
		free(set->keys[i]);
	}
	free(set->items);
	free(set->keys);
	json_decref(set->assumed);
	free(set->objective);
	free(set);
}

void study_set_assume(struct study_set *set, const json_t *machine) {
	json_decref(set->assumed);
	set->assumed = machine ? json_deep_copy(machine) : NULL;
}

size_t study_set_count(const struct study_set *set) {
	return set->count;
}

struct study_item *study_set_at(const struct study_set *set, size_t i) {
	return set->items[i];
}

const char *study_set_objective(const struct study_set *set) {
	return set->objective;
}

/* Machines are distinguished by their fingerprint or, if they lack one, by their whole description. */
static char *key_of(const char *kernel, const char *device, const json_t *machine) {
	const char *fingerprint = js_string_or(machine, "fingerprint", NULL);
	mem_auto char *all = fingerprint ? mem_strdup(fingerprint) : js_canonical(machine);
	js_auto json_t *parts = json_pack("[s,s,s]", kernel, device, all ? all : "");
	return js_canonical(parts);
}

static struct study_item *item_new(const char *kernel, const char *device, const json_t *machine) {
	struct study_item *item = mem_alloc(1, sizeof *item);
	item->study = study_new(kernel, device);
	item->kernel = mem_strdup(kernel);
	item->device = mem_strdup(device);
	item->machine = machine ? json_incref((json_t *)machine) : NULL;
	item->tunes = json_array();
	item->failed = json_array();
	item->noise = NAN;
	return item;
}

static void grow(struct study_set *set) {
	if (set->count < set->room)
		return;
	set->room = set->room ? 2 * set->room : 8;
	set->items = mem_grow(set->items, set->room, sizeof *set->items);
	set->keys = mem_grow(set->keys, set->room, sizeof *set->keys);
}

struct study_item *study_set_item(struct study_set *set, const char *kernel, const char *device,
                                  const json_t *machine) {
	machine = set->assumed ? set->assumed : machine;
	char *key = key_of(kernel, device, machine);
	for (size_t i = 0; i < set->count; i++) {
		if (strcmp(set->keys[i], key) == 0) {
			free(key);
			return set->items[i];
		}
	}
	grow(set);
	set->keys[set->count] = key;
	set->items[set->count] = item_new(kernel, device, machine);
	return set->items[set->count++];
}

bool study_set_add(struct study_item *item, const struct study_trial *trial) {
	bool added = study_add(item->study, trial);
	item->trials += added;
	if (strcmp(trial->status, "correct") != 0 && strcmp(trial->status, "censored") != 0)
		json_array_append(item->failed, (json_t *)trial->config);
	return added;
}

static double median_of(const json_t *samples) {
	size_t count = json_array_size(samples);
	double *x = mem_alloc(count + 1, sizeof *x), median;
	for (size_t i = 0; i < count; i++)
		x[i] = json_number_value(json_array_get(samples, i));
	median = count ? stats_median(x, count) : NAN;
	free(x);
	return median;
}

static const char *const told[] = {"work",     "figures", "gpu",      "noise",  "placement",
                                   "energy_j", "unsafe",  "counters", "metrics"},
						 *const parts[] = {"functions", "lines"}; /* among what was counted */

json_t *study_detail(const json_t *reply) {
	json_t *detail = json_object(), *metrics = json_object_get(json_object_get(reply, "counting"), "metrics");
	for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
		json_t *member = json_object_get(reply, told[i]);
		if (member)
			json_object_set(detail, told[i], member);
	}
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		json_t *part = json_object_get(json_object_get(reply, "counting"), parts[i]);
		if (json_is_array(part))
			json_object_set(detail, parts[i], part);
	}
	if (json_object_get(reply, "energy_j"))
		json_object_set_new(detail, "seconds", js_number(median_of(json_object_get(reply, "samples"))));
	if (metrics && !json_object_get(detail, "metrics"))
		json_object_set(detail, "metrics", metrics);
	if (json_object_size(detail))
		return detail;
	json_decref(detail);
	return NULL;
}

struct reading {
	struct study_set *set;
	struct store *store;
	const char *device;
	const struct study_choice *choice;
	struct study_item *item; /* of the current search */
	json_t *problem;
	struct err *err;
	int failed;
};

/* New reference, or NULL. */
static json_t *detail_of(const struct reading *reading, const json_t *reply, const json_t *config) {
	const struct study_choice *choice = reading->choice;
	json_t *detail = study_detail(reply);
	if (config && choice->unsafe && choice->unsafe(choice->ctx, reading->item->kernel, reading->problem, config)) {
		detail = detail ? detail : json_object();
		json_object_set_new(detail, "unsafe", json_true());
	}
	return detail;
}

static int on_trial(void *ctx, const struct store_trial *stored) {
	const struct reading *reading = ctx;
	json_t *known = study_config(reading->item->study, reading->problem, stored->config);
	js_auto json_t *config =
		known ? json_incref(known) : js_parse(stored->config, strlen(stored->config), "a trial's configuration", NULL);
	js_auto json_t *detail = detail_of(reading, stored->detail, config);
	const struct study_trial trial = {.problem = reading->problem,
	                                  .config = config,
	                                  .config_text = stored->config,
	                                  .phase = stored->phase,
	                                  .status = stored->status,
	                                  .value = stored->value,
	                                  .samples = stored->samples,
	                                  .sample_count = stored->sample_count,
	                                  .disturbed = stored->disturbed,
	                                  .detail = detail};
	if (config)
		study_set_add(reading->item, &trial);
	return 0;
}

static void result_keep(struct study_item *item, const struct store_row *found) {
	if (json_is_object(json_object_get(found->result, "best")))
		json_array_append(item->tunes, (json_t *)found->result);
	free(item->source);
	item->source = mem_strdup(found->source);
	double noise = js_real_or(found->result, "noise_floor", found->noise_floor);
	if (noise >= 0)
		item->noise = noise;
}

/* The verdicts of `explain --probe` stand in the place of a plan, because they are no result to recommend. */
static int probes_keep(const struct reading *reading, const struct store_row *found) {
	json_t *plan = NULL;
	if (strcmp(found->strategy, "probe") != 0)
		return 0;
	if (store_plan_get(reading->store, found->search, &plan, reading->err))
		return -1;
	if (json_is_array(json_object_get(plan, "probes"))) {
		reading->item->probes = reading->item->probes ? reading->item->probes : json_array();
		json_array_append(reading->item->probes, plan);
	}
	json_decref(plan);
	return 0;
}

static int on_search(void *ctx, const struct store_row *found) {
	struct reading *reading = ctx;
	if (strcmp(found->objective, study_set_objective(reading->set)) != 0 ||
	    !reading->choice->wanted(reading->choice->ctx, found->kernel, found->source))
		return 0;
	reading->problem = js_parse(found->problem, strlen(found->problem), "a search's problem", reading->err);
	if (!reading->problem)
		return reading->failed = 1;
	reading->item = study_set_item(reading->set, found->kernel, reading->device, NULL);
	result_keep(reading->item, found);
	reading->failed = probes_keep(reading, found) ||
	                  store_trials_each(reading->store, found->search, NULL, on_trial, reading, reading->err);
	json_decref(reading->problem);
	return reading->failed;
}

int study_set_store(struct study_set *set, struct store *store, const char *fingerprint, const char *device,
                    const struct study_choice *choice, struct err *err) {
	struct store_filter own = {.fingerprint = fingerprint};
	struct reading reading = {.set = set, .store = store, .device = device, .choice = choice, .err = err};
	const char *const *kernel = choice->kernels;
	do {
		own.kernel = kernel ? *kernel : NULL;
		if (store_each(store, STORE_SEARCHES, &own, on_search, &reading, err) || reading.failed)
			return -1;
	} while (own.kernel && *++kernel);
	return 0;
}
