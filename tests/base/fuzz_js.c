/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes are either refused with a message or have a canonical text that reads back as the same value. The test
 * `json` calls this with mutated documents, `make fuzz` runs it as a target of libFuzzer. */
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

static void check_value(json_t *value, struct err *err) {
	char *text = js_canonical(value);
	require(text != NULL);
	json_t *again = js_parse(text, strlen(text), "canonical text", err);
	require(again && json_equal(value, again));
	char *second = js_canonical(again);
	require(strcmp(text, second) == 0);
	free(second);
	json_decref(again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	json_t *value = js_parse((const char *)data, size, "input", &err);
	if (value)
		check_value(value, &err);
	else
		require(err.code == ERR_USAGE && strncmp(err.what, "input", 5) == 0);
	json_decref(value);
	return 0;
}
