/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counters and metrics of the recommended configuration, as far as they were counted. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/profile/profile.h"

/* {"NAME": {"value": .., "unit": .., "status": ..}}; those without a value are left out. */
static json_t *values_of(const json_t *list) {
	json_t *values = json_object(), *one;
	size_t i;
	json_array_foreach((json_t *)list, i, one) {
		const char *name = js_string_or(one, "name", ""), *status = js_string_or(one, "status", NULL);
		double value = js_real_or(one, "value", NAN);
		if (!*name || !isfinite(value))
			continue;
		json_t *kept = json_pack("{s:o,s:s}", "value", js_number(value), "unit", js_string_or(one, "unit", ""));
		if (status && strcmp(status, "counted") != 0)
			json_object_set_new(kept, "status", json_string(status));
		json_object_set_new(values, name, kept);
	}
	return values;
}

json_t *profile_counted(const json_t *best) {
	json_t *counters = values_of(json_object_get(best, "counters")),
		   *metrics = values_of(json_object_get(best, "metrics"));
	bool some = json_object_size(counters) || json_object_size(metrics);
	json_t *counted = some ? json_pack("{s:O,s:O}", "counters", counters, "metrics", metrics) : NULL;
	json_decref(counters);
	json_decref(metrics);
	return counted;
}

static int values_check(const json_t *values, struct err *err) {
	const char *name;
	json_t *one;
	bool fits = json_is_object(values);
	json_object_foreach((json_t *)values, name, one) fits =
		fits && *name && json_is_number(json_object_get(one, "value")) && json_is_string(json_object_get(one, "unit"));
	return fits ? 0 : err_set(err, ERR_USAGE, NULL, "must be an object of values with units");
}

int profile_counted_check(const json_t *counted, struct err *err) {
	if (values_check(json_object_get(counted, "counters"), err))
		return err_prefix(err, "counters");
	return values_check(json_object_get(counted, "metrics"), err) ? err_prefix(err, "metrics") : 0;
}
