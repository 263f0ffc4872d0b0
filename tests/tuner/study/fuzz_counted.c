/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes are either refused with a message, or counters of perf or likwid with names and finite values. The test
 * `counted` calls this with mutated files, `make fuzz` runs it as a target of libFuzzer. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/study/study_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

static void check_counter(const json_t *counter) {
	const json_t *value = json_object_get(counter, "value");
	require(*js_string_or(counter, "name", "") && *js_string_or(counter, "status", ""));
	require(!json_is_number(value) || isfinite(json_number_value(value)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	char *text = mem_alloc(size + 1, 1);
	size_t i;
	json_t *counter;
	memcpy(text, data, size);
	json_t *counters = counted_text_read(text, "input.csv", &err);
	require(counters ? json_array_size(counters) > 0 : err.code == ERR_USAGE && *err.what);
	json_array_foreach(counters, i, counter) check_counter(counter);
	json_decref(counters);
	free(text);
	return 0;
}
