/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/profile/sizes.h"

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/profile/profile.h"
#include "tuner/profile/program.h"
#include "tuner/program/environment.h"
#include "tuner/sizes/sizes.h"

static void environments_add(json_t *one) {
	size_t i;
	json_t *range;
	const char *kernel = js_string_or(one, "kernel", "");
	json_array_foreach(json_object_get(one, "thresholds"), i, range)
		json_object_set_new(range, "environment", config_environment(kernel, json_object_get(range, "config")));
}

static bool is_there(const json_t *sizes, const char *kernel, const char *objective) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)sizes, i, one) {
		if (strcmp(js_string_or(one, "kernel", ""), kernel) == 0 &&
		    strcmp(js_string_or(one, "objective", ""), objective) == 0)
			return true;
	}
	return false;
}

static int kernel_add(json_t *sizes, struct store *store, const char *fingerprint, const json_t *entry,
                      struct err *err) {
	const char *kernel = js_string_or(entry, "kernel", ""), *objective = js_string_or(entry, "objective", "time");
	struct err why = {0};
	if (json_object_get(entry, "program") || is_there(sizes, kernel, objective))
		return 0;
	struct sizes *found = sizes_load(store, fingerprint, kernel, objective, NULL, NULL, &why);
	if (!found && why.code != ERR_NOTHING) {
		*err = why;
		return -1;
	}
	if (found && sizes_count(found) > 1) {
		json_t *one = sizes_json(found);
		environments_add(one);
		json_array_append_new(sizes, one);
	}
	sizes_free(found);
	return 0;
}

json_t *profile_sizes(struct store *store, const char *fingerprint, const json_t *entries, struct err *err) {
	json_t *sizes = json_array(), *entry;
	size_t i;
	json_array_foreach((json_t *)entries, i, entry) {
		if (kernel_add(sizes, store, fingerprint, entry, err) == 0)
			continue;
		json_decref(sizes);
		return NULL;
	}
	return sizes;
}

static int refuse(struct err *err, size_t at, const char *what) {
	return err_set(err, ERR_USAGE, "`sweetspot export --format json` makes them", "sizes: %zu: %s", at, what);
}

/* Ranges must be ascending and must not overlap. */
static int ranges_check(const json_t *ranges, size_t at, struct err *err) {
	double before = -INFINITY;
	size_t i;
	json_t *range;
	if (json_array_size(ranges) < 1 || json_array_size(ranges) > SIZES_MAX)
		return refuse(err, at, "thresholds: must be 1 to 64 ranges");
	json_array_foreach((json_t *)ranges, i, range) {
		double from = js_real_or(range, "from", NAN), to = js_real_or(range, "to", NAN);
		if (!(from >= before && to >= from))
			return refuse(err, at, "thresholds: a range must not end before it begins, nor overlap the one before");
		if (profile_check_settings(json_object_get(range, "config"), NULL) ||
		    profile_check_variables(json_object_get(range, "environment"), NULL, NULL))
			return refuse(err, at, "thresholds: a range must have a configuration and its environment");
		before = to;
	}
	return 0;
}

int profile_sizes_check(const json_t *sizes, struct err *err) {
	size_t i;
	json_t *one;
	if (!json_is_array(sizes))
		return err_set(err, ERR_USAGE, NULL, "sizes: must be an array");
	json_array_foreach((json_t *)sizes, i, one) {
		if (!*js_string_or(one, "kernel", "") || !*js_string_or(one, "over", ""))
			return refuse(err, i, "must name a kernel and the number that its sizes are values of");
		if (profile_check_settings(json_object_get(one, "problem"), NULL) ||
		    !json_is_array(json_object_get(one, "measured")))
			return refuse(err, i, "must have the rest of the problem, and the measured sizes");
		if (ranges_check(json_object_get(one, "thresholds"), i, err))
			return -1;
	}
	return 0;
}
