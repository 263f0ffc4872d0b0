/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/program/regions_set.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/json/js.h"
#include "base/text.h"
#include "worker/kernel/word.h"

void regions_note(struct regions_set *set, const char *format, ...) {
	char note[200];
	va_list ap;
	va_start(ap, format);
	vsnprintf(note, sizeof note, format, ap);
	va_end(ap);
	word_clean(note, sizeof note);
	if (json_array_size(set->notes) < REGIONS_NOTES_MAX) {
		json_array_append_new(set->notes, json_string(note));
	}
}

static struct regions_region *region_new(struct regions_set *set, const char *name) {
	size_t count = set->regions->event_count;
	struct regions_region *region = arena_alloc(set->arena, 1, sizeof *region);
	region->name = arena_strdup(set->arena, name);
	region->per_thread = json_array();
	region->counts = arena_alloc(set->arena, count + 1, sizeof *region->counts);
	for (size_t i = 0; i < count; i++) {
		region->counts[i].per_thread = json_array();
	}
	return region;
}

struct regions_region *regions_set_find(struct regions_set *set, const char *name) {
	char clean[REGIONS_NAME_MAX + 1];
	snprintf(clean, sizeof clean, "%s", name[0] ? name : "(no name)");
	text_clean(clean, false);
	const json_t *place = json_object_get(set->index, clean);
	if (place) {
		return set->region[json_integer_value(place)];
	}
	if (set->count == REGIONS_MAX) {
		set->left_out++;
		return NULL;
	}
	json_object_set_new(set->index, clean, json_integer((json_int_t)set->count));
	return set->region[set->count++] = region_new(set, clean);
}

static json_t *text_or_null(const char *text) {
	return text && text[0] ? json_string(text) : json_null();
}

static json_t *count_json(const struct regions_event *event, const struct regions_count *count) {
	double value = count->status == COUNTER_UNAVAILABLE ? NAN : count->total;
	return json_pack("{s:s, s:o, s:o, s:s, s:o, s:O}", "name", event->name, "value", js_number(value), "unit",
	                 text_or_null(event->unit), "status", counter_status_name(count->status), "reason",
	                 text_or_null(count->reason), "per_thread", count->per_thread);
}

static json_t *whole_json(double x) {
	return json_integer((json_int_t)fmin(x, 0x1p53));
}

static json_t *region_json(const struct regions *regions, const struct regions_region *region) {
	json_t *counters = json_array();
	for (size_t i = 0; i < regions->event_count && region->calls > 0; i++) {
		json_array_append_new(counters, count_json(&regions->events[i], &region->counts[i]));
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:O, s:o, s:o, s:o}", "name", region->name, "calls",
	                 whole_json(region->calls), "seconds", js_number(region->seconds), "threads",
	                 whole_json(region->threads), "per_thread", region->per_thread, "unbegun",
	                 whole_json(region->unbegun), "unended", whole_json(region->unended), "counters", counters);
}

static void region_free(const struct regions *regions, struct regions_region *region) {
	json_decref(region->per_thread);
	for (size_t i = 0; i < regions->event_count; i++) {
		json_decref(region->counts[i].per_thread);
	}
}

static void region_notes(struct regions_set *set, const struct regions_region *region) {
	if (region->unbegun > 0) {
		regions_note(set, "region %.60s: end without begin, %.0f times", region->name, region->unbegun);
	}
	if (region->unended > 0) {
		regions_note(set, "region %.60s: begin without end, %.0f times", region->name, region->unended);
	}
}

static void limit_notes(struct regions_set *set) {
	if (set->left_out > 0) {
		regions_note(set, "only the first %d regions are reported", REGIONS_MAX);
	}
	if (set->rows_left_out > 0) {
		regions_note(set, "per_thread leaves out %zu threads", set->rows_left_out);
	}
	if (set->files_left_out > 0) {
		regions_note(set, "%zu processes are left out", set->files_left_out);
	}
}

json_t *regions_set_end(struct regions_set *set) {
	json_t *out = json_array();
	limit_notes(set);
	for (size_t i = 0; i < set->count; i++) {
		region_notes(set, set->region[i]);
		json_array_append_new(out, region_json(set->regions, set->region[i]));
		region_free(set->regions, set->region[i]);
	}
	return out;
}
