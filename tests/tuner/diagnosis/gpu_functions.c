/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hottest function of a GPU: which one it is, what bounds it, and the gain, from counters by function. */
#include "base/json/js.h"
#include "tests/tuner/diagnosis/gpu_help.h"

static void counter_add(json_t *function, const char *name, double mean) {
	json_array_append_new(json_object_get(function, "counters"),
	                      json_pack("{s:s,s:s,s:f,s:f,s:f}", "name", name, "unit", "", "least", mean / 2, "mean", mean,
	                                "most", 2 * mean));
}

/* sm, memory, active: % of the peak. */
static json_t *function_new(const char *name, int launches, double seconds, double sm, double memory, double active) {
	json_t *function = json_pack("{s:s,s:i,s:i,s:[]}", "name", name, "launches", launches, "counted", 3, "counters");
	counter_add(function, "gpu__time_duration.sum", seconds);
	counter_add(function, "sm__throughput.avg.pct_of_peak_sustained_elapsed", sm);
	counter_add(function, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", memory);
	counter_add(function, "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed", active);
	return function;
}

static void stall_add(json_t *function, const char *reason, double warps) {
	char name[120];
	snprintf(name, sizeof name, "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio", reason);
	counter_add(function, name, warps);
}

/* The finding about two configurations, of which the faster one has these functions. New reference or NULL. */
static json_t *found(json_t *functions) {
	json_t *rows = json_array(), *machine = json_object(), *none = json_array();
	struct quantities q = quantities_plain(1e-3);
	struct rng rng;
	rng_seed(&rng, 3);
	row_add(rows, json_pack("{s:i}", "block", 64), &q, true, &rng);
	json_object_set_new(json_object_get(json_array_get(rows, 0), "detail"), "functions", functions);
	q.time = 2e-3;
	row_add(rows, json_pack("{s:i}", "block", 128), &q, false, &rng);
	struct study *study = study_make(rows, machine, none);
	json_t *list = examined(study), *one = json_incref((json_t *)found_of(list, "hottest_function"));
	json_decref(list);
	study_free(study);
	json_decref(rows);
	json_decref(machine);
	json_decref(none);
	return one;
}

static void is_found(json_t *functions, const char *words, double gain, const char *what) {
	json_t *one = found(functions);
	const char *sentence = js_string_or(one, "sentence", "");
	double strength = js_real_or(one, "strength", NAN);
	ok(strstr(sentence, words) && fabs(strength / gain - 1) < 0.01, "%s: %s (%.3f)", what, sentence, strength);
	json_decref(one);
}

static void test_bounds(void) {
	/* 300 of 400 ms; the SMs could do 25 % more. */
	is_found(
		json_pack("[o,o]", function_new("small", 100, 1e-3, 10, 10, 90), function_new("large", 3, 0.1, 80, 20, 99)),
		"large takes 75 % of the GPU's time in the best configuration and is bound by the SMs' instructions, at 80 %",
		1 / (1 - 0.75 * 0.2), "time is launches by their mean");
	json_t *memory = function_new("copy", 1, 1, 20, 90, 99);
	counter_add(memory, "dram__throughput.avg.pct_of_peak_sustained_elapsed", 90);
	counter_add(memory, "lts__throughput.avg.pct_of_peak_sustained_elapsed", 40);
	is_found(json_pack("[o]", memory), "is bound by the GPU's memory, at 90 %", 1 / 0.9, "memory");
	is_found(json_pack("[o]", function_new("phase", 79, 1e-5, 3, 2, 4.6)), "keeps the SMs busy for only 4.6 %",
	         1 / (1 - 0.95), "idle SMs");
	json_t *latency = function_new("chase", 1, 1, 20, 30, 95);
	stall_add(latency, "selected", 1);
	stall_add(latency, "long_scoreboard", 6);
	stall_add(latency, "barrier", 2);
	stall_add(latency, "not_selected", 1);
	is_found(json_pack("[o]", latency),
	         "its warps mostly wait for global, local or texture memory (long scoreboard 60 %, barrier 20 %)",
	         1 / (1 - 0.6), "latency");
	json_t *few = function_new("few", 1, 1, 20, 30, 95);
	stall_add(few, "selected", 1);
	stall_add(few, "long_scoreboard", 3);
	counter_add(few, "sm__warps_active.avg.pct_of_peak_sustained_active", 12);
	is_found(json_pack("[o]", few),
	         "texture memory (long scoreboard 75 %), and only 12 % of the warps that fit are there", 1 / (1 - 0.75),
	         "too few warps");
	json_t *tensor = function_new("tensor", 1, 1, 20, 30, 95);
	stall_add(tensor, "selected", 1);
	stall_add(tensor, "sleeping", 2);
	stall_add(tensor, "gmma", 7);
	is_found(json_pack("[o]", tensor), "its warps mostly wait for the tensor cores (GMMA 70 %, sleeping 20 %)",
	         1 / (1 - 0.7), "a reason of one architecture");
	json_t *many = function_new("many", 1, 1, 30, 30, 95);
	stall_add(many, "not_selected", 9);
	stall_add(many, "selected", 1);
	is_found(json_pack("[o]", many), "bound neither by the SMs nor by memory: they reach 30 %", 1,
	         "warps that are not chosen hold nothing back");
}

static void test_strange(void) {
	static const char *const strange[] = {
		"null",
		"{}",
		"[]",
		"[null, 5, \"x\", [], {}]",
		"[{\"name\": 5, \"launches\": \"x\", \"counters\": {}}]",
		("[{\"name\": \"%s%n\", \"launches\": 1e308, \"counters\": [{\"name\": \"gpu__time_duration.sum\", \"mean\": "
	     "1e308}]}]"),
		"[{\"name\": \"f\", \"launches\": -1, \"counters\": [{\"name\": \"gpu__time_duration.sum\", \"mean\": 1}]}]",
		"[{\"name\": \"f\", \"launches\": 1, \"counters\": [{\"name\": \"gpu__time_duration.sum\", \"mean\": 1}]}]"};
	for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
		json_t *one = found(json_loads(strange[i], JSON_DECODE_ANY, NULL));
		ok(!one, "nothing is said of %.60s", strange[i]);
		json_decref(one);
	}
}

int main(void) {
	test_bounds();
	test_strange();
	return tap_done();
}
