/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/profile/select.h"

#include <math.h>
#include <stdlib.h>

#include "lib/profile/json.h"
#include "src/base/json/js.h"
#include "src/base/mem.h"

const char *profile_fit_word(enum profile_fit fit) {
	static const char *const words[] = {"exact", "interpolated", "nearest"};
	return words[fit];
}

static struct sweetspot_value *values_of(const json_t *problem) {
	struct sweetspot_value *values = mem_alloc(json_object_size(problem) + 1, sizeof *values);
	size_t count = 0;
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)problem, name, value) {
		double number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
		values[count++] = (struct sweetspot_value){name, number, json_string_value(value)};
	}
	return values;
}

static void choice_set(const json_t *profile, struct ssp_place place, const struct sweetspot_match *match,
                       struct profile_choice *choice) {
	const json_t *one = json_array_get(json_object_get(profile, place.is_entry ? "entries" : "sizes"), place.at);
	const json_t *range = json_array_get(json_object_get(one, "thresholds"), place.range);
	const json_t *from = place.is_entry ? one : range;
	*choice = (struct profile_choice){
		.fit = match->fit == SWEETSPOT_EXACT          ? PROFILE_EXACT
	           : match->fit == SWEETSPOT_INTERPOLATED ? PROFILE_INTERPOLATED
	                                                  : PROFILE_NEAREST,
		.entry = place.is_entry ? one : NULL,
		.sizes = place.is_entry ? NULL : one,
		.range = place.is_entry ? NULL : range,
		.config = json_object_get(from, "config"),
		.environment = json_object_get(from, "environment"),
		.unit = js_string_or(one, "unit", ""),
		.objective = js_string_or(one, "objective", "time"),
		.predicted = match->predicted,
		.measured = match->measured,
		.speedup = match->speedup,
		.distance = match->distance,
	};
}

int profile_select(const json_t *profile, const char *kernel, const char *objective, const json_t *problem,
                   struct profile_choice *choice, struct err *err) {
	char why[SWEETSPOT_MESSAGE] = "";
	const char *wanted = profile_select_objective(profile, kernel, objective, err);
	if (!wanted)
		return -1;
	sweetspot_profile *open = ssp_read(profile, why, sizeof why);
	if (!open)
		return err_set(err, ERR_USAGE, NULL, "programs can't read this profile: %s", why);
	struct sweetspot_match match;
	struct sweetspot_value *values = values_of(problem);
	const sweetspot_config *config = sweetspot_lookup(open, kernel, wanted, values, json_object_size(problem), &match);
	if (config)
		choice_set(profile, ssp_place_of(open, config), &match, choice);
	else
		err_set(err, ERR_NOTHING, "`sweetspot profile show` lists the problems that were tuned",
		        "%s was tuned for %s, but not for a problem near this one", kernel, wanted);
	free(values);
	sweetspot_close(open);
	return config ? 0 : -1;
}
