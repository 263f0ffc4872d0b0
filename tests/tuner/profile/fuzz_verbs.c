/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes bytes as a profile; one that passes is merged, compared and looked up. The test `hostile` calls this with
 * mutated profiles, `make fuzz` runs it as a target of libFuzzer, where most are merged by one of the rules. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "tests/fuzz.h"
#include "tuner/profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void select_all(const json_t *profile) {
	struct profile_choice choice;
	struct err err = {0};
	json_t *entry, *problem = json_pack("{s:f}", "n", 300.5);
	size_t i;
	json_array_foreach(json_object_get(profile, "entries"), i, entry) {
		const char *kernel = js_string_or(entry, "kernel", "");
		profile_select(profile, kernel, NULL, json_object_get(entry, "problem"), &choice, &err);
		profile_select(profile, kernel, NULL, problem, &choice, &err);
		profile_select_word(profile, kernel, "n=12", problem, &err);
	}
	json_decref(problem);
}

/* A merged profile must pass the check that its parts have passed. */
static void merge_all(const json_t *profile, int rule) {
	struct err err = {0};
	json_t *other = json_deep_copy(profile), *both = json_pack("[O,o]", profile, other), *conflicts = NULL, *one;
	for (enum profile_prefer prefer = PROFILE_PREFER_NONE; prefer <= PROFILE_PREFER_FASTER; prefer++) {
		if (rule >= 0 && prefer != (enum profile_prefer)rule)
			continue;
		json_t *merged = profile_merge(both, prefer, &conflicts, &err);
		size_t i;
		json_array_foreach(merged, i, one) {
			if (profile_check(one, &err))
				abort();
		}
		json_decref(conflicts);
		json_decref(merged);
	}
	json_decref(both);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	json_t *profile = js_parse((const char *)data, size, "input", &err);
	if (profile && profile_check(profile, &err) == 0) {
		json_t *here = json_pack("{s:s,s:s}", "fingerprint", "sha256:1", "compiler", "gcc 12.2.0");
		profile_origin(here, json_object_get(profile, "machine"));
		json_decref(profile_diff(profile, profile));
		merge_all(profile,
		          fuzz_one_in(16, data, size) ? -1 : (int)(fuzz_hash(data, size) % (PROFILE_PREFER_FASTER + 1)));
		select_all(profile);
		json_decref(here);
	}
	json_decref(profile);
	return 0;
}
