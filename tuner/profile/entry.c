/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares entries of two profiles. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/profile/profile.h"
#include "tuner/profile/state.h"

void profile_device_kind(const json_t *entry, char *kind, size_t size) {
	const char *device = js_string_or(entry, "device", "cpu");
	snprintf(kind, size, "%.*s", (int)strcspn(device, ":"), device);
}

char *profile_entry_key(const json_t *entry) {
	char kind[32];
	profile_device_kind(entry, kind, sizeof kind);
	json_t *json = json_pack("[s,s,s,O]", js_string_or(entry, "kernel", ""), js_string_or(entry, "objective", "time"),
	                         kind, json_object_get(entry, "problem"));
	char *key = js_canonical(json);
	json_decref(json);
	return key;
}

const char *profile_entry_date(const json_t *entry) {
	return js_string_or(json_object_get(entry, "provenance"), "measured", "");
}

char *profile_entry_busy(const json_t *entry) {
	const json_t *busy = json_object_get(entry, "busy"), *load = json_object_get(busy, "load");
	long long processors = (long long)js_int_or(busy, "processors", 0);
	const char *verdict = js_string_or(entry, "verdict", "");
	bool open = strcmp(verdict, "undecided") == 0;
	const char *what = open ? "measured" : "decided";
	const char *narrower = open || strcmp(verdict, "faster") == 0 ? js_string_or(busy, "narrower", NULL) : NULL;
	if (!busy)
		return NULL;
	if (!json_is_number(load))
		return mem_printf("%s on a busy machine", what);
	return mem_printf("%s on a busy machine: load %.3g on %lld processor%s%s%s%s", what, json_number_value(load),
	                  processors, processors == 1 ? "" : "s", narrower ? "; it uses fewer " : "",
	                  narrower ? narrower : "",
	                  !narrower ? ""
	                  : open    ? " than the baseline and may lead only because of that"
	                            : " than the baseline and may win only because of that");
}

static bool is_rate(const json_t *entry) {
	return js_bool_or(json_object_get(entry, "program"), "maximize", false);
}

static const char *metric_of(const json_t *entry) {
	return js_string_or(json_object_get(entry, "program"), "metric", "");
}

/* Orders entries by the quantity that they measure; 0 if it is the same. */
static int measure_order(const json_t *a, const json_t *b) {
	int order = strcmp(js_string_or(a, "unit", ""), js_string_or(b, "unit", ""));
	if (order == 0)
		order = strcmp(metric_of(a), metric_of(b));
	return order ? order : is_rate(a) - is_rate(b);
}

bool profile_entry_comparable(const json_t *a, const json_t *b) {
	return measure_order(a, b) == 0;
}

int profile_entry_better(const json_t *a, const json_t *b) {
	double x = js_real_or(a, "median", 0), y = js_real_or(b, "median", 0);
	int order = measure_order(a, b), less = (x < y) - (x > y);
	return order ? order : is_rate(a) ? -less : less;
}

static void array_pick(json_t *array, const char *const *kernels) {
	for (size_t i = json_array_size(array); i-- > 0;) {
		const char *kernel = js_string_or(json_array_get(array, i), "kernel", "");
		const char *const *named = kernels;
		while (*named && strcmp(*named, kernel) != 0)
			named++;
		if (!*named)
			json_array_remove(array, i);
	}
}

int profile_pick(json_t *profile, const char *const *kernels, struct err *err) {
	json_t *entries = json_object_get(profile, "entries");
	if (!kernels || !*kernels)
		return 0;
	array_pick(entries, kernels);
	array_pick(json_object_get(profile, "sizes"), kernels);
	return json_array_size(entries)
	           ? 0
	           : err_set(err, ERR_NOTHING, NULL, "the profile does not have an entry for kernel %s", kernels[0]);
}
