/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/hash.h"
#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/race/deviation.h"
#include "tuner/race/unsafe.h"
#include "tuner/study/study_impl.h"

/* Merges trials of the same configuration on the same problem. */

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
	char *text = js_canonical(trial->config), *key = key_of(study, trial->problem, text);
	free(text);
	return key;
}

json_t *study_config(struct study *study, const json_t *problem, const char *config_text) {
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

/* If the machine became slower or faster between the search and the race, the finalists, for which the race counts,
 * would look worse or better than configurations that were only searched. The ratio of configurations that were
 * measured in both corrects this. */

enum { BOTH_MIN = 3 };
/* A smaller shift may only mean that the finalists were lucky in the search. */
static const double SHIFT_MIN = 0.05;

static bool is_both(const struct gathered *one) {
	return one->grade == GRADE_DUEL && one->searched_count && one->value_count;
}

/* The logarithm of how much longer a configuration of this problem takes in races and duels; 0: unknown. */
static double shift_of(const struct study *study, const json_t *problem, double *shifts) {
	size_t count = 0;
	for (size_t i = 0; i < study->gathering.count; i++) {
		const struct gathered *one = &study->gathering.rows[i];
		if (is_both(one) && json_equal(one->problem, problem))
			shifts[count++] =
				log(stats_median(one->values, one->value_count)) - one->searched_log / (double)one->searched_count;
	}
	double shift = count < BOTH_MIN ? 0 : stats_median(shifts, count);
	return fabs(shift) < SHIFT_MIN ? 0 : shift;
}

static void scale(struct gathered *one, double factor) {
	for (size_t i = 0; i < one->value_count; i++)
		one->values[i] *= factor;
	for (size_t i = 0; i < one->sample_count; i++)
		one->samples[i] *= factor;
}

static bool is_first(const struct study *study, size_t at) {
	for (size_t i = 0; i < at; i++)
		if (is_both(&study->gathering.rows[i]) &&
		    json_equal(study->gathering.rows[i].problem, study->gathering.rows[at].problem))
			return false;
	return true;
}

static void study_drift(struct study *study) {
	double *shifts = mem_alloc(study->gathering.count + 1, sizeof *shifts);
	for (size_t at = 0; at < study->gathering.count; at++) {
		if (!is_both(&study->gathering.rows[at]) || !is_first(study, at))
			continue;
		double factor = exp(shift_of(study, study->gathering.rows[at].problem, shifts));
		for (size_t i = 0; i < study->gathering.count && factor != 1; i++)
			if (study->gathering.rows[i].grade != GRADE_DUEL &&
			    json_equal(study->gathering.rows[i].problem, study->gathering.rows[at].problem))
				scale(&study->gathering.rows[i], factor);
	}
	free(shifts);
}

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
