/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each mechanism must be found where it acts, with the right subject, and nowhere else. */
#include "tests/tuner/diagnosis/mechanisms.h"
#include "tests/tap.h"

enum { SEEDS = 40 };

static void print_one(const json_t *findings, const char *name) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)findings, i, one) {
		if (strcmp(js_string_or(one, "name", ""), name) == 0)
			printf("# %s: %s\n#   %s\n", js_string_or(one, "confidence", ""), js_string_or(one, "sentence", ""),
			       js_string_or(one, "next", "-"));
	}
}

/* A finding without evidence or an experiment cannot be checked or acted on. */
static bool is_complete(const json_t *findings) {
	bool all = true;
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)findings, i, one) {
		all = all && json_array_size(json_object_get(one, "evidence")) > 0 &&
		      json_string_length(json_object_get(one, "sentence"));
		all = all && json_is_string(json_object_get(one, "next"));
	}
	return all;
}

static void test_mechanism(const struct mechanism *mechanism) {
	int found = 0, elsewhere = 0, false_alarms = 0, complete = 0;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct made *acts = mechanism->make(seed, true), *not = mechanism->make(seed, false);
		json_t *with = made_findings(acts);
		found += made_count(with, mechanism->diagnosis, mechanism->key, mechanism->value) > 0;
		if (mechanism->not_key)
			elsewhere += made_count(with, mechanism->diagnosis, mechanism->not_key, mechanism->not ) > 0;
		false_alarms += made_finds(not, mechanism->diagnosis, NULL, NULL) > 0;
		complete += is_complete(with);
		if (seed == 0)
			print_one(with, mechanism->diagnosis);
		json_decref(with);
		made_free(acts);
		made_free(not );
	}
	ok(found >= SEEDS * 95 / 100, "%s (%s): found in %d of %d tables", mechanism->diagnosis,
	   mechanism->key ? mechanism->key : "all", found, SEEDS);
	ok(elsewhere <= SEEDS / 20, "%s: found for the wrong subject in %d", mechanism->diagnosis, elsewhere);
	ok(false_alarms <= SEEDS / 20, "%s: where it does not act, found in %d", mechanism->diagnosis, false_alarms);
	ok(complete == SEEDS, "%s: with evidence and an experiment", mechanism->diagnosis);
}

int main(void) {
	for (size_t i = 0; i < MECHANISMS; i++)
		test_mechanism(&mechanisms[i]);
	return tap_done();
}
