/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes are either refused with a message, or make studies whose values are positive and whose names are text.
 * The test `table_hostile` calls this with tables that were changed anywhere, `make fuzz` runs it as a target of
 * libFuzzer, where the times of one table in 1000 are examined: it is shuffled many times. -1: refused. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tests/fuzz.h"
#include "tuner/diagnosis/diagnosis.h"
#include "tuner/reading/reading.h"
#include "tuner/study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
	if (!holds)
		abort();
}

static void rows_check(const struct study *study) {
	for (size_t r = 0; r < study_rows(study); r++)
		must(study_row(study, r)->value > 0 && isfinite(study_row(study, r)->value));
	for (size_t c = 0; c < study_columns(study); c++)
		for (const char *at = study_column(study, c)->name; *at;) {
			size_t length = text_utf8(at, strlen(at));
			must(length > 0);
			at += length;
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct study_set *set = study_set_new("time");
	struct err err = {0};
	mem_auto char *text = mem_alloc(size + 1, 1);
	if (size)
		memcpy(text, data, size);
	bool read = study_set_table(set, "table.csv", text, size, NULL, &err) == 0;
	must(read || (err.code == ERR_USAGE && *err.what));
	for (size_t i = 0; i < study_set_count(set); i++) {
		struct study_item *item = study_set_at(set, i);
		struct findings *findings = findings_new();
		study_machine(item->study, item->machine, NULL, item->noise);
		study_finish(item->study);
		if (fuzz_one_in(32, data, size))
			impossible_times_doubt(item->study);
		rows_check(item->study);
		if (study_rows(item->study) <= 60 && fuzz_one_in(1000, data, size)) {
			findings_examine(findings, item->study);
			readings_examine(findings, item->study);
		}
		json_decref(findings_json(findings));
		findings_free(findings);
	}
	study_set_free(set);
	return read ? 0 : -1;
}
