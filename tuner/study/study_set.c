/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/hash.h"
#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/race/unsafe.h"
#include "tuner/study/study_impl.h"

/* Merges trials of the same configuration on the same problem. */

struct study_set {
	struct study_item **items; /* allocated one by one, because pointers to them are handed out */
	char **keys;
	size_t count, room;
	char *objective;
	json_t *assumed; /* the machine of everything that is added; NULL: as each file says */
};

static size_t *slot_find(const struct study *study, const char *key) {
	size_t i = hash_text(key) & (study->gathering.slot_count - 1);
	while (study->gathering.slots[i] && strcmp(study->gathering.rows[study->gathering.slots[i] - 1].key, key) != 0)
		i = (i + 1) & (study->gathering.slot_count - 1);
	return &study->gathering.slots[i];
}

static void slots_grow(struct study *study) {
	study->gathering.slot_count = study->gathering.slot_count ? 4 * study->gathering.slot_count : 64;
	free(study->gathering.slots);
	study->gathering.slots = mem_alloc(study->gathering.slot_count, sizeof *study->gathering.slots);
	for (size_t i = 0; i < study->gathering.count; i++)
		*slot_find(study, study->gathering.rows[i].key) = i + 1;
}

/* Skips a quoted text without escapes; NULL for anything else. */
static const char *plain_word(const char *at) {
	if (*at++ != '"')
		return NULL;
	while (*at >= ' ' && *at < 127 && *at != '"' && *at != '\\')
		at++;
	return *at == '"' ? at + 1 : NULL;
}

/* Skips a word, a whole number, true or false in canonical form. */
static const char *plain_value(const char *at) {
	if (*at == '"')
		return plain_word(at);
	if (strncmp(at, "true", 4) == 0 || strncmp(at, "false", 5) == 0)
		return at + (*at == 't' ? 4 : 5);
	const char *digits = at + (*at == '-');
	size_t count = strspn(digits, "0123456789");
	return count && count <= 18 && (*digits != '0' || (count == 1 && digits == at)) ? digits + count : NULL;
}

static bool ascends(const char *a, const char *b) {
	size_t x = (size_t)(strchr(a + 1, '"') - a), y = (size_t)(strchr(b + 1, '"') - b);
	int order = memcmp(a, b, x < y ? x : y);
	return order < 0 || (order == 0 && x < y);
}

/* Is it certain that js_canonical would not change this text? Parsing each trial of a large store would take most of
 * the time. */
static bool is_canonical(const char *text) {
	const char *at = text, *last = NULL;
	if (*at != '{')
		return false;
	if (strcmp(at, "{}") == 0)
		return true;
	do {
		const char *key = at + 1;
		at = plain_word(key);
		if (!at || *at != ':' || (last && !ascends(last, key)) || !(at = plain_value(at + 1)))
			return false;
		last = key;
	} while (*at == ',');
	return strcmp(at, "}") == 0;
}

static const char *problem_text(struct study *study, const json_t *problem) {
	if (study->last_problem == problem)
		return study->last_text;
	json_decref(study->last_problem);
	free(study->last_text);
	study->last_problem = json_incref((json_t *)problem);
	study->last_text = js_canonical(problem);
	return study->last_text;
}

/* config_text: canonical. */
static char *key_of(struct study *study, const json_t *problem, const char *config_text) {
	return mem_printf("[%s,%s]", problem_text(study, problem), config_text);
}

static char *trial_key(struct study *study, const struct study_trial *trial) {
	if (trial->config_text && is_canonical(trial->config_text))
		return key_of(study, trial->problem, trial->config_text);
	mem_auto char *text = js_canonical(trial->config);
	return key_of(study, trial->problem, text);
}

/* A configuration that was added before with this text, or NULL; borrowed. */
static json_t *study_config(struct study *study, const json_t *problem, const char *config_text) {
	if (!json_is_object(problem) || !study->gathering.slot_count || !is_canonical(config_text))
		return NULL;
	mem_auto char *key = key_of(study, problem, config_text);
	const size_t *slot = slot_find(study, key);
	return *slot ? study->gathering.rows[*slot - 1].config : NULL;
}

static struct gathered *study_gather(struct study *study, const struct study_trial *trial) {
	if (2 * (study->gathering.count + 1) > study->gathering.slot_count)
		slots_grow(study);
	char *key = trial_key(study, trial);
	size_t *slot = slot_find(study, key);
	if (*slot) {
		free(key);
		return &study->gathering.rows[*slot - 1];
	}
	study->gathering.rows =
		mem_room(study->gathering.rows, study->gathering.count, &study->gathering.room, sizeof *study->gathering.rows);
	struct gathered *one = &study->gathering.rows[study->gathering.count++];
	*one = (struct gathered){
		.key = key, .problem = json_incref((json_t *)trial->problem), .config = json_incref((json_t *)trial->config)};
	*slot = study->gathering.count;
	return one;
}

struct study *study_new(const char *kernel, const char *device) {
	struct study *study = mem_alloc(1, sizeof *study);
	study->kernel = mem_strdup(kernel);
	study->device = mem_strdup(device);
	study->arena = arena_new();
	study->noise = NAN;
	study->winner = study->baseline = SIZE_MAX;
	return study;
}

static void gathered_clear(struct gathered *one) {
	free(one->key);
	json_decref(one->problem);
	json_decref(one->config);
	json_decref(one->detail);
	json_decref(one->counted);
	free(one->values);
	free(one->samples);
}

void study_free(struct study *study) {
	if (!study)
		return;
	for (size_t i = 0; i < study->gathering.count; i++)
		gathered_clear(&study->gathering.rows[i]);
	free(study->gathering.rows);
	free(study->gathering.slots);
	json_decref(study->last_problem);
	free(study->last_text);
	json_decref(study->machine);
	json_decref(study->ceilings);
	json_decref(study->named.winner_problem);
	json_decref(study->named.winner_config);
	json_decref(study->named.baseline_config);
	free(study->rate);
	free(study->kernel);
	free(study->device);
	arena_free(study->arena);
	free(study);
}

static enum grade grade_of(const struct study_trial *trial) {
	const char *phase = trial->phase ? trial->phase : "";
	if (strcmp(phase, "counters") == 0 || strcmp(phase, "between") == 0 || strcmp(phase, "bridge") == 0)
		return GRADE_NONE; /* the latter two belong to another problem */
	if (strcmp(trial->status, "censored") == 0)
		return trial->sample_count ? GRADE_SHORT : GRADE_OVER;
	if (trial->disturbed)
		return GRADE_DISTURBED;
	bool in_blocks = strcmp(phase, "race") == 0 || strcmp(phase, "duel") == 0 || strcmp(phase, "ablation") == 0;
	return in_blocks ? GRADE_DUEL : GRADE_SEARCH;
}

static void numbers_add(double **numbers, size_t *count, const double *more, size_t more_count) {
	*numbers = mem_grow(*numbers, *count + more_count + 1, sizeof **numbers);
	for (size_t i = 0; i < more_count; i++)
		if (more[i] > 0 && isfinite(more[i]))
			(*numbers)[(*count)++] = more[i];
}

static void times_add(struct gathered *one, const struct study_trial *trial, enum grade grade) {
	if (grade == GRADE_SEARCH) {
		one->searched_log += log(trial->value);
		one->searched_count++;
	}
	if (grade < one->grade || grade == GRADE_NONE)
		return;
	if (grade > one->grade)
		one->value_count = one->sample_count = one->trials = 0;
	one->grade = grade;
	one->trials++;
	/* A trial that was cut short after a sample or two took as long as these. */
	double value = grade == GRADE_SHORT ? stats_median(trial->samples, trial->sample_count) : trial->value;
	numbers_add(&one->values, &one->value_count, &value, 1);
	numbers_add(&one->samples, &one->sample_count, trial->samples, trial->samples ? trial->sample_count : 0);
}

static void detail_add(struct gathered *one, const struct study_trial *trial) {
	if (!json_is_object(trial->detail))
		return;
	if (json_object_size(trial->detail) > json_object_size(one->detail)) {
		json_decref(one->detail);
		one->detail = json_incref((json_t *)trial->detail);
		one->detail_value = grade_of(trial) == GRADE_NONE ? trial->value : NAN;
	}
	if (json_array_size(json_object_get(trial->detail, "counters"))) {
		json_decref(one->counted);
		one->counted = json_incref((json_t *)trial->detail);
	}
}

bool study_add(struct study *study, const struct study_trial *trial) {
	bool correct = strcmp(trial->status, "correct") == 0, over = strcmp(trial->status, "censored") == 0;
	if (!json_is_object(trial->config) || !json_is_object(trial->problem))
		return false;
	if (!correct && !over) {
		study->failures++;
		return true;
	}
	if (!(trial->value > 0) || !isfinite(trial->value))
		return false;
	struct gathered *one = study_gather(study, trial);
	times_add(one, trial, grade_of(trial));
	detail_add(one, trial);
	one->newest = ++study->added;
	return true;
}

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
static char *item_key(const char *kernel, const char *device, const json_t *machine) {
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
	char *key = item_key(kernel, device, machine);
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
	mem_auto double *x = mem_alloc(count + 1, sizeof *x);
	for (size_t i = 0; i < count; i++)
		x[i] = json_number_value(json_array_get(samples, i));
	return count ? stats_median(x, count) : NAN;
}

static const char *const told[] = {"work",     "figures", "gpu",      "noise",   "placement",
                                   "energy_j", "unsafe",  "counters", "metrics", "usage"},
						 *const parts[] = {"functions", "lines"}; /* among what was counted */

json_t *study_detail(const json_t *reply) {
	json_t *metrics = json_object_get(json_object_get(reply, "counting"), "metrics");
	js_auto json_t *detail = json_object();
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
	return json_object_size(detail) ? json_incref(detail) : NULL;
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
	js_auto json_t *plan = NULL;
	if (strcmp(found->strategy, "probe") != 0)
		return 0;
	if (store_plan_get(reading->store, found->search, &plan, reading->err))
		return -1;
	if (json_is_array(json_object_get(plan, "probes"))) {
		reading->item->probes = reading->item->probes ? reading->item->probes : json_array();
		json_array_append(reading->item->probes, plan);
	}
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
