/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What time(1), perf stat and likwid print, and tables of known producers, are refused with a message or make studies
 * with positive values. The test `mutated_runs` calls this with changed texts, `make fuzz` runs it as a target of
 * libFuzzer. -1: refused. */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "tests/tuner/study/produced_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const struct study_reading more = {.objective = "objective", .more = true};
	struct study_set *set = study_set_new("time");
	struct err err = {0};
	char *text = mem_alloc(size + 1, 1);
	memcpy(text, data, size);
	int failed = study_set_table(set, "input.txt", text, size, size && data[size - 1] == 0x21 ? &more : NULL, &err);
	produced_check(set, failed == 0, &err);
	study_set_free(set);
	free(text);
	return failed;
}
