/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes are either refused with a message or are a recorded space whose rows and figures agree. The test `hostile`
 * calls this with mutated files, `make fuzz` runs it as a target of libFuzzer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/record/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

static void check_row(const struct record *record, const struct record_row *row) {
	bool worked = row->status == RECORD_CORRECT;
	require(record_status_word(row->status)[0]);
	require(worked ? isfinite(row->value) && row->value > 0 : isnan(row->value));
	require(!worked || (row->value >= record->optimum && row->value <= record->worst));
	require(record_row_cost(row) >= 0 && (row->sample_count == 0 || row->samples));
	for (size_t i = 0; i < row->sample_count; i++)
		require(isfinite(row->samples[i]));
	for (size_t i = 0; row->counters && i < record->counter_count; i++)
		require(!isinf(row->counters[i]));
}

static void check_record(const struct record *record) {
	int config[SPACE_PARAMS_MAX];
	uint64_t rows = space_valid(record->space), worked = 0, back;
	require(rows >= 1 && record->best < rows && record->rows[record->best].value == record->optimum);
	for (uint64_t i = 0; i < rows; i++) {
		check_row(record, &record->rows[i]);
		worked += record->rows[i].status == RECORD_CORRECT;
		space_config(record->space, i, config);
		require(space_index(record->space, config, &back) && back == i);
	}
	require(worked == record->correct && worked >= 1);
	require(record->median >= record->optimum && record->median <= record->worst && record->median_cost >= 0);
	require(record->device && record->kernel && record->problem && record->objective[0] && record->unit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	struct record *record = record_parse((const char *)data, size, "input.json", &err);
	if (record)
		check_record(record);
	else
		require(err.code == ERR_USAGE && strncmp(err.what, "input.json", 10) == 0);
	record_free(record);
	return 0;
}
