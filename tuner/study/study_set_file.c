/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "tuner/record/record.h"
#include "tuner/study/study_set.h"

enum { DOCUMENT_MAX = 256 << 20, RECORD_ROWS_MAX = 200000 };

static double counted(const struct record_row *row, size_t counter) {
	return row->counters ? row->counters[counter] : 0.0 / 0.0;
}

/* New reference, or NULL. */
static json_t *detail_of(const struct record *record, const struct record_row *row) {
	json_t *counters = json_array();
	for (size_t i = 0; i < record->counter_count; i++) {
		double value = counted(row, i);
		if (value == value)
			json_array_append_new(counters, json_pack("{s:s,s:o,s:s}", "name", record->counters[i], "value",
			                                          js_number(value), "status", "counted"));
	}
	if (json_array_size(counters))
		return json_pack("{s:o}", "counters", counters);
	json_decref(counters);
	return NULL;
}

static void row_add(struct study_item *item, const struct record *record, uint64_t index, double scale) {
	const struct record_row *row = &record->rows[index];
	json_t *config = space_config_json(record->space, index);
	json_t *detail = detail_of(record, row);
	json_t *problem = *record->problem ? json_pack("{s:s}", "problem", record->problem) : json_object();
	double *samples = mem_alloc(row->sample_count + 1, sizeof *samples);
	for (size_t i = 0; i < row->sample_count; i++)
		samples[i] = row->samples[i] * scale;
	const struct study_trial trial = {.problem = problem,
	                                  .config = config,
	                                  .phase = "search",
	                                  .status = record_status_word(row->status),
	                                  .value = row->value * scale,
	                                  .samples = samples,
	                                  .sample_count = row->sample_count,
	                                  .detail = detail};
	study_set_add(item, &trial);
	free(samples);
	json_decref(problem);
	json_decref(config);
	json_decref(detail);
}

/* Files do not name the kind of device, but a team of threads only makes sense on a CPU. */
static bool on_cpu(const struct record *record) {
	for (size_t p = 0; p < space_params(record->space); p++)
		if (strcmp(space_param_name(record->space, p), "threads") == 0)
			return true;
	return false;
}

static int recorded_add(struct study_set *set, const struct record *record, const char *path, struct err *err) {
	bool time = strcmp(record->objective, "time") == 0;
	uint64_t count = space_valid(record->space);
	const char *slash = strrchr(path, '/');
	if (strcmp(record->objective, study_set_objective(set)) != 0)
		return 0;
	if (count > RECORD_ROWS_MAX)
		return err_set(err, ERR_USAGE, NULL, "%s: more than %d configurations", path, RECORD_ROWS_MAX);
	json_t *machine = *record->device ? json_pack("{s:s}", "device", record->device) : NULL;
	struct study_item *item = study_set_item(set,
	                                         *record->kernel ? record->kernel
	                                         : slash         ? slash + 1
	                                                         : path,
	                                         on_cpu(record) ? "cpu" : "cuda:0", machine);
	for (uint64_t i = 0; i < count; i++)
		row_add(item, record, i, time ? 1e-3 : 1);
	json_decref(machine);
	return 0;
}

static int record_add(struct study_set *set, const char *path, struct err *err) {
	struct record *record = record_read(path, err);
	int failed = record ? recorded_add(set, record, path, err) : -1;
	record_free(record);
	return failed;
}

/* Our documents are no larger than this and not compressed: a recorded space of a gigabyte need not be in memory as a
 * tree. */
int study_set_file(struct study_set *set, const char *path, struct err *err) {
	struct stat info;
	bool large = stat(path, &info) == 0 && info.st_size > DOCUMENT_MAX;
	json_t *json = large ? NULL : js_load(path, DOCUMENT_MAX, NULL);
	int failed;
	if (!study_set_is_document(json)) {
		json_decref(json);
		return record_add(set, path, err);
	}
	failed = study_set_document(set, json, err);
	json_decref(json);
	return failed ? err_prefix(err, "%s", path) : 0;
}
