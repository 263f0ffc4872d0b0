/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles that someone broke, through the reader and all that `sweetspot profile` does with them. */
#include "tests/tuner/profile/made.h"
#include "tuner/profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROUNDS = 12000 };

static size_t mutate(struct rng *rng, char *text, size_t size) {
	for (uint64_t left = 1 + rng_below(rng, 3); left > 0; left--) {
		size_t at = rng_below(rng, size), from = rng_below(rng, size), most = size - (at > from ? at : from);
		switch (rng_below(rng, 4)) {
		case 0:
			text[at] = (char)rng_below(rng, 256);
			break;
		case 1:
			text[at] = "0123456789-e.\"{}[]:,\n\\"[rng_below(rng, 22)];
			break;
		case 2:
			memmove(text + at, text + from, rng_below(rng, most < 12 ? most : 12));
			break;
		default:
			size = rng_below(rng, 20) == 0 && at > 1 ? at : size;
			break;
		}
	}
	return size;
}

/* A member anywhere becomes another type: bytes alone seldom keep a document whole. */
static void swap_member(struct rng *rng, json_t *json, int depth) {
	json_t *other[] = {json_null(),  json_integer(-1), json_real(1e308), json_string("\x1b[2J"),
	                   json_array(), json_object()};
	const char *key;
	json_t *value;
	size_t count = json_is_array(json) ? json_array_size(json) : json_object_size(json);
	size_t at = count ? rng_below(rng, count) : 0, i = 0;
	if (json_is_array(json) && count) {
		depth ? swap_member(rng, json_array_get(json, at), depth - 1)
			  : (void)json_array_set(json, at, other[rng_below(rng, 6)]);
	} else if (count) {
		json_object_foreach(json, key, value) {
			if (i++ != at)
				continue;
			if (depth && (json_is_object(value) || json_is_array(value)))
				swap_member(rng, value, depth - 1);
			else
				json_object_set(json, key, other[rng_below(rng, 6)]);
			break;
		}
	}
	for (i = 0; i < 6; i++)
		json_decref(other[i]);
}

static void test_mutations(void) {
	struct rng rng;
	rng_seed(&rng, 21);
	size_t passed = 0;
	for (int round = 0; round < ROUNDS; round++) {
		json_t *profile = made_profile(&rng, "sha256:1");
		if (round % 2)
			swap_member(&rng, profile, (int)rng_below(&rng, 6));
		passed += profile_check(profile, NULL) == 0;
		char *text = json_dumps(profile, JSON_COMPACT | JSON_ENCODE_ANY);
		size_t size = round % 2 ? strlen(text) : mutate(&rng, text, strlen(text));
		LLVMFuzzerTestOneInput((const uint8_t *)text, size);
		free(text);
		json_decref(profile);
	}
	ok(passed < ROUNDS && passed > ROUNDS / 3,
	   "%d profiles, some of them broken, are refused or merged, compared and found", ROUNDS);
}

static void schema_is(const char *schema, const char *want) {
	struct rng rng;
	struct err err = {0};
	rng_seed(&rng, 22);
	json_t *profile = made_profile(&rng, "sha256:1");
	json_object_set_new(profile, "schema", json_string(schema));
	ok(profile_check(profile, &err) && err.code == ERR_USAGE && strstr(err.what, want) && *err.hint, "%s: %s", schema,
	   err.what);
	json_decref(profile);
}

int main(void) {
	test_mutations();
	schema_is("sweetspot-profile/2", "newer version");
	schema_is("sweetspot-profile/10", "newer version");
	schema_is("sweetspot-profile/", "not a profile");
	schema_is("sweetspot-tune/1", "not a profile");
	return tap_done();
}
