/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>

#include "base/json/js.h"
#include "base/stop.h"
#include "tuner/record/record.h"
#include "tuner/result/result.h"
#include "tuner/study/study_impl.h"
#include "tuner/trial/trial.h"

/* Reads the JSON of `sweep`, `tune`, `run` and `compare`. */
enum {
	ROWS_MAX = 100000,
	SAMPLES_MAX = 100000,
	MEMBERS_MAX = STUDY_COLUMNS_MAX,
	NAME_MAX_BYTES = 200,
	DEVICE_MAX_BYTES = 64
};
static const double SECONDS_MAX = 1e9;

static int settings_check(const json_t *row, const char *key, struct err *err) {
	json_t *object;
	struct value value;
	if (js_object(row, key, &object, err))
		return -1;
	if (json_object_size(object) > MEMBERS_MAX)
		return err_set(err, ERR_USAGE, NULL, "\"%s\" has more than %d members", key, MEMBERS_MAX);
	js_members (name, member, object) {
		bool fine = value_from_json(member, &value) && *name && strlen(name) <= NAME_MAX_BYTES;
		if (!fine || (value.type == VALUE_REAL && !isfinite(value.as.r)))
			return err_set(err, ERR_USAGE, NULL, "\"%s\": \"%.40s\" is neither a number nor a word", key, name);
	}
	return 0;
}

/* Reads the numbers of a list, which may be absent; the caller frees them. */
static int samples_read(const json_t *row, double **samples, size_t *count, struct err *err) {
	json_t *list = json_object_get(row, "samples");
	*count = 0;
	*samples = NULL;
	if (!list || json_is_null(list))
		return 0;
	if (js_array(row, "samples", SAMPLES_MAX, &list, err))
		return -1;
	*samples = mem_alloc(json_array_size(list) + 1, sizeof **samples);
	js_each (sample, list) {
		double seconds = json_is_number(sample) ? json_number_value(sample) : NAN;
		if (!(seconds > 0) || seconds > SECONDS_MAX)
			return err_set(err, ERR_USAGE, NULL, "sample %zu is not a positive number", sample_at);
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
static int study_set_document_row_add(struct study_item *item, const json_t *problem, const json_t *row,
                                      const char *phase, struct err *err) {
	struct study_trial trial = {.problem = problem,
	                            .config = json_object_get(row, "config"),
	                            .phase = phase,
	                            .status = js_string_or(row, "status", "correct"),
	                            .disturbed = js_bool_or(row, "disturbed", false)};
	mem_auto double *samples = NULL;
	if (settings_check(row, "config", err) || status_check(trial.status, err))
		return -1;
	bool timed = strcmp(trial.status, "correct") == 0 || strcmp(trial.status, "censored") == 0;
	if (timed && (js_real(row, "median", 0, SECONDS_MAX, &trial.value, err) || !(trial.value > 0)))
		return err_set(err, ERR_USAGE, NULL, "\"median\" is not a positive number");
	int failed = samples_read(row, &samples, &trial.sample_count, err);
	js_auto json_t *detail = study_detail(row);
	trial.samples = samples;
	trial.detail = detail;
	if (!failed)
		study_set_add(item, &trial);
	return failed;
}

static int sweep_rows_read(struct study_item *item, const json_t *document, const char *key, struct err *err) {
	json_t *rows;
	if (js_array(document, key, ROWS_MAX, &rows, err))
		return -1;
	js_each (row, rows)
		if (settings_check(row, "problem", err) ||
		    study_set_document_row_add(item, json_object_get(row, "problem"), row, "sweep", err))
			return err_prefix(err, "%s %zu", strcmp(key, "rows") == 0 ? "row" : key, row_at);
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
	return study_set_document_row_add(item, json_object_get(document, "problem"), document, "sweep", err);
}

static int compare_read(struct study_item *item, const json_t *document, struct err *err) {
	static const char *const sides[] = {"a", "b"};
	for (size_t i = 0; i < 2; i++) {
		json_t *side;
		if (settings_check(document, "problem", err) || js_object(document, sides[i], &side, err))
			return -1;
		if (study_set_document_row_add(item, json_object_get(document, "problem"), side, "duel", err))
			return err_prefix(err, "\"%s\"", sides[i]);
	}
	return 0;
}

/* Ignores a setup that is absent or lacks a median. */
static int setup_add(struct study_item *item, const json_t *result, const json_t *setup, const char *phase,
                     struct err *err) {
	if (!json_is_object(setup) || !json_is_number(json_object_get(setup, "median")))
		return 0;
	return study_set_document_row_add(item, json_object_get(result, "problem"), setup, phase, err);
}

/* Reads the configurations in a search's document: those of the duel, and the finalists. */
static int tuned_read(struct study_item *item, const json_t *result, struct err *err) {
	const char *phase = verdict_is_decided(result) ? "duel" : "search";
	json_t *baseline = json_object_get(result, "baseline"), *best = json_object_get(result, "best");
	if (settings_check(result, "problem", err) || setup_add(item, result, baseline, phase, err) ||
	    setup_add(item, result, best, phase, err))
		return -1;
	js_each (finalist, json_object_get(result, "finalists"))
		if (finalist_at >= ROWS_MAX || setup_add(item, result, finalist, "race", err))
			return -1;
	if (json_is_object(baseline) && json_is_object(best))
		json_array_append(item->tunes, (json_t *)result);
	return 0;
}

static bool is_device(const char *word) {
	static const char *const words[] = {"cpu", "cuda", "hip", "opencl"};
	if (text_is_one_of(word, words))
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
	if (!*kernel || strlen(kernel) > NAME_MAX_BYTES)
		return err_null(err_set(err, ERR_USAGE, NULL, "\"kernel\" is not a name"));
	if (!is_device(device))
		return err_null(err_set(err, ERR_USAGE, NULL, "\"%.40s\" is not a device", device));
	json_t *machine = json_object_get(whole, "machine"), *ceilings = json_object_get(whole, "ceilings");
	bool known = json_object_size(machine) && study_machine_check(machine, NULL) == 0;
	js_auto json_t *own = known ? json_incref(machine) : study_machine_unknown();
	struct study_item *item = study_set_item(set, kernel, device, own);
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
	json_t *results;
	if (js_array(document, "results", ROWS_MAX, &results, err))
		return -1;
	js_each (result, results) {
		if (strcmp(js_string_or(result, "objective", "time"), study_set_objective(set)) != 0)
			continue;
		struct study_item *item = item_of(set, document, result, err);
		if (!item || tuned_read(item, result, err))
			return err_prefix(err, "result %zu", result_at);
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

enum { DOCUMENT_MAX = 256 << 20, RECORD_ROWS_MAX = 200000, TABLE_MAX = 64 << 20, ROWS_TEXT_MAX = 1 << 20 };

/* New reference, or NULL. */
static json_t *detail_of(const struct record *record, const struct record_row *row) {
	js_auto json_t *counters = json_array();
	for (size_t i = 0; i < record->counter_count; i++) {
		double value = row->counters ? row->counters[i] : NAN;
		if (value == value)
			json_array_append_new(counters, json_pack("{s:s,s:o,s:s}", "name", record->counters[i], "value",
			                                          js_number(value), "status", "counted"));
	}
	return json_array_size(counters) ? json_pack("{s:O}", "counters", counters) : NULL;
}

/* Sizes that are written as text, "4096" or "(4096, 4096)", are numbers, so that laws over them can be seen. New
 * reference. */
static json_t *problem_json(const char *text) {
	static const char *const names[] = {"problem_size_x", "problem_size_y", "problem_size_z"};
	static const char between[] = " ,xX()[]";
	double sizes[3];
	size_t count = 0;
	for (const char *at = text + strspn(text, between); *at; at += strspn(at, between)) {
		char *end;
		double size = count < 3 && strchr("0123456789", *at) ? strtod(at, &end) : NAN;
		if (!(size > 0) || size > 9e15 || size != floor(size))
			return json_pack("{s:s}", "problem", text);
		sizes[count++] = size;
		at = end;
	}
	json_t *problem = json_object();
	for (size_t i = 0; i < count; i++)
		json_object_set_new(problem, count == 1 ? "problem_size" : names[i], json_integer((json_int_t)sizes[i]));
	return problem;
}

static void row_add(struct study_item *item, const struct record *record, uint64_t index, double scale) {
	const struct record_row *row = &record->rows[index];
	js_auto json_t *config = space_config_json(record->space, index);
	js_auto json_t *detail = detail_of(record, row);
	js_auto json_t *problem = problem_json(record->problem);
	mem_auto double *samples = mem_alloc(row->sample_count + 1, sizeof *samples);
	size_t count = scale < 1 ? row->sample_count : 0; /* samples are times, whatever the objective is */
	for (size_t i = 0; i < count; i++)
		samples[i] = row->samples[i] * scale;
	const struct study_trial trial = {.problem = problem,
	                                  .config = config,
	                                  .phase = "search",
	                                  .status = record_status_word(row->status),
	                                  .value = row->value * scale,
	                                  .samples = samples,
	                                  .sample_count = count,
	                                  .detail = detail};
	study_set_add(item, &trial);
}

/* Files do not name the kind of device, but a team of threads only makes sense on a CPU. */
static bool on_cpu(const struct record *record) {
	for (size_t p = 0; p < space_params(record->space); p++)
		if (strcmp(space_param_name(record->space, p), "threads") == 0)
			return true;
	return false;
}

/* A record's objective is a time, or something else that texts name. */
static void objective_tell(const struct record *record, struct study_item *item) {
	const char *name = *record->unit ? record->unit : record->objective;
	if (strcmp(record->unit, "ms") == 0)
		return;
	if (record->sense == RECORD_MORE)
		study_rate(item->study, name, 1);
	else
		study_unitless(item->study);
}

static void column_tell(json_t *columns, const char *name, const char *role, const char *unit) {
	json_array_append_new(columns, json_pack("{s:s,s:s,s:s}", "name", name, "role", role, "unit", unit));
}

/* The same as for tables. New reference. */
static json_t *record_source(const struct record *record) {
	static const char *const names[][2] = {{"kt", "Kernel Tuner"}, {"t4", "T4"}, {"ktt", "KTT"}};
	bool time = strcmp(record->unit, "ms") == 0;
	const char *producer = record->format;
	json_t *columns = json_array();
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		producer = strcmp(record->format, names[i][0]) == 0 ? names[i][1] : producer;
	for (size_t p = 0; p < space_params(record->space); p++)
		column_tell(columns, space_param_name(record->space, p), "parameter", "");
	column_tell(columns, record->objective, record->sense == RECORD_MORE ? "rate" : "time", time ? "s" : record->unit);
	for (size_t c = 0; c < record->counter_count; c++)
		column_tell(columns, record->counters[c], "counter", "");
	return json_pack("{s:s,s:o}", "producer", producer, "columns", columns);
}

static int recorded_add(struct study_set *set, const struct record *record, const char *path, struct err *err) {
	bool time = strcmp(record->unit, "ms") == 0, own = strcmp(study_set_objective(set), "time") == 0;
	uint64_t count = space_valid(record->space);
	const char *slash = strrchr(path, '/');
	if (!own && strcmp(record->objective, study_set_objective(set)) != 0)
		return 0;
	if (record->sense == RECORD_LINE)
		return err_set(err, ERR_USAGE, "`sweetspot replay` searches in it",
		               "%s: \"%.60s\" has values of 0 and below, which cannot be compared as ratios", path,
		               record->objective);
	if (count > RECORD_ROWS_MAX)
		return err_set(err, ERR_USAGE, NULL, "%s: more than %d configurations", path, RECORD_ROWS_MAX);
	js_auto json_t *machine = *record->device ? json_pack("{s:s}", "device", record->device) : study_machine_unknown();
	struct study_item *item = study_set_item(set,
	                                         *record->kernel ? record->kernel
	                                         : slash         ? slash + 1
	                                                         : path,
	                                         on_cpu(record) ? "cpu" : "cuda:0", machine);
	for (uint64_t i = 0; i < count; i++)
		row_add(item, record, i, time ? 1e-3 : 1);
	if (!item->producer)
		item->producer = record_source(record);
	if (own)
		objective_tell(record, item);
	return 0;
}

static int record_add(struct study_set *set, const char *path, const struct study_reading *reading, struct err *err) {
	const struct record_choice choice = {.objective = reading ? reading->objective : NULL,
	                                     .more = reading && reading->more,
	                                     .unit = reading ? reading->unit : NULL};
	struct record *record = record_read(path, &choice, err);
	int failed = record ? recorded_add(set, record, path, err) : -1;
	record_free(record);
	return failed;
}

/* Everything that is JSON begins with a bracket, behind which a list does not have a word, as AsciiDoc has. */
static bool is_json(const char *text) {
	text += strspn(text, " \t\r\n");
	return *text == '{' || (*text == '[' && !isalpha((unsigned char)text[1])) || !*text;
}

static bool has_objects(const char *text) {
	const char *list = strchr(text, '[');
	while (list && list[1 + strspn(list + 1, " \t\r\n")] != '{')
		list = strchr(list + 1, '[');
	return list;
}

/* Rows of nobody who is known: recorded spaces are objects, and have objects in them. */
static bool is_rows(const char *text, size_t size) {
	const char *end = memchr(text, '\n', size), *begin = text + strspn(text, " \t\r\n");
	js_auto json_t *line = end && *text == '{' ? js_parse(text, (size_t)(end - text), "", NULL) : NULL;
	js_auto json_t *whole = *begin == '{' && !line && size < ROWS_TEXT_MAX ? js_parse(text, size, "", NULL) : NULL;
	bool listed = whole && has_objects(text) && !record_is_known(text, size);
	return listed || *begin == '[' || json_object_size(line) ||
	       json_is_array(json_object_iter_value(json_object_iter(whole)));
}

/* 1: it is not one of those, so that it may be a recorded space. */
static int text_add(struct study_set *set, const char *path, const char *text, size_t size,
                    const struct study_reading *reading, struct err *err) {
	if (!is_json(text))
		return size <= TABLE_MAX ? study_set_table(set, path, text, size, reading, err)
		                         : err_set(err, ERR_USAGE, NULL, "%s is larger than %d MiB", path, TABLE_MAX >> 20);
	bool ours = size <= DOCUMENT_MAX && memmem(text, size, "\"sweetspot-", 11);
	js_auto json_t *json = ours ? js_parse(text, size, path, NULL) : NULL;
	int failed = study_set_is_document(json) ? study_set_document(set, json, err) : 1;
	if (failed <= 0)
		return failed ? err_prefix(err, "%s", path) : 0;
	bool rows = memmem(text, size, "\"counter-value\"", 15) ||
	            (size <= DOCUMENT_MAX && (producer_of_json(text, size) || is_rows(text, size)));
	return rows ? study_set_table(set, path, text, size, reading, err) : 1;
}

int study_set_file(struct study_set *set, const char *path, const struct study_reading *reading, struct err *err) {
	size_t size;
	mem_auto char *text = record_text(path, &size, err);
	int failed = text ? text_add(set, path, text, size, reading, err) : -1;
	if (failed <= 0)
		return failed;
	return stop_asked() ? stop_fail(err, "while a file was read") : record_add(set, path, reading, err);
}
