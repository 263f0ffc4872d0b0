/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tests of recorded spaces: texts with ' for ", and rows found by their values. */
#ifndef TESTS_TUNER_RECORD_RECORD_HELP_H
#define TESTS_TUNER_RECORD_RECORD_HELP_H
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tuner/record/record.h"

/* Caller frees. */
__attribute__((unused)) static char *quoted(const char *text) {
	char *copy = mem_strdup(text);
	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	return copy;
}

__attribute__((unused)) static struct record *record_of(const char *text, struct err *err) {
	char *json = quoted(text);
	*err = (struct err){0};
	struct record *record = record_parse(json, strlen(json), "file.json", err);
	free(json);
	return record;
}

/* The row of the configuration with these members, or NULL. */
__attribute__((unused)) static const struct record_row *row_of(const struct record *record, const char *config) {
	char *text = quoted(config);
	json_t *json = json_loads(text, 0, NULL);
	uint64_t index;
	struct err err = {0};
	bool found = record && json && space_config_read(record->space, json, NULL, &index, &err) == 0;
	json_decref(json);
	free(text);
	return found ? &record->rows[index] : NULL;
}

__attribute__((unused)) static bool is_row(const struct record *record, const char *config, enum record_status status,
                                           double value) {
	const struct record_row *row = row_of(record, config);
	return row && row->status == status && (status == RECORD_CORRECT ? row->value == value : isnan(row->value));
}

__attribute__((unused)) static void refused(const char *text, const char *says) {
	struct err err;
	struct record *record = record_of(text, &err);
	ok(!record && err.code == ERR_USAGE && strncmp(err.what, "file.json", 9) == 0 && strstr(err.what, says), "%s",
	   err.what);
	record_free(record);
}

#endif
