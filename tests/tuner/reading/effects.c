/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small tables whose truth is known: each reading says it. */
#include "tests/tuner/diagnosis/made.h"
#include "tests/tap.h"
#include "tuner/reading/reading.h"

static json_t *readings_of(struct made *made) {
	made->noise = 0.05;
	struct study *study = made_study(made);
	struct findings *findings = findings_new();
	readings_examine(findings, study);
	json_t *json = findings_json(findings);
	size_t i;
	json_t *one;
	json_array_foreach(json, i, one) printf("# %s %s: %s\n", js_string_or(one, "confidence", ""),
	                                        js_string_or(one, "name", ""), js_string_or(one, "sentence", ""));
	findings_free(findings);
	study_free(study);
	made_free(made);
	return json;
}

static bool says(const json_t *readings, const char *name, const char *part) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)readings, i, one) {
		if (strcmp(js_string_or(one, "name", ""), name) == 0 && strstr(js_string_or(one, "sentence", ""), part))
			return true;
	}
	return false;
}

static struct made *quiet(void) {
	struct made *made = made_new(1, 8, 8);
	made->noise = 0;
	return made;
}

static void test_ranking(void) {
	static const struct {
		const char *name;
		double time;
	} versions[] = {{"plain", 5.53}, {"simd", 2.77}, {"tiled", 0.72}};
	struct made *made = quiet();
	for (size_t i = 0; i < 3; i++)
		made_add(made, json_pack("{s:i}", "n", 100), json_pack("{s:s}", "version", versions[i].name), versions[i].time,
		         NULL);
	json_t *readings = readings_of(made);
	ok(says(readings, "ranking", "tiled is fastest (0.72 s), simd takes 3.85, plain 7.68"),
	   "a ranking with its ratios");
	ok(strcmp(js_string_or(json_array_get(readings, 0), "confidence", ""), "low") == 0,
	   "at low confidence: one value each");
	json_decref(readings);
}

/* Of the sizes 4 .. 2^18 KiB: the caches of the machine end at 2^5, 2^10, 2^14. */
static void array_add(struct made *made, int power, double wave) {
	double time = power <= 5 ? 1.2 : power < 10 ? 4 : power <= 14 ? 12.5 : power == 15 ? 40 : 90;
	made_add(made, json_pack("{s:i}", "array_kib", 1 << power), json_pack("{s:i}", "threads", 1),
	         time * (1 + (power % 2 ? wave : -wave)) * 1e-9, NULL);
}

static void test_plateaus(void) {
	struct made *made = quiet(), *law = quiet();
	for (int power = 2; power <= 18; power++)
		array_add(made, power, 0.02);
	json_t *readings = readings_of(made);
	ok(says(readings, "plateaus", "time has 4 levels over array_kib: one up to 32, 3.33 times as long from 64 on"),
	   "levels over the size of an array");
	json_decref(readings);
	for (int power = 2; power <= 18; power++)
		made_add(law, json_pack("{s:i}", "n", 1 << power), json_pack("{s:i}", "threads", 1), 1e-9 * pow(2, power),
		         NULL);
	readings = readings_of(law);
	ok(!says(readings, "plateaus", "levels") && says(readings, "growth", "n^1.00"), "a law has none");
	json_decref(readings);
}

static void test_serial(void) {
	struct made *made = quiet();
	for (int n = 64; n <= 256; n *= 2) {
		made_add(made, json_pack("{s:i}", "n", n), json_pack("{s:s,s:i}", "variant", "serial", "threads", 1), n * 1.0,
		         NULL);
		for (int t = 1; t <= 8; t *= 2)
			made_add(made, json_pack("{s:i}", "n", n), json_pack("{s:s,s:i}", "variant", "omp", "threads", t),
			         n * 1.15 * (0.45 + 0.55 / t), NULL);
	}
	json_t *readings = readings_of(made);
	ok(says(readings, "serial", "one thread of the parallel code takes 1.15 times"), "what one thread costs");
	ok(says(readings, "serial", "no team is twice as fast as serial code"), "a reading says what teams bring");
	json_decref(readings);
}

static void test_curve(void) {
	static const double times[3][6] = {
		{1.18, 1.18, 1.18, 1.18, 1.18, 1.18}, {1.05, 0.94, 0.86, 0.86, 0.86, 0.96}, {0.66, 0.7, 0.8, 0.95, 1.2, 1.6}};
	static const char *const variants[] = {"naive", "shared", "fused"};
	struct made *made = quiet();
	for (int v = 0; v < 3; v++)
		for (int b = 0; b < 6; b++)
			made_add(made, json_object(), json_pack("{s:s,s:i}", "variant", variants[v], "block", 32 << b), times[v][b],
			         NULL);
	json_t *readings = readings_of(made);
	ok(says(readings, "curve", "variant=fused: fastest with block=32"), "where a curve is least");
	ok(says(readings, "crossing", "variant=fused is faster up to block=128, variant=shared from 256 on"),
	   "a reading says where curves cross");
	json_decref(readings);
}

static void test_growth(void) {
	struct made *made = quiet();
	for (int n = 512; n <= 4096; n *= 2)
		for (int b = 16; b <= 128; b *= 2)
			made_add(made, json_pack("{s:i}", "n", n), json_pack("{s:i}", "block", b),
			         pow(n / 512.0, b == 128 ? 2 : 3) * (1 + 4.0 / b), NULL);
	json_t *readings = readings_of(made);
	ok(says(readings, "growth", "time grows as n^3.00"), "the law over sizes");
	ok(says(readings, "growth", "block=128 grows as n^2.00"), "a reading names the block that breaks the law");
	json_decref(readings);
}

static void test_parts(void) {
	static const double parts[3][3] = {{0.6, 0.1, 0.2}, {1, 2, 0.5}, {1.5, 6, 0.8}};
	struct made *made = quiet();
	for (int i = 0; i < 3; i++)
		made_add(made, json_pack("{s:i}", "n", 5000 * (i + 1)), json_object(), parts[i][0] + parts[i][1] + parts[i][2],
		         json_pack("{s:[{s:s,s:f,s:s},{s:s,s:f,s:s},{s:s,s:f,s:s}]}", "figures", "name", "input_s", "value",
		                   parts[i][0], "unit", "s", "name", "compute_s", "value", parts[i][1], "unit", "s", "name",
		                   "output_s", "value", parts[i][2], "unit", "s"));
	json_t *readings = readings_of(made);
	ok(says(readings, "parts", "input_s (67 %) at n=5000, compute_s (72 %) at n=15000"), "the largest part moves");
	json_decref(readings);
}

static void test_repeats(void) {
	struct made *made = quiet();
	static const double count[] = {84, 10}, time[] = {5.43, 0.111};
	for (int i = 0; i < 2; i++)
		made_add(made, json_pack("{s:s}", "graph", "queen"), json_pack("{s:s}", "variant", i ? "warp" : "thread"),
		         time[i],
		         json_pack("{s:[{s:s,s:f,s:s}]}", "figures", "name", "iterations", "value", count[i], "unit", ""));
	json_t *readings = readings_of(made);
	ok(says(readings, "repeats", "8.4 times by the number of iterations, 5.82 times by each"),
	   "fewer and shorter iterations");
	json_decref(readings);
}

int main(void) {
	test_ranking();
	test_plateaus();
	test_serial();
	test_curve();
	test_growth();
	test_parts();
	test_repeats();
	return tap_done();
}
