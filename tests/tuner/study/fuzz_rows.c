/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON of other programs is refused with a message, left to the reader of recorded spaces, or makes studies with
 * positive values. The test `mutated_rows` calls this with changed documents, `make fuzz` runs it as a target of
 * libFuzzer. -1: refused. */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "tests/tuner/study/produced_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct study_set *set = study_set_new("time");
	struct err err = {0};
	char *text = mem_alloc(size + 1, 1);
	memcpy(text, data, size);
	int failed = study_set_table(set, "input.json", text, size, NULL, &err);
	produced_check(set, failed >= 0, &err);
	study_set_free(set);
	free(text);
	return failed ? -1 : 0;
}
