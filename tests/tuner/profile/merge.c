/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merging: the same for any order, grouping and repetition; every conflict is told or refused; nothing else is lost. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tests/tuner/profile/made.h"
#include "tuner/profile/profile.h"

enum { ROUNDS = 400, PROFILES = 4 };
static const enum profile_prefer settled[] = {PROFILE_PREFER_NEWEST, PROFILE_PREFER_FASTER};

static json_t *merged(const json_t *profiles, enum profile_prefer prefer, size_t *conflicts) {
	struct err err = {0};
	json_t *told = NULL, *result = profile_merge(profiles, prefer, &told, &err);
	if (conflicts)
		*conflicts = json_array_size(told);
	json_decref(told);
	return result;
}

/* The first check that failed. */
static void told(const char *what, int wrong) {
	if (!ok(wrong < 0, "%s", what))
		printf("# in round %d\n", wrong);
}

static json_t *made_array(struct rng *rng, size_t count) {
	static const char *const machines[] = {"sha256:0123456789abcdef", "sha256:ff"};
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, made_profile(rng, machines[rng_below(rng, 2)]));
	return array;
}

static json_t *shuffled(struct rng *rng, const json_t *array) {
	json_t *copy = json_copy((json_t *)array), *other = json_array();
	while (json_array_size(copy)) {
		size_t at = rng_below(rng, json_array_size(copy));
		json_array_append(other, json_array_get(copy, at));
		json_array_remove(copy, at);
	}
	json_decref(copy);
	return other;
}

/* Merged in two steps, each profile once or twice. */
static json_t *in_steps(struct rng *rng, const json_t *array, enum profile_prefer prefer) {
	json_t *first = json_array();
	size_t half = rng_below(rng, json_array_size(array)) + 1;
	for (size_t i = 0; i < half; i++)
		json_array_append(first, json_array_get(array, i));
	json_t *partly = merged(first, prefer, NULL);
	for (size_t i = rng_below(rng, half + 1); partly && i < json_array_size(array); i++)
		json_array_append(partly, json_array_get(array, i));
	json_t *all = partly ? merged(partly, prefer, NULL) : NULL;
	json_decref(first);
	json_decref(partly);
	return all;
}

static void test_order(void) {
	int order = -1, steps = -1, again = -1, checked = -1;
	struct rng rng;
	rng_seed(&rng, 3);
	for (int round = 0; round < ROUNDS; round++) {
		enum profile_prefer prefer = settled[round % 2];
		json_t *profiles = made_array(&rng, PROFILES), *other = shuffled(&rng, profiles);
		json_t *one = merged(profiles, prefer, NULL), *two = merged(other, prefer, NULL);
		json_t *parts = in_steps(&rng, profiles, prefer), *once = merged(one, PROFILE_PREFER_NONE, NULL), *profile;
		size_t i;
		order = one && json_equal(one, two) ? order : round;
		steps = json_equal(one, parts) ? steps : round;
		again = json_equal(one, once) ? again : round;
		json_array_foreach(one, i, profile) checked = profile_check(profile, NULL) == 0 ? checked : round;
		json_decref(profiles);
		json_decref(other);
		json_decref(one);
		json_decref(two);
		json_decref(parts);
		json_decref(once);
	}
	told("the order makes no difference", order);
	told("nor do steps, and profiles that are given twice", steps);
	told("what is merged has no conflicts, and stays as it is", again);
	told("it passes the check of profiles", checked);
}

static const char *machine_of(const json_t *profile) {
	return js_string_or(json_object_get(profile, "machine"), "fingerprint", "");
}

static size_t keys_count(const json_t *profiles, json_t *configs) {
	json_t *profile, *entry;
	size_t i, k;
	json_array_foreach((json_t *)profiles, i, profile) {
		json_array_foreach(json_object_get(profile, "entries"), k, entry) {
			char *key = profile_entry_key(entry), *config = js_canonical(json_object_get(entry, "config"));
			char *full = mem_printf("%s %s", key, machine_of(profile));
			json_t *set = json_object_get(configs, full);
			if (!set)
				json_object_set_new(configs, full, set = json_object());
			json_object_set_new(set, config, json_true());
			free(key);
			free(full);
			free(config);
		}
	}
	return json_object_size(configs);
}

/* Counted here in another way. */
static size_t conflicts_in(const json_t *configs) {
	const char *key;
	json_t *set;
	size_t conflicts = 0;
	json_object_foreach((json_t *)configs, key, set) conflicts += json_object_size(set) > 1;
	return conflicts;
}

static void test_conflicts(void) {
	int refused = -1, counted = -1, kept = -1;
	struct rng rng;
	rng_seed(&rng, 4);
	for (int round = 0; round < ROUNDS; round++) {
		json_t *profiles = made_array(&rng, 2), *configs = json_object(), *after = json_object(), *profile;
		size_t i, told_of, keys;
		json_array_foreach(profiles, i, profile) json_object_del(profile, "sizes");
		keys = keys_count(profiles, configs);
		json_t *strict = merged(profiles, PROFILE_PREFER_NONE, &told_of);
		json_t *loose = merged(profiles, PROFILE_PREFER_NEWEST, NULL);
		refused = (strict == NULL) == (conflicts_in(configs) > 0) ? refused : round;
		counted = told_of == conflicts_in(configs) ? counted : round;
		kept = keys_count(loose, after) == keys && conflicts_in(after) == 0 ? kept : round;
		json_decref(profiles);
		json_decref(configs);
		json_decref(after);
		json_decref(strict);
		json_decref(loose);
	}
	told("it is refused where configurations differ, and only there", refused);
	told("each conflict is told", counted);
	told("each problem is there once afterwards", kept);
}

static void test_prefer(void) {
	int wrong[2] = {-1, -1};
	struct rng rng;
	rng_seed(&rng, 5);
	for (int round = 0; round < ROUNDS; round++) {
		json_t *profiles = made_array(&rng, 3), *result = merged(profiles, settled[round % 2], NULL), *a, *b, *was, *is;
		size_t i, k, x, y;
		json_array_foreach(profiles, i, a) json_array_foreach(json_object_get(a, "entries"), k, was)
			json_array_foreach(result, x, b) json_array_foreach(json_object_get(b, "entries"), y, is) {
			char *left = profile_entry_key(was), *right = profile_entry_key(is);
			bool same = strcmp(left, right) == 0 && strcmp(machine_of(a), machine_of(b)) == 0;
			bool better = round % 2 ? js_real_or(was, "median", 0) < js_real_or(is, "median", 0)
			                        : strcmp(profile_entry_date(was), profile_entry_date(is)) > 0;
			wrong[round % 2] = same && better ? round : wrong[round % 2];
			free(left);
			free(right);
		}
		json_decref(profiles);
		json_decref(result);
	}
	told("nothing is newer than what newest takes", wrong[0]);
	told("nothing is faster than what faster takes", wrong[1]);
}

static void test_units(void) {
	struct rng rng;
	rng_seed(&rng, 6);
	json_t *a = made_profile(&rng, "sha256:1"), *b = json_deep_copy(a);
	json_t *entry = json_array_get(json_object_get(b, "entries"), 0);
	json_object_set_new(entry, "config", json_pack("{s:i}", "block", 99));
	json_object_set_new(entry, "unit", json_string("GB/s"));
	json_t *profiles = json_pack("[O,O]", a, b), *faster = merged(profiles, PROFILE_PREFER_FASTER, NULL);
	json_t *newest = merged(profiles, PROFILE_PREFER_NEWEST, NULL);
	ok(!faster && newest, "entries in different units are settled by date only");
	json_decref(a);
	json_decref(b);
	json_decref(profiles);
	json_decref(faster);
	json_decref(newest);
}

static size_t changed(const json_t *a, const json_t *b) {
	json_t *diff = profile_diff(a, b), *row;
	size_t i, count = json_array_size(json_object_get(diff, "machine"));
	json_array_foreach(json_object_get(diff, "entries"), i, row) count +=
		json_array_size(json_object_get(row, "changes")) > 0;
	json_decref(diff);
	return count;
}

static void test_diff(void) {
	int same = -1, both = -1, none = -1;
	struct rng rng;
	rng_seed(&rng, 7);
	for (int round = 0; round < ROUNDS; round++) {
		json_t *a = made_profile(&rng, "sha256:1"), *b = made_profile(&rng, "sha256:1"),
			   *profiles = json_pack("[O]", a);
		json_t *alone = merged(profiles, PROFILE_PREFER_NEWEST, NULL), *copy = json_deep_copy(a);
		same = changed(a, copy) == 0 ? same : round;
		both = changed(a, b) == changed(b, a) ? both : round;
		json_array_remove(json_object_get(json_array_get(alone, 0), "entries"), 0);
		none = changed(a, json_array_get(alone, 0)) == 1 ? none : round;
		json_decref(a);
		json_decref(b);
		json_decref(copy);
		json_decref(alone);
		json_decref(profiles);
	}
	told("a profile does not differ from its copy", same);
	told("there and back the same recommendations have changed", both);
	told("a recommendation that is gone is the only change", none);
}

static json_t *timed(double median, double low, double high, double floor) {
	return json_pack("{s:s,s:{},s:[{s:s,s:{},s:s,s:f,s:[f,f],s:s,s:f}]}", "schema", "sweetspot-profile/1", "machine",
	                 "entries", "kernel", "k", "problem", "objective", "time", "median", median, "ci", low, high,
	                 "unit", "s", "noise_floor", floor);
}

static void verdict_is(json_t *a, json_t *b, const char *want, const char *what) {
	json_t *diff = profile_diff(a, b), *row = json_array_get(json_object_get(diff, "entries"), 0);
	is_text(js_string_or(row, "verdict", "null"), want, what);
	json_decref(diff);
	json_decref(a);
	json_decref(b);
}

static void test_verdicts(void) {
	verdict_is(timed(2, 1.9, 2.1, 0), timed(1, 0.95, 1.05, 0), "faster", "half the time");
	verdict_is(timed(1, 0.95, 1.05, 0), timed(2, 1.9, 2.1, 0), "slower", "twice the time");
	verdict_is(timed(1, 0.999, 1.001, 0), timed(1.005, 1.004, 1.006, 0), "tie", "a change of less than 1 % is nothing");
	verdict_is(timed(1, 0.999, 1.001, 0.05), timed(1.03, 1.029, 1.031, 0), "tie",
	           "a change below the noise is nothing");
	verdict_is(timed(1, 0.999, 1.001, 0), timed(1.03, 1.029, 1.031, 0), "slower",
	           "the same change without noise is something");
	verdict_is(timed(1, 0.5, 2, 0), timed(1.2, 0.6, 2.4, 0), "undecided", "wide intervals leave the verdict open");
	verdict_is(timed(1, NAN, NAN, 0), timed(2, 1.9, 2.1, 0), "null", "no interval gives no verdict");
	json_t *diff, *a = timed(1, 0.9, 1.1, 0), *b = timed(1, 0.9, 1.1, 0);
	diff = profile_diff(a, b);
	json_t *ci = json_object_get(json_array_get(json_object_get(diff, "entries"), 0), "ci");
	double low = json_number_value(json_array_get(ci, 0)), high = json_number_value(json_array_get(ci, 1));
	ok(fabs(low * high - 1) < 1e-12, "there and back, the interval of a ratio is the inverse");
	ok(low > 0.9 / 1.1 && low < 0.9,
	   "the interval of a ratio is narrower than the ratio of the ends, and wider than each: %g", low);
	json_decref(diff);
	json_decref(a);
	json_decref(b);
}

static void origin_is(const char *there, enum profile_origin want, const char *what) {
	json_t *here = json_pack("{s:s,s:s,s:i,s:s,s:{s:s,s:s}}", "fingerprint", "sha256:1", "cpu", "Made", "threads", 4,
	                         "compiler", "gcc (Made 12.2.0-14) 12.2.0", "gpu", "name", "G", "nvrtc", "12.4");
	json_t *changes = json_loads(there, 0, NULL), *other = json_deep_copy(here);
	json_object_update(other, changes);
	is_text(profile_origin_word(profile_origin(here, other)), profile_origin_word(want), what);
	json_decref(here);
	json_decref(other);
	json_decref(changes);
}

static void test_origin(void) {
	origin_is("{}", PROFILE_HERE, "the same fingerprint");
	origin_is("{\"fingerprint\":\"sha256:2\"}", PROFILE_FOREIGN, "another fingerprint of the same members");
	origin_is("{\"fingerprint\":\"sha256:2\",\"threads\":8,\"compiler\":\"gcc 9.1\"}", PROFILE_FOREIGN, "more threads");
	origin_is("{\"fingerprint\":\"sha256:2\",\"compiler\":\"gcc (Made 9.10.0-1) 9.10.0\"}", PROFILE_OLDER_COMPILER,
	          "9.10 is older than 12.2");
	origin_is("{\"fingerprint\":\"sha256:2\",\"compiler\":\"gcc (Made 12.2.1) 12.2.1\"}", PROFILE_OTHER_COMPILER,
	          "a newer one");
	origin_is("{\"fingerprint\":\"sha256:2\",\"compiler\":\"clang version 9.1.0\"}", PROFILE_OTHER_COMPILER,
	          "another one");
	origin_is("{\"fingerprint\":\"sha256:2\",\"cflags\":\"-O3\"}", PROFILE_OTHER_COMPILER, "other flags");
	origin_is("{\"fingerprint\":\"sha256:2\",\"gpu\":{\"name\":\"G\",\"nvrtc\":\"11.0\"}}", PROFILE_OTHER_COMPILER,
	          "another compiler of the GPU");
	origin_is("{\"fingerprint\":\"sha256:2\",\"gpu\":{\"name\":\"H\",\"nvrtc\":\"11.0\"}}", PROFILE_FOREIGN,
	          "another GPU");
}

int main(void) {
	test_order();
	test_conflicts();
	test_prefer();
	test_units();
	test_diff();
	test_verdicts();
	test_origin();
	return tap_done();
}
