/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests diagnoses of GPUs by times: properties of launches, and words of parameters. */
#include "tests/tuner/diagnosis/gpu_help.h"

/* 24 configurations: occupancy by the block, and times by it or only by the unrolling. */
static void occupancy_make(json_t *rows, bool acts, struct rng *rng) {
	static const double occupancy[] = {0.125, 0.25, 0.375, 0.5, 0.625, 0.75};
	for (int block = 0; block < 6; block++)
		for (int unroll = 0; unroll < 4; unroll++) {
			struct quantities q =
				quantities_plain(1e-3 * (1 + 0.2 * unroll) * (acts ? pow(occupancy[block], -0.7) : 1));
			q.occupancy = occupancy[block] * (1 - 0.05 * unroll);
			row_add(rows, json_pack("{s:i,s:i}", "block", 32 << block, "unroll", 1 << unroll), &q, false, rng);
		}
}

/* More of a tile in registers means fewer passes; more stages mean more shared memory and nothing else. */
static void tile_make(json_t *rows, bool acts, struct rng *rng) {
	for (int tile = 0; tile < 4; tile++)
		for (int stages = 1; stages <= 3; stages++)
			for (int unroll = 0; unroll < 2; unroll++) {
				double passes = 1 / (double)(1 << tile);
				struct quantities q = quantities_plain(1e-3 * (acts ? passes : 1) * (1 + 0.3 * unroll));
				q.wavefronts = 0.6 * 33e12 / 128 * 1e-3 * passes;
				q.shared_bytes = 8192 * stages;
				json_t *config = json_pack("{s:i,s:i,s:i}", "tile", 1 << tile, "stages", stages, "unroll", 1 << unroll);
				row_add(rows, config, &q, true, rng);
			}
}

static void threads_make(json_t *rows, bool acts, struct rng *rng) {
	static const int threads[] = {32, 33, 48, 64, 65, 100, 128, 238, 256};
	for (size_t block = 0; block < sizeof threads / sizeof *threads; block++)
		for (int unroll = 0; unroll < 4; unroll++) {
			double waste = (threads[block] + 31) / 32 * 32 / (double)threads[block];
			struct quantities q = quantities_plain(1e-3 * (1 + 0.2 * unroll) * (acts ? waste : 1));
			q.threads = threads[block];
			row_add(rows, json_pack("{s:i,s:i}", "block", threads[block], "unroll", 1 << unroll), &q, false, rng);
		}
}

/* Blocks of waves that are full or not. */
static void waves_make(json_t *rows, bool acts, struct rng *rng) {
	static const double waves[] = {1.05, 1.3, 1.6, 2, 2.1, 2.6, 3, 3.2, 4};
	for (size_t block = 0; block < sizeof waves / sizeof *waves; block++)
		for (int unroll = 0; unroll < 4; unroll++) {
			double waste = ceil(waves[block]) / waves[block];
			struct quantities q = quantities_plain(1e-3 * (1 + 0.2 * unroll) * (acts ? waste : 1));
			q.blocks = floor(1056 * waves[block]);
			row_add(rows, json_pack("{s:i,s:i}", "block", 32 << block, "unroll", 1 << unroll), &q, false, rng);
		}
}

static void words_make(json_t *rows, const char *name, const char *slow, const char *fast, double ratio,
                       struct rng *rng) {
	for (int word = 0; word < 2; word++)
		for (int block = 0; block < 4; block++)
			for (int unroll = 0; unroll < 3; unroll++) {
				struct quantities q =
					quantities_plain(1e-3 * (word ? 1 : ratio) * (1 + 0.1 * block) * (1 + 0.3 * unroll));
				const char *value = word ? fast : slow;
				json_t *config = json_pack("{s:s,s:i,s:i}", name, value, "block", 64 << block, "unroll", 1 << unroll);
				row_add(rows, config, &q, false, rng);
			}
}

static void atomics_make(json_t *rows, bool acts, struct rng *rng) {
	words_make(rows, "sums", "atomics", "shuffle", acts ? 1.6 : 1, rng);
}
static void layout_make(json_t *rows, bool acts, struct rng *rng) {
	words_make(rows, "layout", "aos", "soa", acts ? 1.6 : 1, rng);
}
static void host_memory_make(json_t *rows, bool acts, struct rng *rng) {
	words_make(rows, "memory", "pageable", "pinned", acts ? 1.6 : 1, rng);
}

static void counters_wanted_test(void) {
	struct rng rng;
	json_t *rows = json_array(), *limits = ceilings();
	rng_seed(&rng, 7);
	layout_make(rows, true, &rng);
	struct study *study = study_make(rows, NULL, limits);
	json_t *list = examined(study);
	const json_t *one = found_of(list, "uncoalesced");
	const char *next = json_string_value(json_object_get(one, "next"));
	ok(json_array_size(json_object_get(one, "missing")) > 0, "a quantity that was not counted is named as missing");
	ok(next && strstr(next, "--counters GPU_MEM") && strstr(next, "layout="),
	   "the next experiment counts the missing quantity");
	json_decref(list);
	study_free(study);
	json_decref(rows);
	json_decref(limits);
}

/* Two factors on five sizes, with and without something else, 2.19 times apart, and a model that predicts 2. */
static void model_test(void) {
	json_t *rows = json_array(), *limits = ceilings();
	struct rng rng;
	rng_seed(&rng, 3);
	for (int size = 1; size <= 5; size++)
		for (int i = 0; i < 4; i++) {
			int factor = i / 2 + 1, ahead = i % 2;
			double work = pow(size, 3);
			struct quantities q = quantities_plain(1e-2 * work * (factor == 1 ? 2.19 : 1) * (ahead ? 1 : 1.2));
			row_add(rows, json_pack("{s:i,s:i}", "factor", 32 * factor, "ahead", ahead), &q, false, &rng);
			json_t *row = json_array_get(rows, json_array_size(rows) - 1);
			json_object_set_new(row, "problem", json_pack("{s:i}", "n", 5000 * size));
			named(json_object_get(json_object_get(row, "detail"), "figures"), "shared_wavefronts", 1e9 * work / factor);
		}
	struct study *study = study_make(rows, NULL, limits);
	json_t *list = examined(study);
	const json_t *one = found_of(list, "register_tile");
	double gain = json_number_value(json_object_get(one, "strength"));
	ok(one && fabs(gain - 2.19) < 0.15, "a model of passes explains a factor of %.2f without counters", gain);
	ok(json_array_size(json_object_get(one, "missing")) > 0,
	   "the finding without counters says that nothing was counted");
	json_decref(list);
	study_free(study);
	json_decref(rows);
	json_decref(limits);
}

int main(void) {
	static const struct mechanism all[] = {
		{"occupancy_limiter", "function:occupancy", occupancy_make},
		{"register_tile", "counter:gpu_shared_load_wavefronts", tile_make},
		{"tail_wave", NULL, waves_make},
		{"partial_warps", "function:block", threads_make},
		{"atomic_contention", "config:sums", atomics_make},
		{"uncoalesced", "config:layout", layout_make},
		{"transfer_bound", "config:memory", host_memory_make},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		mechanism_test(&all[i]);
	counters_wanted_test();
	model_test();
	return tap_done();
}
