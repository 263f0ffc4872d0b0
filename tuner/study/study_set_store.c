/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/study/study.h"

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
