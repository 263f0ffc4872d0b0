/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes in a file of regions give an answer that keeps what regions.h promises. The test `hostile` calls this with
 * mutated files, `make fuzz` runs it as a target of libFuzzer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "worker/program/program_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

static double number(const json_t *json, const char *key) {
	const json_t *value = json_object_get(json, key);
	require(json_is_number(value) && isfinite(json_number_value(value)) && json_number_value(value) >= 0);
	return json_number_value(value);
}

static void check_counter(const json_t *counter, size_t rows) {
	bool missing = strcmp(json_string_value(json_object_get(counter, "status")), "unavailable") == 0;
	require(missing == json_is_null(json_object_get(counter, "value")));
	require(!missing || json_string_length(json_object_get(counter, "reason")) > 0);
	require(json_array_size(json_object_get(counter, "per_thread")) == rows);
}

static void check_region(const json_t *region) {
	json_t *counter;
	size_t i, rows = json_array_size(json_object_get(region, "per_thread"));
	require(number(region, "calls") >= number(region, "threads") && rows <= number(region, "threads"));
	require(number(region, "seconds") >= 0 && number(region, "unbegun") >= 0 && number(region, "unended") >= 0);
	require(json_string_length(json_object_get(region, "name")) <= REGIONS_NAME_MAX);
	json_array_foreach(json_object_get(region, "counters"), i, counter) {
		check_counter(counter, rows);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const struct regions_event events[] = {{"a", "count", 1, 2, 0}, {"b", NULL, 1, 1, 1e-9}};
	const struct regions regions = {.events = events, .event_count = 2};
	struct regions_set set = {.arena = arena_new(), .regions = &regions, .index = json_object(), .notes = json_array()};
	char *text = mem_alloc(size + 1, 1), *reply;
	json_t *region, *found;
	size_t i;
	memcpy(text, data, size);
	regions_text_read(&set, text, size, "input");
	found = regions_set_end(&set);
	require(json_array_size(found) <= REGIONS_MAX && json_array_size(set.notes) <= REGIONS_NOTES_MAX);
	json_array_foreach(found, i, region) {
		check_region(region);
	}
	reply = json_dumps(found, JSON_COMPACT);
	require(reply != NULL && !strchr(reply, '\n'));
	free(reply);
	json_decref(found);
	json_decref(set.index);
	json_decref(set.notes);
	arena_free(set.arena);
	free(text);
	return 0;
}
