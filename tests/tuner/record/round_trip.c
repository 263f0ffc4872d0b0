/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results of tuning must be the same when they are exported in each format and read again: configurations, statuses,
 * times and counters. */
#include "base/json/js.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"
#include "tuner/record/record.h"
#include "tuner/store/store.h"
#include "tuner/trial/trial.h"

static const char *const formats[] = {"kt", "t4", "ktt"};
enum { FORMATS = sizeof formats / sizeof *formats };

/* The entry of a profile as the formats need it; the trials are the caller's. */
static json_t *profile_of(json_t *trials) {
	const json_t *config = json_object_get(json_array_get(trials, 0), "config");
	json_t *entry = json_pack("{s:s, s:s, s:s, s:{s:s}, s:O, s:O}", "kernel", "conv", "objective", "time", "unit", "s",
	                          "problem", "size", "64x48", "config", config, "trials", trials);
	return json_pack("{s:s, s:s, s:[o]}", "generator", "sweetspot 0", "created", "2025-01-31T12:00:00Z", "entries",
	                 entry);
}

static struct record *there_and_back(const json_t *profile, const char *format, struct err *err) {
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct profile read = profile_read(profile);
	int failed = export_find(format)->write(&read, out, err);
	free(read.entries);
	fclose(out);
	struct record *record = failed ? NULL : record_parse(text, size, format, err);
	free(text);
	return record;
}

/* Words of failures that a format has no word for read as failures at run time. */
static bool is_same_status(enum record_status got, const char *status) {
	if (strcmp(status, trial_status_word(TRIAL_CORRECT)) == 0 || strcmp(status, trial_status_word(TRIAL_CENSORED)) == 0)
		return got == RECORD_CORRECT;
	return strcmp(record_status_word(got), status) == 0 || got == RECORD_RUNTIME;
}

static bool is_same_samples(const struct record_row *row, const json_t *trial, const char *format) {
	json_t *samples = export_samples_ms(trial);
	bool same = row->value == export_trial_ms(trial);
	if (strcmp(format, "ktt") == 0)
		same = same && row->sample_count == 1 && row->samples[0] == row->value;
	else
		same = same && row->sample_count == json_array_size(samples);
	for (size_t i = 0; same && strcmp(format, "ktt") != 0 && i < row->sample_count; i++)
		same = row->samples[i] == json_number_value(json_array_get(samples, i));
	json_decref(samples);
	return same;
}

static double counter_of(const struct record *record, const struct record_row *row, const char *name) {
	for (size_t i = 0; i < record->counter_count; i++)
		if (strcmp(record->counters[i], name) == 0)
			return row->counters ? row->counters[i] : NAN;
	return NAN;
}

static bool is_same_counters(const struct record *record, const struct record_row *row, const json_t *trial) {
	size_t i;
	json_t *counter;
	json_array_foreach(json_object_get(trial, "counters"), i, counter) {
		if (counter_of(record, row, js_string_or(counter, "name", "")) != js_real_or(counter, "value", 0))
			return false;
	}
	return true;
}

static bool is_same(const struct record *record, const json_t *trial, const char *format) {
	uint64_t index;
	struct err err = {0};
	const char *status = js_string_or(trial, "status", "");
	if (space_config_read(record->space, json_object_get(trial, "config"), NULL, &index, &err) != 0) {
		printf("# %s\n", err.what);
		return false;
	}
	const struct record_row *row = &record->rows[index];
	json_t *config = space_config_json(record->space, index);
	bool same = json_equal(config, json_object_get(trial, "config")) && is_same_status(row->status, status);
	json_decref(config);
	if (row->status == RECORD_CORRECT)
		same = same && is_same_samples(row, trial, format);
	return same && (strcmp(format, "kt") == 0 || row->status != RECORD_CORRECT || is_same_counters(record, row, trial));
}

static void check_trials(json_t *trials, const char *what) {
	json_t *profile = profile_of(trials), *trial;
	for (size_t i = 0; i < FORMATS; i++) {
		struct err err = {0};
		struct record *record = there_and_back(profile, formats[i], &err);
		size_t same = 0, at;
		json_array_foreach(trials, at, trial) same += record && is_same(record, trial, formats[i]);
		ok(record && same == json_array_size(trials) && space_valid(record->space) == same, "%s: %s: %zu of %zu%s",
		   what, formats[i], same, json_array_size(trials), err.what);
		record_free(record);
	}
	json_decref(profile);
}

static void test_made(void) {
	json_t *trials = json_pack(
		"[{s:{s:s,s:i,s:f},s:s,s:[f,f,f],s:f,s:[{s:s,s:f,s:s},{s:s,s:i,s:s}]}, {s:{s:s,s:i,s:f},s:s,s:[]},"
		" {s:{s:s,s:f},s:s,s:[]}, {s:{s:s,s:f},s:s,s:[f]}, {s:{s:s,s:i,s:f},s:s,s:[]}, {s:{s:s,s:f},s:s,s:[]}]",
		"config", "w", "a", "n", 3, "r", 0.5, "status", "correct", "samples", 0.003, 0.0010000000000000002,
		0.0123456789, "setup_s", 0.25, "counters", "name", "hits", "value", 0.1, "unit", "", "name", "misses", "value",
		7, "unit", "",                                                             /**/
		"config", "w", "a", "n", 4, "r", 0.5, "status", "compile", "samples",      /**/
		"config", "w", "b", "r", 0.5, "status", "timeout", "samples",              /**/
		"config", "w", "b", "r", 0.25, "status", "censored", "samples", 0.5,       /**/
		"config", "w", "a", "n", 3, "r", 0.25, "status", "constraints", "samples", /**/
		"config", "w", "c,\"d\"", "r", 0.25, "status", "correctness", "samples");
	check_trials(trials, "one of each kind");
	json_decref(trials);
}

/* A sweep, because all of its trials have their samples, however busy the machine is. */
static bool sweep(const char *store) {
	const char *build = getenv("BUILDDIR");
	char *command =
		mem_printf("cd '%s' && SWEETSPOT_WORKER='%s/sweetspot-worker' XDG_RUNTIME_DIR=. '%s/sweetspot' sweep "
	               "synthetic threads=1 n=100 --over variant=a,b,c --over x=2,10 --samples 3 --counters auto "
	               "--seed 3 --store '%s' >/dev/null 2>&1",
	               fixture_dir, build ? build : ".", build ? build : ".", store);
	int status = system(command);
	free(command);
	return status == 0;
}

static void test_measured(void) {
	char *path = fixture_path("trials.db");
	struct err err = {0};
	bool measured = sweep(path);
	struct store *store = measured ? store_open(path, STORE_READ, &err) : NULL;
	json_t *trials = store ? store_trials_json(store, 1, &err) : NULL;
	ok(measured && json_array_size(trials) == 6, "a kernel was measured%s", err.what);
	if (trials)
		check_trials(trials, "a kernel");
	json_decref(trials);
	store_close(store);
	free(path);
}

int main(void) {
	fixture_begin();
	test_made();
	test_measured();
	return fixture_end();
}
