/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the conclusions from measurements of an H100 (recorded/README.md). */
#include "base/json/js.h"
#include "tests/tuner/diagnosis/gpu_help.h"

static json_t *recorded(const char *name) {
	char path[1024];
	struct err err;
	snprintf(path, sizeof path, RECORDED "/%s.json", name);
	json_t *json = js_load(path, 1 << 20, &err);
	if (!json)
		ok(false, "%s can be read", name);
	return json;
}

static bool is_wanted(const json_t *config, const char *parameter, const char *only) {
	return strcmp(js_string_or(config, parameter, ""), only) == 0;
}

/* only: keeps rows whose configuration has this word for that parameter, NULL: all; at most so many. */
static json_t *explained_some(const json_t *json, const char *parameter, const char *only, size_t most) {
	struct study *study = study_new(js_string_or(json, "kernel", "?"), js_string_or(json, "device", "?"));
	size_t i, taken = 0;
	json_t *row;
	study_machine(study, json_object_get(json, "machine"), json_object_get(json, "ceilings"), NAN);
	json_array_foreach(json_object_get(json, "rows"), i, row) {
		double samples[8];
		size_t s, count = 0;
		json_t *sample;
		if (taken == most || (only && !is_wanted(json_object_get(row, "config"), parameter, only)))
			continue;
		taken++;
		json_array_foreach(json_object_get(row, "samples"), s, sample) {
			if (count < 8)
				samples[count++] = json_number_value(sample);
		}
		struct study_trial trial = {.problem = json_object_get(row, "problem"),
		                            .config = json_object_get(row, "config"),
		                            .phase = "sweep",
		                            .status = js_string_or(row, "status", ""),
		                            .value = js_real_or(row, "median", NAN),
		                            .samples = samples,
		                            .sample_count = count,
		                            .detail = row};
		study_add(study, &trial);
	}
	study_finish(study);
	json_t *list = examined(study);
	printf("# %zu rows, chance of such a pattern %.3f\n", study_rows(study), study_pattern(study));
	study_free(study);
	json_array_foreach(list, i, row) {
		printf("# %s (%s): %s\n", js_string_or(row, "name", "?"), js_string_or(row, "confidence", "?"),
		       js_string_or(row, "sentence", "?"));
	}
	return list;
}

static json_t *explained(const json_t *json, const char *parameter, const char *only) {
	return explained_some(json, parameter, only, SIZE_MAX);
}

static bool is_sure(const json_t *one) {
	return one && strcmp(js_string_or(one, "confidence", "low"), "low") != 0;
}

static void fw_test(void) {
	json_t *json = recorded("gpu_fw"), *list = explained(json, NULL, NULL);
	const json_t *tile = found_of(list, "register_tile");
	double gain = js_real_or(tile, "strength", NAN);
	ok(is_sure(tile), "fw: the tile in registers is what decides");
	ok(gain > 1.5 && gain < 2.5, "fw: by about 2 (%.2f)", gain);
	ok(!found_of(list, "occupancy_limiter"), "fw: not occupancy, which falls with the time");
	ok(!found_of(list, "launch_overhead") && !found_of(list, "transfer_bound"), "fw: neither launches nor copies");
	json_decref(list);
	json_decref(json);
}

static void copies_test(void) {
	json_t *json = recorded("gpu_fw_copies"), *list = explained(json, NULL, NULL);
	ok(found_of(list, "transfer_bound"), "copies to and from memory that is not pinned");
	json_decref(list);
	json_decref(json);
}

static void launches_test(void) {
	json_t *json = recorded("gpu_quake_launch"), *list = explained(json, NULL, NULL);
	ok(is_sure(found_of(list, "launch_overhead")), "a kernel per step: launches");
	ok(!found_of(list, "host_bound") && !found_of(list, "dram_bandwidth"),
	   "a kernel per step is blamed neither on the host's work nor on memory");
	json_decref(list);
	json_decref(json);
}

static void atomics_test(void) {
	json_t *json = recorded("gpu_quake_reduction"), *list = explained(json, NULL, NULL);
	const json_t *one = found_of(list, "atomic_contention");
	ok(one && strcmp(js_string_or(one, "confidence", ""), "high") == 0, "a million threads add to one word");
	is_text(js_string_or(json_object_get(one, "about"), "reduction", NULL), "atomics",
	        "the finding is about that word");
	json_decref(list);
	json_decref(json);
}

static void kmeans_test(void) {
	json_t *json = recorded("gpu_kmeans_variant"), *list = explained(json, NULL, NULL);
	ok(is_sure(found_of(list, "host_bound")), "new centres by the host: the GPU waits");
	ok(found_of(list, "shared_memory"), "the fastest variant of kmeans is limited by shared memory");
	json_decref(list);
	list = explained(json, "variant", "all_gpu");
	ok(found_of(list, "atomic_contention"), "all on the GPU with atomic sums: warps wait for each other");
	json_decref(list);
	json_decref(json);
}

static void block_test(void) {
	json_t *json = recorded("gpu_kmeans_block"), *list = explained(json, "variant", "all_gpu");
	ok(!found_of(list, "partial_warps") && !found_of(list, "occupancy_limiter"),
	   "blocks that make no difference are not blamed");
	json_decref(list);
	json_decref(json);
}

static void memory_test(void) {
	json_t *json = recorded("gpu_gol"), *list = explained_some(json, "variant", "bits", STUDY_ROWS_LEAST - 1);
	ok(found_of(list, "dram_bandwidth"), "two bits a cell: the memory");
	json_decref(list);
	json_decref(json);
}

static void graphs_test(void) {
	json_t *json = recorded("gpu_cc"), *list = explained(json, "none", NULL);
	ok(!found_of(list, "dram_bandwidth") && !found_of(list, "compute_peak"),
	   "graphs: neither bandwidth nor arithmetic");
	json_decref(list);
	json_decref(json);
}

/* Shuffles times and samples among rows of the same problem; launches and counters stay. */
static void times_shuffle(json_t *rows, struct rng *rng) {
	for (size_t i = json_array_size(rows); i-- > 1;) {
		json_t *a = json_array_get(rows, i), *b = json_array_get(rows, rng_below(rng, i + 1));
		if (!json_equal(json_object_get(a, "problem"), json_object_get(b, "problem")))
			continue;
		static const char *const members[] = {"median", "samples"};
		for (size_t m = 0; m < 2; m++) {
			json_t *kept = json_incref(json_object_get(a, members[m]));
			json_object_set(a, members[m], json_object_get(b, members[m]));
			json_object_set_new(b, members[m], kept);
		}
	}
}

static void shuffled_test(void) {
	static const char *const names[] = {
		"gpu_fw", "gpu_kmeans_block", "gpu_kmeans_variant", "gpu_quake_reduction", "gpu_quake_launch",
		"gpu_cc", "gpu_gol"};
	int tables = 0, told = 0;
	for (size_t n = 0; n < sizeof names / sizeof *names; n++)
		for (int seed = 0; seed < 20; seed++) {
			struct rng rng;
			json_t *json = recorded(names[n]);
			rng_seed(&rng, (uint64_t)seed);
			times_shuffle(json_object_get(json, "rows"), &rng);
			json_t *list = explained(json, NULL, NULL);
			tables++;
			told += json_array_size(list) > 0;
			json_decref(list);
			json_decref(json);
		}
	ok(told * 20 < tables, "shuffled times lead to a diagnosis in %d of %d tables", told, tables);
}

/* Kernels with a known defect on an H200, with it and without: the reason is named, it promises what its removal gained
 * and hardly more, and warps that wait for something else are not said to wait for atomics. */
static void planted_test(void) {
	json_t *json = recorded("gpu_planted"), *one;
	size_t i;
	json_array_foreach(json_object_get(json, "cases"), i, one) {
		const char *kernel = js_string_or(one, "kernel", "?"), *reason = js_string_or(one, "reason", "?");
		json_object_set(one, "machine", json_object_get(json, "machine"));
		json_object_set(one, "ceilings", json_object_get(json, "ceilings"));
		json_t *list = explained(one, NULL, NULL);
		double gain = js_real_or(one, "gain", NAN), most = js_real_or(found_of(list, reason), "at_most", NAN);
		ok(most > 0.97 * gain && most < 1.6 * gain, "%s: %s, up to %.3g where %.3g were gained", kernel, reason, most,
		   gain);
		ok(strcmp(reason, "atomic_contention") == 0 || !found_of(list, "atomic_contention"),
		   "%s: no other reason is taken for atomic operations", kernel);
		json_decref(list);
	}
	json_decref(json);
}

int main(void) {
	shuffled_test();
	fw_test();
	copies_test();
	launches_test();
	atomics_test();
	kmeans_test();
	block_test();
	memory_test();
	graphs_test();
	planted_test();
	return tap_done();
}
