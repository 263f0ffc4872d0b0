/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes of a kernel from a store: the results that belong together, the ratios from their trials, and the profile that
 * is made from them. */
#include "base/json/js.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/profile/profile.h"
#include "tuner/sizes/sizes.h"

static json_t *config_of(int block) {
	return json_pack("{s:i,s:i}", "threads", 2, "block", block);
}

static void trial(struct store *store, int64_t search, const char *phase, int number, int block, const char *status,
                  double value) {
	struct err err = {0};
	json_t *config = config_of(block);
	char *text = js_canonical(config);
	const struct store_trial one = {.search = search,
	                                .phase = phase,
	                                .block = number,
	                                .config = text,
	                                .status = status,
	                                .value = value,
	                                .samples = &value,
	                                .sample_count = 1,
	                                .started = 1,
	                                .elapsed = 0.1};
	if (store_trial_add(store, &one, &err))
		printf("# %s\n", err.what);
	json_decref(config);
	free(text);
}

static void between(struct store *store, int64_t search, double n, int block, double value) {
	json_t *config = config_of(block), *detail = json_pack("{s:f}", "size", n);
	char *text = js_canonical(config);
	const struct store_trial one = {.search = search,
	                                .phase = "between",
	                                .config = text,
	                                .status = "correct",
	                                .value = value,
	                                .samples = &value,
	                                .sample_count = 1,
	                                .started = 1,
	                                .elapsed = 0.1,
	                                .detail = detail};
	store_trial_add(store, &one, NULL);
	json_decref(config);
	json_decref(detail);
	free(text);
}

/* A finished search of {"n": n, "steps": steps} that `block` won, with `other` against it in pairs. */
static void finish(struct store *store, const char *source, int n, int steps, int block, int other, double ratio) {
	struct err err = {0};
	double best = 1e-6 * n * n;
	char *problem = mem_printf("{\"n\":%d,\"steps\":%d}", n, steps);
	json_t *result = fixture_result("fw", n, best), *config = config_of(block);
	json_object_set_new(json_object_get(result, "problem"), "steps", json_integer(steps));
	json_object_set_new(json_object_get(result, "best"), "config", config);
	int64_t session = fixture_session(store, MACHINE);
	struct store_search search = fixture_like(session, "fw", problem);
	search.source = source;
	store_search_begin(store, &search, &err);
	for (int i = 0; i < 7 && other; i++) {
		double drift = 1 + 0.1 * i; /* slows both */
		const char *status = ratio > 0 ? "correct" : "runtime";
		trial(store, search.id, "cross", i, other, status, ratio > 0 ? ratio * best * drift : NAN);
		trial(store, search.id, "cross", i, block, "correct", best * drift);
	}
	for (int i = 0; i < 3; i++) /* at half as much again */
		between(store, search.id, 1.5 * n, block, 2.25 * best);
	store_search_end(store, search.id, "done", result, &err);
	store_session_end(store, session, "done", 0.01, &err);
	json_decref(result);
	free(problem);
}

static struct sizes *load(struct store *store, const char *over, const json_t *problem) {
	struct err err = {0};
	struct sizes *sizes = sizes_load(store, MACHINE, "fw", "time", over, problem, &err);
	if (!sizes)
		printf("# %s\n", err.what);
	return sizes;
}

static void test_group(struct store *store) {
	struct sizes *sizes = load(store, NULL, NULL);
	js_auto json_t *json = sizes_json(sizes);
	ok(strcmp(js_string_or(json, "over", ""), "n") == 0 && sizes_count(sizes) == 4, "the number with the most sizes");
	ok(sizes && sizes_point(sizes, 0)->n == 100 && sizes_point(sizes, 3)->n == 800, "sizes come in ascending order");
	sizes_free(sizes);
	sizes = load(store, "steps", NULL);
	ok(sizes && sizes_count(sizes) == 2, "another number, if it is asked for");
	sizes_free(sizes);
	json_t *problem = json_pack("{s:i}", "steps", 20);
	sizes = load(store, "n", problem);
	ok(sizes && sizes_count(sizes) == 1, "sizes have the other members as asked for");
	sizes_free(sizes);
	json_object_set_new(problem, "steps", json_integer(77));
	sizes = load(store, "n", problem);
	ok(!sizes, "a kernel that was never measured does not have sizes");
	sizes_free(sizes);
	json_decref(problem);
}

static void test_ratios(struct store *store) {
	struct sizes *sizes = load(store, NULL, NULL);
	struct sizes_range ranges[SIZES_RANGES_MAX];
	json_t *small = config_of(16), *large = config_of(64);
	size_t pairs;
	double ratio = sizes_ratio(sizes, 1, large, &pairs);
	ok(fabs(ratio - 1.01) < 1e-9 && pairs == 7, "pairs of a block cancel what slows both: %.4f of %zu", ratio, pairs);
	ok(isinf(sizes_ratio(sizes, 0, large, NULL)), "a configuration that failed does not work");
	ok(isnan(sizes_ratio(sizes, 3, small, NULL)), "a configuration that was not measured is unknown");
	ok(sizes_ratios_read(sizes, store, NULL) == 0 && sizes_ratio(sizes, 1, large, NULL) == ratio,
	   "read twice, the same");
	size_t count = sizes_ranges(sizes, SIZE_MAX, ranges);
	ok(count == 2 && ranges[0].to > 200 && ranges[0].to < 400, "where either will do, the one that loses less");
	sizes_free(sizes);
	json_decref(small);
	json_decref(large);
}

static void test_profile(struct store *store) {
	struct err err = {0};
	json_t *profile = profile_from_store(store, MACHINE, NULL, NULL, NULL, &err);
	json_t *one = json_array_get(json_object_get(profile, "sizes"), 0);
	json_t *ranges = json_object_get(one, "thresholds"), *range = json_array_get(ranges, 1);
	ok(json_array_size(ranges) == 2 && js_int_or(range, "to", 0) == 800, "the profile has the ranges");
	const json_t *variables = json_object_get(range, "environment");
	ok(strcmp(js_string_or(variables, "SWEETSPOT_FW_BLOCK", ""), "64") == 0, "a range has its environment");
	const json_t *law = json_array_get(json_object_get(one, "laws"), 0);
	const json_t *piece = json_array_get(json_object_get(law, "pieces"), 0);
	ok(fabs(js_real_or(piece, "exponent", 0) - 2) < 1e-6 && fabs(js_real_or(piece, "factor", 0) / 1e-6 - 1) < 1e-6,
	   "the profile has the law");
	ok(js_real_or(json_object_get(one, "leave_one_out"), "worst_error", 1) < 1e-6, "the law has its error");
	ok(js_int_or(law, "sizes", 0) == (json_int_t)(4 + json_array_size(json_object_get(one, "between"))) &&
	       json_array_size(json_object_get(one, "between")) == 4,
	   "sizes between bear the law, too");
	json_object_set_new(range, "from", json_integer(100));
	ok(profile_check(profile, &err) && strstr(err.what, "thresholds"), "ranges that overlap are refused: %s", err.what);
	json_object_set_new(range, "from", json_integer(700));
	json_object_set_new(json_object_get(range, "environment"), "LD_PRELOAD", json_string("x.so"));
	ok(profile_check(profile, &err) != 0, "ranges with variables that a profile may not set are refused");
	json_object_set_new(profile, "sizes", json_integer(1));
	ok(profile_check(profile, &err) != 0, "sizes that are no list are refused");
	json_decref(profile);
}

int main(void) {
	fixture_begin();
	char *path = fixture_path("sizes.db");
	struct store *store = fixture_open(path);
	finish(store, "sha256:old", 50, 10, 16, 0, 0);
	finish(store, "sha256:1234", 800, 20, 64, 0, 0);
	finish(store, "sha256:1234", 400, 10, 64, 0, 0);
	finish(store, "sha256:1234", 100, 10, 16, 64, 0);
	finish(store, "sha256:1234", 200, 10, 32, 64, 1.5);
	finish(store, "sha256:1234", 200, 10, 16, 64, 1.01);
	finish(store, "sha256:1234", 800, 10, 64, 0, 0);
	test_group(store);
	test_ratios(store);
	test_profile(store);
	store_close(store);
	free(path);
	return fixture_end();
}
