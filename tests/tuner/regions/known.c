/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions whose best settings are known: found in three runs of the program, right in 19 of 20 seeds, and proven. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "tests/tap.h"
#include "tests/tuner/regions/simulated.h"

enum { SEEDS = 20, RIGHT_LEAST = 19, SEARCHES_MOST = 3 };
static char folder[] = "/tmp/sweetspot-known-XXXXXX";
static char last_table[64]; /* the table that the latest search has left */

static double fork_join(unsigned threads) {
	return threads > 1 ? 2e-6 + 1e-6 * threads : 0;
}

static double tiny(unsigned threads, struct omp_setting setting, double progress) {
	(void)setting;
	(void)progress;
	return 5e-6 / threads + fork_join(threads);
}

static double wide(unsigned threads, struct omp_setting setting, double progress) {
	(void)setting;
	(void)progress;
	return 2e-3 / threads + fork_join(threads);
}

/* A static schedule gives the last thread nearly twice the mean; each piece of a dynamic one costs 50 ns. */
static double triangle(unsigned threads, struct omp_setting setting, double progress) {
	double work = 2e-3 / threads, pieces = 1200.0 / (setting.chunk ? setting.chunk : 1);
	(void)progress;
	if (setting.kind == OMP_KIND_DYNAMIC)
		return work * (1 + 0.02 * (setting.chunk ? setting.chunk : 1) / 8) + 50e-9 * pieces + fork_join(threads);
	if (setting.kind == OMP_KIND_GUIDED)
		return work * 1.25 + fork_join(threads);
	return work * (2 - 1.0 / threads) + fork_join(threads);
}

/* Four threads use all of the bandwidth, and more disturb each other. */
static double memory(unsigned threads, struct omp_setting setting, double progress) {
	(void)setting;
	(void)progress;
	return threads <= 4 ? 4e-3 / threads : 1e-3 * (1 + 0.05 * (threads - 4));
}

/* Whoever compares its first half with its second sees a factor of two in any team. */
static double doubling(unsigned threads, struct omp_setting setting, double progress) {
	(void)setting;
	return (progress < 0.5 ? 2e-3 : 4e-3) / threads + fork_join(threads);
}

static const struct simulated_region regions[] = {{"tiny", OMP_PARALLEL, 20, tiny, NULL},
                                                  {"wide", OMP_LOOP_STATIC, 1, wide, NULL},
                                                  {"triangle", OMP_LOOP_RUNTIME, 1, triangle, NULL},
                                                  {"memory", OMP_LOOP_STATIC, 1, memory, NULL},
                                                  {"doubling", OMP_LOOP_STATIC, 1, doubling, NULL}};

static json_t *tune_within(const struct simulated_program *program, uint64_t seed, double budget_s) {
	struct err err = {0};
	char table[sizeof folder + 16];
	snprintf(table, sizeof table, "%s/table", folder);
	const struct regions_options options = {.library = "lib", .table = table, .seed = seed, .budget_s = budget_s};
	simulated_begin(program, seed);
	json_t *result = regions_tune(&options, &err);
	if (!result)
		printf("# %s\n", err.what);
	rename(table, last_table);
	return result;
}

static json_t *tune(const struct simulated_program *program, uint64_t seed) {
	return tune_within(program, seed, 0);
}

static const json_t *best_of(const json_t *result, const char *name) {
	size_t i;
	json_t *region;
	json_array_foreach(json_object_get(result, "regions"), i,
	                   region) if (strcmp(js_string_or(region, "name", ""), name) == 0) return json_object_get(region,
	                                                                                                           "best");
	return NULL;
}

static double threads_of(const json_t *result, const char *name) {
	return js_real_or(best_of(result, name), "threads", NAN);
}

static bool is_right(const json_t *result) {
	const json_t *loop = best_of(result, "triangle");
	return threads_of(result, "tiny") == 1 && threads_of(result, "wide") == 16 && threads_of(result, "memory") == 4 &&
	       threads_of(result, "doubling") == 16 && js_real_or(loop, "threads", 0) == 16 &&
	       strcmp(js_string_or(loop, "schedule", ""), "dynamic") == 0 && js_int_or(loop, "chunk", 0) >= 8;
}

static void describe(const json_t *result, uint64_t seed) {
	char *text = json_dumps(json_object_get(result, "speedup"), 0);
	printf("# seed %d: %s %s, %d runs of the search;", (int)seed, js_string_or(result, "verdict", "?"), text,
	       simulated_searches());
	for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
		char *best = json_dumps(best_of(result, regions[i].name), JSON_COMPACT);
		printf(" %s %s", regions[i].name, best);
		free(best);
	}
	putchar('\n');
	free(text);
}

static void test_seeds(const char *what, const struct simulated_program *program) {
	int right = 0, proven = 0, most = 0;
	double units = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		json_t *result = tune(program, seed);
		double start = simulated_now(), own = js_real_or(json_object_get(result, "baseline"), "median", NAN);
		bool good = is_right(result);
		right += good;
		proven += strcmp(js_string_or(result, "verdict", ""), "faster") == 0;
		most = simulated_searches() > most ? simulated_searches() : most;
		units += (start - 1) / own / SEEDS;
		if (!good)
			describe(result, seed);
		json_decref(result);
	}
	ok(right >= RIGHT_LEAST, "%s: all regions right in %d of %d seeds", what, right, SEEDS);
	ok(proven >= RIGHT_LEAST, "%s: proven in %d", what, proven);
	ok(most <= SEARCHES_MOST, "%s: found in %d runs", what, most);
	ok(units <= 9, "%s: %.1f runs of the program in all", what, units);
}

/* All teams are alike: nothing may be recommended, whatever the order of the noise. */
static double alike(unsigned threads, struct omp_setting setting, double progress) {
	(void)threads;
	(void)setting;
	return progress < 0.5 ? 1e-4 : 3e-4;
}

static void test_nothing(void) {
	static const struct simulated_region same[] = {{"a", OMP_PARALLEL, 4, alike, NULL},
	                                               {"b", OMP_LOOP_RUNTIME, 2, alike, NULL}};
	static const struct simulated_program program = {
		.regions = same, .count = 2, .steps = 500, .noise = 0.05, .delayed = 0.01, .change_s = 1e-5};
	int kept = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		json_t *result = tune(&program, seed);
		kept += result && strcmp(js_string_or(result, "verdict", ""), "faster") != 0;
		json_decref(result);
	}
	ok(kept >= RIGHT_LEAST, "nothing to gain: nothing is called faster in %d of %d seeds", kept, SEEDS);
}

/* Alone, each of two small regions is best with another team; together, the change costs more than they gain. */
static double best_with_two(unsigned threads, struct omp_setting setting, double progress) {
	(void)setting;
	(void)progress;
	return threads == 2 ? 2.0e-5 : threads == 1 ? 9e-5 : 2.4e-5;
}

static double best_with_eight(unsigned threads, struct omp_setting setting, double progress) {
	(void)setting;
	(void)progress;
	return threads == 8 ? 2.0e-5 : threads == 1 ? 9e-5 : 2.4e-5;
}

static void test_changes(void) {
	static const struct simulated_region two[] = {{"two", OMP_PARALLEL, 1, best_with_two, NULL},
	                                              {"eight", OMP_PARALLEL, 1, best_with_eight, NULL}};
	static const struct simulated_program program = {
		.regions = two, .count = 2, .steps = 40000, .noise = 0.03, .change_s = 2e-5};
	int kept = 0;
	for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
		json_t *result = tune(&program, seed);
		kept += threads_of(result, "two") == threads_of(result, "eight");
		json_decref(result);
	}
	ok(kept == SEEDS / 4, "teams that alternate cost more than they gain: one team for both (%d)", kept);
}

/* Most calls of a V-cycle are best with one thread, and most of its time is in those that are not. */
enum { LEVELS = 7, CYCLES = 200 };

static int level_of(double progress) {
	return (int)(lround(progress * LEVELS * CYCLES) % LEVELS);
}

static double cycle(unsigned threads, struct omp_setting setting, double progress) {
	(void)setting;
	return ldexp(2e-8, 3 * level_of(progress)) / threads + fork_join(threads);
}

static int64_t cycle_size(double progress) {
	return 2 << level_of(progress);
}

static void test_cycle(void) {
	static const struct simulated_region levels[] = {{"cycle", OMP_PARALLEL, 1, cycle, NULL}};
	static const struct simulated_program program = {
		.regions = levels, .count = 1, .steps = LEVELS * CYCLES, .noise = 0.05, .delayed = 0.005, .change_s = 8e-6};
	int kept = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		json_t *result = tune(&program, seed);
		kept += threads_of(result, "cycle") >= 12;
		json_decref(result);
	}
	ok(kept >= RIGHT_LEAST, "a V-cycle keeps its team, which its largest level needs, in %d of %d seeds", kept, SEEDS);
}

/* The same, if a number tells the levels apart: the fork and join of the small ones is most of their time, but in whole
 * runs it is within 1 % of all, so that only the tiny region needs a setting. */
static void test_cycle_sizes(void) {
	static const struct simulated_region levels[] = {{"cycle", OMP_PARALLEL, 1, cycle, cycle_size},
	                                                 {"tiny", OMP_PARALLEL, 1, tiny, NULL}};
	static const struct simulated_program program = {
		.regions = levels, .count = 2, .steps = LEVELS * CYCLES, .noise = 0.05, .delayed = 0.005, .change_s = 8e-6};
	int right = 0, proven = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		json_t *result = tune(&program, seed);
		size_t classes = json_array_size(json_object_get(result, "regions")) - 1;
		char largest[16];
		snprintf(largest, sizeof largest, "cycle %zu", classes);
		right += classes > 1 && threads_of(result, "cycle 1") >= 12 && threads_of(result, largest) >= 12 &&
		         threads_of(result, "tiny") == 1;
		proven += strcmp(js_string_or(result, "verdict", ""), "faster") == 0;
		json_decref(result);
	}
	ok(right >= RIGHT_LEAST, "small levels keep their team, as one thread brings nothing, in %d of %d seeds", right,
	   SEEDS);
	ok(proven >= RIGHT_LEAST, "one thread for a tiny region is proven beside levels in %d", proven);
}

/* One thread is best for the small levels as long as all others have one thread, too. Beside levels of large teams,
 * whose caches have the data, it is not, which an exploration with one team at a time cannot see. */
static double small_level(unsigned threads, struct omp_setting setting, double progress) {
	(void)setting;
	int level = level_of(progress);
	return ldexp(level < 4 ? 1e-6 : 4e-7, 2 * level) / (level < 4 ? 1 : threads) *
	           (level < 4 && threads > 1 ? 1.3 : 1) +
	       fork_join(threads) / 16;
}

static void test_cold(void) {
	static const struct simulated_region levels[] = {{"level", OMP_PARALLEL, 1, small_level, cycle_size}};
	static const struct simulated_program program = {.regions = levels,
	                                                 .count = 1,
	                                                 .steps = LEVELS * CYCLES,
	                                                 .noise = 0.05,
	                                                 .delayed = 0.005,
	                                                 .change_s = 8e-6,
	                                                 .cold = 3};
	int kept = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		json_t *result = tune(&program, seed);
		kept += js_real_or(json_object_get(result, "speedup"), "ratio", 0) > 0.99;
		json_decref(result);
	}
	ok(kept >= RIGHT_LEAST, "settings that win alone and lose together are not proposed, in %d of %d seeds", kept,
	   SEEDS);
}

/* One thread gains less in a small region than the calls of the large region vary. */
static void test_small(void) {
	static const struct simulated_region two[] = {{"tiny", OMP_PARALLEL, 3, tiny, NULL},
	                                              {"wide", OMP_LOOP_STATIC, 16, wide, NULL}};
	static const struct simulated_program program = {
		.regions = two, .count = 2, .steps = 150, .noise = 0.15, .delayed = 0.02, .change_s = 1e-6};
	int right = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		json_t *result = tune_within(&program, seed, 4);
		right += threads_of(result, "tiny") == 1 && threads_of(result, "wide") == SIMULATED_THREADS;
		json_decref(result);
	}
	ok(right >= RIGHT_LEAST, "a small region gets one thread beside a large one in %d of %d seeds", right, SEEDS);
}

/* Its team costs ten times what one thread takes. */
static double dear(unsigned threads, struct omp_setting setting, double progress) {
	(void)setting;
	(void)progress;
	return threads > 1 ? 4e-3 : 4e-4;
}

/* Noise makes teams of the others look better, which whole runs without each of them tell. */
static void test_dear(void) {
	static const struct simulated_region four[] = {{"dear", OMP_PARALLEL, 1, dear, NULL},
	                                               {"one", OMP_PARALLEL, 1, alike, NULL},
	                                               {"two", OMP_PARALLEL, 1, alike, NULL},
	                                               {"three", OMP_PARALLEL, 1, alike, NULL}};
	static const struct simulated_program program = {
		.regions = four, .count = 4, .steps = 150, .noise = 0.3, .delayed = 0.02, .change_s = 1e-6};
	int right = 0, unneeded = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		json_t *result = tune_within(&program, seed, 8);
		right += threads_of(result, "dear") == 1 && strcmp(js_string_or(result, "verdict", ""), "faster") == 0;
		for (size_t i = 1; i < 4; i++)
			unneeded += threads_of(result, four[i].name) != SIMULATED_THREADS;
		json_decref(result);
	}
	ok(right >= RIGHT_LEAST && unneeded <= 2,
	   "a region whose team is dear gets one thread in %d of %d seeds, %d others change", right, SEEDS, unneeded);
}

/* Four threads seem to be best while teams alternate, but not for long: a processor whose clock falls. */
static double tiring(unsigned threads, struct omp_setting setting, double progress) {
	static unsigned last, calls;
	(void)setting;
	(void)progress;
	calls = threads == last ? calls + 1 : 0;
	last = threads;
	if (threads == 4)
		return calls < 60 ? 0.8e-3 : 2.4e-3;
	return threads == SIMULATED_THREADS ? 1e-3 : 2.4e-3;
}

/* Two regions that disturb each other where their teams differ for long: one team for both is best. */
static unsigned mixed_team, mixed_calls;

static double mixing(unsigned threads, struct omp_setting setting, double progress) {
	(void)setting;
	(void)progress;
	mixed_team = threads;
	return threads == 4 ? 1.1e-3 : threads == SIMULATED_THREADS ? 1e-3 : 2.4e-3;
}

static double mixed(unsigned threads, struct omp_setting setting, double progress) {
	mixed_calls = threads == mixed_team ? 0 : mixed_calls + 1;
	return memory(threads, setting, progress) * (mixed_calls < 60 ? 1 : 2);
}

static void test_second_common(void) {
	static const struct simulated_region two[] = {{"mixing", OMP_LOOP_STATIC, 1, mixing, NULL},
	                                              {"mixed", OMP_LOOP_STATIC, 1, mixed, NULL}};
	static const struct simulated_program program = {
		.regions = two, .count = 2, .steps = 150, .noise = 0.02, .change_s = 8e-6};
	int right = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		json_t *result = tune_within(&program, seed, 16);
		right += threads_of(result, "mixed") == 4 && threads_of(result, "mixing") == 4 &&
		         strcmp(js_string_or(result, "verdict", ""), "faster") == 0 && json_object_get(result, "other_plan");
		json_decref(result);
	}
	ok(right >= RIGHT_LEAST, "one team for all is the second plan where teams that differ disturb, in %d", right);
}

static void test_second(void) {
	static const struct simulated_region two[] = {{"memory", OMP_LOOP_STATIC, 1, memory, NULL},
	                                              {"tiring", OMP_LOOP_STATIC, 1, tiring, NULL}};
	static const struct simulated_program program = {
		.regions = two, .count = 2, .steps = 150, .noise = 0.02, .change_s = 8e-6};
	int right = 0, proven = 0, told = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		json_t *result = tune_within(&program, seed, 16);
		const json_t *other = json_object_get(result, "other_plan");
		right += threads_of(result, "memory") == 4 && threads_of(result, "tiring") == SIMULATED_THREADS;
		proven += strcmp(js_string_or(result, "verdict", ""), "faster") == 0;
		told += strcmp(js_string_or(other, "verdict", ""), "slower") == 0 && js_int_or(other, "changed", 0) == 2;
		json_decref(result);
	}
	ok(right >= RIGHT_LEAST, "a region that whole runs contradict keeps its team, others do not, in %d of %d seeds",
	   right, SEEDS);
	ok(proven >= RIGHT_LEAST, "the mixed plan is proven in %d", proven);
	ok(told >= RIGHT_LEAST, "the plan that was slower is reported in %d", told);
}

/* Seconds of a run with the table that a search has left. */
static double seconds_with(const char *table) {
	const struct regions_options options = {.table = table};
	struct regions_runs runs = {.options = &options};
	struct regions_run run;
	struct err err = {0};
	regions_run_plain(&runs, table, false, 0, "", &run, &err);
	return run.seconds;
}

/* A run of the program, as the worker tells it: its output, then its file. */
#define RUN(PRINTS, FILE)                                                                                              \
	"[{\"runs\":1,\"output\":" PRINTS ",\"errors\":[],\"left\":\"\",\"files\":[" FILE "],\"processor_s\":1}]"
#define DIGEST(HASH, BYTES) "\"hash\":\"" HASH "\",\"bytes\":" BYTES
#define NOTHING             "{" DIGEST("e", "0") "}"
#define ANSWER(HASH, BYTES) "{\"name\":\"answer.dat\",\"kind\":\"file\"," DIGEST(HASH, BYTES) "}"
#define PRINTED(HASH, TEXT) "{" DIGEST(HASH, "9") ",\"text\":\"" TEXT "\"}"

/* Settings that do less work never reach the table, however fast they are, and what was compared is said. */
static void test_work(const struct simulated_program *like) {
	static const struct {
		const char *evidence[2], *verdict, *how, *files, *differs, *what;
	} cases[] = {
		{{RUN(NOTHING, ANSWER("a", "900")), RUN(NOTHING, ANSWER("a", "900"))},
	     "faster",
	     "files same",
	     "answer.dat",
	     "",
	     "the same file"},
		{{RUN(NOTHING, ANSWER("a", "900")), RUN(NOTHING, ANSWER("b", "450"))},
	     "faster, but not the same work",
	     "nothing",
	     "",
	     "its answer.dat holds 450 bytes instead of 900",
	     "half of a file"},
		{{RUN(NOTHING, ANSWER("a", "900")), RUN(NOTHING, "")},
	     "faster, but not the same work",
	     "nothing",
	     "",
	     "it does not write answer.dat",
	     "no file"},
		{{RUN(PRINTED("a", "sum 1000"), ""), RUN(PRINTED("b", "sum 998"), "")},
	     "faster, but not the same work",
	     "nothing",
	     "",
	     "it prints \"sum 998\" instead of \"sum 1000\"",
	     "another sum"},
		{{RUN(PRINTED("a", "sum 1000 in 3 s"), ""), RUN(PRINTED("b", "sum 1000 in 1 s"), "")},
	     "faster",
	     "output same",
	     "",
	     "",
	     "the same sum in less time"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct simulated_program program = *like;
		memcpy(program.evidence, cases[i].evidence, sizeof program.evidence);
		json_t *result = tune(&program, 1);
		const json_t *checked = json_object_get(result, "checked"), *evidence = json_object_get(result, "evidence");
		const char *verdict = js_string_or(result, "verdict", "?"), *how = js_string_or(checked, "how", "?");
		const char *differs = json_string_value(json_array_get(json_object_get(evidence, "differs"), 0));
		ok(strcmp(verdict, cases[i].verdict) == 0, "%s: %s", cases[i].what, verdict);
		ok(strcmp(how, cases[i].how) == 0 && strcmp(js_string_or(checked, "files", ""), cases[i].files) == 0,
		   "%s: checked by %s %s", cases[i].what, how, js_string_or(checked, "files", ""));
		ok(strcmp(differs ? differs : "", cases[i].differs) == 0, "%s: %s", cases[i].what, differs ? differs : "");
		ok((seconds_with(last_table) < 0.8 * seconds_with(NULL)) == (strcmp(verdict, "faster") == 0),
		   "%s: the table changes something only where the work is the same", cases[i].what);
		unlink(last_table);
		json_decref(result);
	}
}

int main(void) {
	if (!mkdtemp(folder))
		return 99;
	snprintf(last_table, sizeof last_table, "%s/kept", folder);
	struct simulated_program program = {.regions = regions,
	                                    .count = sizeof regions / sizeof *regions,
	                                    .steps = 400,
	                                    .serial_s = 5e-5,
	                                    .noise = 0.02,
	                                    .change_s = 8e-6};
	test_work(&program);
	test_seeds("a quiet machine", &program);
	program.noise = 0.1;
	program.delayed = 0.01;
	test_seeds("a noisy one", &program);
	test_nothing();
	test_changes();
	test_cycle();
	test_cycle_sizes();
	test_cold();
	test_dear();
	test_small();
	test_second();
	test_second_common();
	unlink(last_table);
	rmdir(folder);
	return tap_done();
}
