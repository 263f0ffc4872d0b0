/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the JSON of `sweep`, `tune`, `run` and `compare`. */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/value.h"
#include "tuner/study/study_set.h"
#include "tuner/trial/trial.h"

enum {
	ROWS_MAX = 100000,
	SAMPLES_MAX = 100000,
	MEMBERS_MAX = STUDY_COLUMNS_MAX,
	NAME_MAX_BYTES = 200,
	DEVICE_MAX_BYTES = 64
};
static const double SECONDS_MAX = 1e9;

static int settings_check(const json_t *row, const char *key, struct err *err) {
	json_t *object, *member;
	const char *name;
	struct value value;
	if (js_object(row, key, &object, err))
		return -1;
	if (json_object_size(object) > MEMBERS_MAX)
		return err_set(err, ERR_USAGE, NULL, "\"%s\" has more than %d members", key, MEMBERS_MAX);
	json_object_foreach(object, name, member) {
		bool fine = value_from_json(member, &value) && *name && strlen(name) <= NAME_MAX_BYTES;
		if (!fine || (value.type == VALUE_REAL && !isfinite(value.as.r)))
			return err_set(err, ERR_USAGE, NULL, "\"%s\": \"%.40s\" is neither a number nor a word", key, name);
	}
	return 0;
}

/* Reads the numbers of a list, which may be absent; the caller frees them. */
static int samples_read(const json_t *row, double **samples, size_t *count, struct err *err) {
	json_t *list = json_object_get(row, "samples"), *sample;
	size_t i;
	*count = 0;
	*samples = NULL;
	if (!list || json_is_null(list))
		return 0;
	if (js_array(row, "samples", SAMPLES_MAX, &list, err))
		return -1;
	*samples = mem_alloc(json_array_size(list) + 1, sizeof **samples);
	json_array_foreach(list, i, sample) {
		double seconds = json_is_number(sample) ? json_number_value(sample) : NAN;
		if (!(seconds > 0) || seconds > SECONDS_MAX)
			return err_set(err, ERR_USAGE, NULL, "sample %zu is not a positive number", i);
		(*samples)[(*count)++] = seconds;
	}
	return 0;
}

static int status_check(const char *word, struct err *err) {
	enum trial_status status;
	return trial_status_find(word, &status)
	           ? 0
	           : err_set(err, ERR_USAGE, NULL, "\"%.40s\" is not a status of a trial", word);
}

/* Adds a row of the document; `problem` if the row does not have its own. */
static int row_add(struct study_item *item, const json_t *problem, const json_t *row, const char *phase,
                   struct err *err) {
	struct study_trial trial = {.problem = problem,
	                            .config = json_object_get(row, "config"),
	                            .phase = phase,
	                            .status = js_string_or(row, "status", "correct"),
	                            .disturbed = js_bool_or(row, "disturbed", false)};
	double *samples;
	if (settings_check(row, "config", err) || status_check(trial.status, err))
		return -1;
	bool timed = strcmp(trial.status, "correct") == 0 || strcmp(trial.status, "censored") == 0;
	if (timed && (js_real(row, "median", 0, SECONDS_MAX, &trial.value, err) || !(trial.value > 0)))
		return err_set(err, ERR_USAGE, NULL, "\"median\" is not a positive number");
	int failed = samples_read(row, &samples, &trial.sample_count, err);
	json_t *detail = study_detail(row);
	trial.samples = samples;
	trial.detail = detail;
	if (!failed)
		study_set_add(item, &trial);
	json_decref(detail);
	free(samples);
	return failed;
}

static int sweep_rows_read(struct study_item *item, const json_t *document, const char *key, struct err *err) {
	json_t *rows, *row;
	size_t i;
	if (js_array(document, key, ROWS_MAX, &rows, err))
		return -1;
	json_array_foreach(rows, i, row) {
		if (settings_check(row, "problem", err) || row_add(item, json_object_get(row, "problem"), row, "sweep", err))
			return err_prefix(err, "%s %zu", strcmp(key, "rows") == 0 ? "row" : key, i);
	}
	return 0;
}

static int sweep_read(struct study_item *item, const json_t *document, struct err *err) {
	if (sweep_rows_read(item, document, "rows", err))
		return -1;
	return json_object_get(document, "serials") ? sweep_rows_read(item, document, "serials", err) : 0;
}

static int run_read(struct study_item *item, const json_t *document, struct err *err) {
	if (settings_check(document, "problem", err))
		return -1;
	return row_add(item, json_object_get(document, "problem"), document, "sweep", err);
}

static int compare_read(struct study_item *item, const json_t *document, struct err *err) {
	static const char *const sides[] = {"a", "b"};
	for (size_t i = 0; i < 2; i++) {
		json_t *side;
		if (settings_check(document, "problem", err) || js_object(document, sides[i], &side, err))
			return -1;
		if (row_add(item, json_object_get(document, "problem"), side, "duel", err))
			return err_prefix(err, "\"%s\"", sides[i]);
	}
	return 0;
}

/* Ignores a setup that is absent or lacks a median. */
static int setup_add(struct study_item *item, const json_t *result, const json_t *setup, const char *phase,
                     struct err *err) {
	if (!json_is_object(setup) || !json_is_number(json_object_get(setup, "median")))
		return 0;
	return row_add(item, json_object_get(result, "problem"), setup, phase, err);
}

/* Reads the configurations in a search's document: those of the duel, and the finalists. */
static int tuned_read(struct study_item *item, const json_t *result, struct err *err) {
	const char *phase = js_string_or(result, "verdict", "undecided");
	json_t *baseline = json_object_get(result, "baseline"), *best = json_object_get(result, "best"), *finalist;
	size_t i;
	phase = strcmp(phase, "undecided") == 0 ? "search" : "duel";
	if (settings_check(result, "problem", err) || setup_add(item, result, baseline, phase, err) ||
	    setup_add(item, result, best, phase, err))
		return -1;
	json_array_foreach(json_object_get(result, "finalists"), i, finalist) {
		if (i >= ROWS_MAX || setup_add(item, result, finalist, "race", err))
			return -1;
	}
	if (json_is_object(baseline) && json_is_object(best))
		json_array_append(item->tunes, (json_t *)result);
	return 0;
}

static bool is_device(const char *word) {
	static const char *const words[] = {"cpu", "cuda", "hip", "opencl"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	if (strncmp(word, "opencl:", 7) == 0) /* a number or a part of a name */
		return word[7] && strlen(word) < DEVICE_MAX_BYTES;
	const char *number = strncmp(word, "cuda:", 5) == 0 ? word + 5 : strncmp(word, "hip:", 4) == 0 ? word + 4 : "";
	size_t digits = strspn(number, "0123456789");
	return digits > 0 && digits < 4 && number[digits] == '\0';
}

static struct study_item *item_of(struct study_set *set, const json_t *whole, const json_t *part, struct err *err) {
	const char *kernel, *device = js_string_or(part, "device", "cpu");
	if (js_string(part, "kernel", &kernel, err))
		return NULL;
	if (!*kernel || strlen(kernel) > NAME_MAX_BYTES) {
		err_set(err, ERR_USAGE, NULL, "\"kernel\" is not a name");
		return NULL;
	}
	if (!is_device(device)) {
		err_set(err, ERR_USAGE, NULL, "\"%.40s\" is not a device", device);
		return NULL;
	}
	json_t *machine = json_object_get(whole, "machine"), *ceilings = json_object_get(whole, "ceilings");
	bool known = json_object_size(machine) && study_machine_check(machine, NULL) == 0;
	json_t *own = known ? json_incref(machine) : study_machine_unknown();
	struct study_item *item = study_set_item(set, kernel, device, own);
	json_decref(own);
	if (json_array_size(ceilings)) {
		json_decref(item->ceilings);
		item->ceilings = json_incref(ceilings);
	}
	double noise = js_real_or(part, "noise_floor", js_real_or(whole, "noise_floor", NAN));
	if (noise >= 0)
		item->noise = noise;
	return item;
}

static int tune_read(struct study_set *set, const json_t *document, struct err *err) {
	json_t *results, *result;
	size_t i;
	if (js_array(document, "results", ROWS_MAX, &results, err))
		return -1;
	json_array_foreach(results, i, result) {
		if (strcmp(js_string_or(result, "objective", "time"), study_set_objective(set)) != 0)
			continue;
		struct study_item *item = item_of(set, document, result, err);
		if (!item || tuned_read(item, result, err))
			return err_prefix(err, "result %zu", i);
	}
	return 0;
}

static const struct {
	const char *schema;
	int (*read)(struct study_item *item, const json_t *document, struct err *err); /* NULL: tune_read */
} documents[] = {{"sweetspot-sweep/1", sweep_read},
                 {"sweetspot-run/1", run_read},
                 {"sweetspot-compare/1", compare_read},
                 {"sweetspot-tune/1", NULL}};

bool study_set_is_document(const json_t *json) {
	return strncmp(js_string_or(json, "schema", ""), "sweetspot-", 10) == 0;
}

int study_set_document(struct study_set *set, const json_t *document, struct err *err) {
	const char *schema = js_string_or(document, "schema", "");
	for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
		if (strcmp(schema, documents[i].schema) != 0)
			continue;
		if (!documents[i].read)
			return tune_read(set, document, err);
		if (strcmp(study_set_objective(set), "time") != 0)
			return 0;
		struct study_item *item = item_of(set, document, document, err);
		return item ? documents[i].read(item, document, err) : -1;
	}
	return err_set(err, ERR_USAGE, "documents of `sweep --json`, `tune --json`, `run --json` or `compare --json`",
	               "\"%.60s\" does not hold times of a kernel", schema);
}
