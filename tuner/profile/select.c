/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/profile/select.h"

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/profile/use.h"

const char *profile_fit_word(enum profile_fit fit) {
	static const char *const words[] = {"exact", "interpolated", "nearest"};
	return words[fit];
}

static struct sweetspot_value *values_of(const json_t *problem) {
	struct sweetspot_value *values = mem_alloc(json_object_size(problem) + 1, sizeof *values);
	size_t count = 0;
	js_members (name, value, problem) {
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

/* Is the problem of the entry what is asked for, as far as it is asked for? */
static bool is_asked(const json_t *entry, const json_t *problem) {
	js_members (name, value, problem) {
		const json_t *there = json_object_get(json_object_get(entry, "problem"), name);
		if (!json_equal(value, (json_t *)there) &&
		    !(json_is_number(value) && json_is_number(there) && json_number_value(value) == json_number_value(there)))
			return false;
	}
	return true;
}

/* Nothing is found: either nothing near was tuned, or it is not proven. */
static int not_proven(const json_t *profile, const char *kernel, const char *objective, const json_t *problem,
                      struct err *err) {
	js_each (entry, json_object_get(profile, "entries")) {
		if (strcmp(js_string_or(entry, "kernel", ""), kernel) != 0 ||
		    strcmp(js_string_or(entry, "objective", "time"), objective) != 0 || ssp_use_of(entry) != SSP_OPEN ||
		    !is_asked(entry, problem))
			continue;
		mem_auto char *proof = profile_use_proof(entry);
		err_set(err, ERR_NOTHING, NULL, "nothing is recommended for %s: %s", kernel, profile_use_why(entry));
		err_hint(err, "to prove it: %s", proof ? proof : "tune it again");
		return -1;
	}
	return err_set(err, ERR_NOTHING, "`sweetspot profile show` lists the problems that were tuned",
	               "%s was tuned for %s, but not for a problem near this one", kernel, objective);
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
	mem_auto struct sweetspot_value *values = values_of(problem);
	enum ssp_use use = SSP_OPEN;
	const sweetspot_config *config = ssp_find(open, kernel, wanted, values, json_object_size(problem), &match, &use);
	if (config && use == SSP_PROVEN)
		choice_set(profile, ssp_place_of(open, config), &match, choice);
	else if (config)
		err_set(err, ERR_NOTHING, "keep the setting that you have",
		        "nothing is recommended for %s here: nothing is proven to be faster than the baseline", kernel);
	else
		not_proven(profile, kernel, wanted, problem, err);
	sweetspot_close(open);
	return config && use == SSP_PROVEN ? 0 : -1;
}
