/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/sys.h"
#include "tuner/record/record.h"
#include "tuner/study/study_set.h"

enum { DOCUMENT_MAX = 256 << 20, RECORD_ROWS_MAX = 200000, TABLE_MAX = 64 << 20 };

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
	json_t *config = space_config_json(record->space, index);
	json_t *detail = detail_of(record, row);
	json_t *problem = problem_json(record->problem);
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
	json_t *machine = *record->device ? json_pack("{s:s}", "device", record->device) : study_machine_unknown();
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

/* Everything that is JSON begins with a bracket, and a compressed file with these two bytes. */
static bool is_table(const char *path) {
	unsigned char head[256];
	FILE *file = fopen(path, "rb");
	size_t size = file ? fread(head, 1, sizeof head - 1, file) : 0, at = 0;
	if (file)
		fclose(file);
	head[size] = '\0';
	if (size >= 2 && head[0] == 0x1f && head[1] == 0x8b)
		return false;
	at += size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	at += strspn((const char *)head + at, " \t\r\n");
	return head[at] && head[at] != '{' && head[at] != '[';
}

static int table_add(struct study_set *set, const char *path, const struct study_reading *reading, struct err *err) {
	size_t size;
	char *text = sys_read_file(path, TABLE_MAX, &size, err);
	if (!text && err->code == ERR_FAILED)
		err->code = ERR_USAGE;
	int failed = text ? study_set_table(set, path, text, size, reading, err) : -1;
	free(text);
	return failed;
}

/* Our documents are no larger than this and not compressed: a recorded space of a gigabyte need not be in memory as a
 * tree. */
int study_set_file(struct study_set *set, const char *path, const struct study_reading *reading, struct err *err) {
	struct stat info;
	bool is_file = stat(path, &info) == 0 && S_ISREG(info.st_mode), large = is_file && info.st_size > DOCUMENT_MAX;
	if (is_file && is_table(path))
		return table_add(set, path, reading, err);
	json_t *json = large ? NULL : js_load(path, DOCUMENT_MAX, NULL);
	int failed;
	if (!study_set_is_document(json)) {
		json_decref(json);
		if (stop_asked())
			return stop_fail(err, "while a file was read");
		return record_add(set, path, err);
	}
	failed = study_set_document(set, json, err);
	json_decref(json);
	return failed ? err_prefix(err, "%s", path) : 0;
}
