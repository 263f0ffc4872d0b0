/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/race/deviation.h"
#include "tuner/race/unsafe.h"
#include "tuner/study/study_impl.h"

/* The smallest deviation of the logarithm of a row's time, because machines do not repeat themselves better than this
 * from one trial to the next. */
static const double DEVIATION_LEAST = 0.005;
static const double NOISE_LEAST = 0.01;

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

void study_rate(struct study *study, const char *name, double scale) {
	free(study->rate);
	/* "Throughput (Kops/s)" is a number of Kops/s. */
	const char *unit = strpbrk(name, "([");
	size_t length = unit ? strcspn(unit + 1, ")]") : 0;
	study->rate = length ? mem_printf("%.*s", (int)length, unit + 1) : mem_strdup(name);
	study->rate_scale = scale;
}

bool study_is_rate(const struct study *study) {
	return study->rate != NULL;
}

void study_unitless(struct study *study) {
	study->unitless = true;
}

/* Small times in a smaller unit: 120 us rather than 0.00012 s. */
static void seconds_text(double seconds, char *text, size_t size) {
	static const char *const units[] = {"s", "ms", "us", "ns"};
	size_t unit = 0;
	for (; seconds < 0.01 && seconds > 0 && unit + 1 < sizeof units / sizeof *units; unit++)
		seconds *= 1000;
	snprintf(text, size, seconds < 999.5 ? "%.3g %s" : "%.0f %s", seconds, units[unit]);
}

const char *study_rate_text(double rate, char *text, size_t size) {
	double step = pow(10, floor(log10(rate)) - 3);
	bool long_hand = rate >= 1e4 && rate < 1e7;
	snprintf(text, size, long_hand ? "%.0f" : "%.4g", long_hand ? step * round(rate / step) : rate);
	return text;
}

const char *study_value_text(const struct study *study, double value, char *text, size_t size) {
	char rate[48];
	if (study->rate)
		snprintf(text, size, "%s %.60s", study_rate_text(1 / value / study->rate_scale, rate, sizeof rate),
		         study->rate);
	else if (study->unitless)
		snprintf(text, size, "%.3g", value);
	else
		seconds_text(value, text, size);
	return text;
}

void study_recommend(struct study *study, const json_t *problem, const json_t *winner, const json_t *baseline) {
	json_decref(study->named.winner_problem);
	json_decref(study->named.winner_config);
	json_decref(study->named.baseline_config);
	study->named.winner_problem = json_deep_copy(problem);
	study->named.winner_config = json_deep_copy(winner);
	study->named.baseline_config = json_deep_copy(baseline);
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

static double row_deviation(const struct gathered *one) {
	double deviation = one->value_count > 2 ? deviation_of_median(one->values, one->value_count)
	                                        : deviation_of_median(one->samples, one->sample_count);
	return isfinite(deviation) && deviation > DEVIATION_LEAST ? deviation : DEVIATION_LEAST;
}

static void row_make(struct study_row *row, const struct gathered *one) {
	*row = (struct study_row){.value = stats_median(one->values, one->value_count),
	                          .deviation = row_deviation(one),
	                          .over = one->grade == GRADE_OVER,
	                          .trials = one->trials,
	                          .samples = one->samples,
	                          .sample_count = one->sample_count,
	                          .problem = one->problem,
	                          .config = one->config,
	                          .detail = one->detail,
	                          .counted = one->counted};
}

static size_t row_named(const struct study *study, const json_t *problem, const json_t *config) {
	for (size_t i = 0; i < study->row_count && config; i++)
		if (json_equal(study->rows[i].config, config) && json_equal(study->rows[i].problem, problem))
			return i;
	return SIZE_MAX;
}

bool study_row_safe(const struct study_row *row) {
	return !row->over && !row->doubted && !js_bool_or(row->detail, "unsafe", false) &&
	       !unsafe_is_unguarded(row->config);
}

/* The fastest safe configuration, for the problem that was measured in most configurations. */
static size_t row_least(const struct study *study) {
	struct study_order order = {.study = study};
	size_t *rows = mem_alloc(study->row_count + 1, sizeof *rows), best = SIZE_MAX, most = 0, end;
	for (size_t c = 0; c < study->column_count; c++)
		order.skip[c] = !study->columns[c].is_problem;
	for (size_t i = 0; i < study->row_count; i++)
		rows[i] = i;
	study_order_sort(&order, rows, study->row_count, SIZE_MAX);
	for (size_t i = 0; i < study->row_count; i = end) {
		size_t least = SIZE_MAX;
		for (end = i; end < study->row_count && study_order_compare(&order, rows[i], rows[end]) == 0; end++)
			if (study_row_safe(&study->rows[rows[end]]) &&
			    (least == SIZE_MAX || study->rows[rows[end]].value < study->rows[least].value))
				least = rows[end];
		if (least != SIZE_MAX && end - i > most) {
			most = end - i;
			best = least;
		}
	}
	free(rows);
	return best;
}

void study_limit(struct study *study, size_t rows) {
	study->limit = rows;
}

/* NULL if there are none. */
static const struct study_fact *facts_of(struct study *study, const json_t *list) {
	size_t i;
	json_t *one;
	if (json_array_size(list) == 0)
		return NULL;
	struct study_fact *facts = arena_alloc(study->arena, json_array_size(list) + 1, sizeof *facts);
	json_array_foreach((json_t *)list, i, one) {
		facts[i] = (struct study_fact){js_string_or(one, "name", ""), js_real_or(one, "value", NAN)};
	}
	facts[i] = (struct study_fact){NULL, NAN};
	return facts;
}

/* Rows have the same counters in the same order, as a rule. */
static void names_gather(struct study *study, const struct study_fact *facts) {
	enum { STEP = 64 };
	for (size_t i = 0; facts && facts[i].name; i++) {
		if ((i < study->counted_count && strcmp(study->counted[i], facts[i].name) == 0) ||
		    study_counts(study, facts[i].name))
			continue;
		if (study->counted_count % STEP == 0) {
			const char **more = arena_alloc(study->arena, study->counted_count + STEP, sizeof *more);
			if (study->counted_count)
				memcpy(more, study->counted, study->counted_count * sizeof *more);
			study->counted = more;
		}
		study->counted[study->counted_count++] = facts[i].name;
	}
}

/* of the rows that stay */
static void study_facts_make(struct study *study) {
	for (size_t r = 0; r < study->row_count; r++) {
		struct study_row *row = &study->rows[r];
		const json_t *metrics = json_object_get(row->counted, "metrics");
		row->figures = facts_of(study, json_object_get(row->detail, "figures"));
		row->counters = facts_of(study, json_object_get(row->counted, "counters"));
		names_gather(study, row->counters);
		row->metrics =
			facts_of(study, metrics ? metrics : json_object_get(json_object_get(row->counted, "counting"), "metrics"));
	}
}

void study_finish(struct study *study) {
	study_drift(study);
	study->rows = arena_alloc(study->arena, study->gathering.count + 1, sizeof *study->rows);
	for (size_t i = 0; i < study->gathering.count; i++)
		if (study->gathering.rows[i].value_count)
			row_make(&study->rows[study->row_count++], &study->gathering.rows[i]);
	if (study->limit)
		study_columns_make(study);
	study_thin(study, row_named(study, study->named.winner_problem, study->named.winner_config),
	           row_named(study, study->named.winner_problem, study->named.baseline_config));
	if (!study->limit)
		study_columns_make(study);
	study_facts_make(study);
	study->winner = row_named(study, study->named.winner_problem, study->named.winner_config);
	study->baseline = row_named(study, study->named.winner_problem, study->named.baseline_config);
	if (study->winner == SIZE_MAX)
		study->winner = row_least(study);
}

void study_doubt(struct study *study, size_t row) {
	bool tuned = row_named(study, study->named.winner_problem, study->named.winner_config) != SIZE_MAX;
	study->rows[row].doubted = true;
	if (!tuned)
		study->winner = row_least(study);
}

bool study_usable(const struct study *study, size_t row) {
	return study_row_safe(&study->rows[row]);
}

const char *study_kernel(const struct study *study) {
	return study->kernel;
}

const char *study_device(const struct study *study) {
	return study->device;
}

size_t study_rows(const struct study *study) {
	return study->row_count;
}

const struct study_row *study_row(const struct study *study, size_t row) {
	return &study->rows[row];
}

int study_by_value(const void *a, const void *b, void *study) {
	double x = study_row(study, *(const size_t *)a)->value, y = study_row(study, *(const size_t *)b)->value;
	return (x > y) - (x < y);
}

size_t study_winner(const struct study *study) {
	return study->winner;
}

size_t study_baseline(const struct study *study) {
	return study->baseline;
}

size_t study_left_out(const struct study *study) {
	return study->left_out;
}

size_t study_failures(const struct study *study) {
	return study->failures;
}

double study_noise(const struct study *study) {
	return study->noise > NOISE_LEAST ? study->noise : NOISE_LEAST;
}

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
						 *const parts[] = {"functions", "lines"}; /* of what was counted */

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
