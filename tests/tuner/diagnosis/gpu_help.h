/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generated tables of GPU measurements in which one mechanism acts or does not, and ways to shuffle them. */
#ifndef TESTS_TUNER_DIAGNOSIS_GPU_HELP_H
#define TESTS_TUNER_DIAGNOSIS_GPU_HELP_H
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"
#include "tests/tuner/diagnosis/alone.h"
#include "tuner/diagnosis/diagnosis.h"

/* The relevant figures of a row beside its time; all of a run. */
struct quantities {
	double time, kernel, copies, cpu, launches, dram, sectors, requests, efficiency, l2_sectors, wavefronts, conflicts;
	double cycles, instructions, lanes /* share */, active, flops, ops, bytes;
	double occupancy, threads, shared_bytes, blocks, tensor, fma /* busy, share */, gmma;
	double stored /* sectors */, stores, store_efficiency;
};

/* A GPU that is neither idle nor limited by anything for `time` seconds. */
static inline struct quantities quantities_plain(double time) {
	double cycles = 132 * 1.9e9 * time * 0.9;
	return (struct quantities){.time = time,
	                           .kernel = 0.97 * time,
	                           .cpu = 0.01 * time,
	                           .launches = 10,
	                           .dram = 0.2 * 3e12 * time,
	                           .sectors = 0.05 * 33e12 * time / 32,
	                           .requests = 0.05 * 33e12 * time / 32 / 4,
	                           .efficiency = 95,
	                           .l2_sectors = 0.1 * 7.7e12 * time / 32,
	                           .wavefronts = 0.1 * 33e12 * time / 128,
	                           .conflicts = 0.01,
	                           .cycles = cycles,
	                           .instructions = 0.4 * 4 * cycles,
	                           .lanes = 0.98,
	                           .active = 90,
	                           .flops = 0.1 * 65e12 * time,
	                           .ops = 1e9,
	                           .bytes = 0.1 * 3e12 * time,
	                           .occupancy = 1,
	                           .threads = 256,
	                           .shared_bytes = 8192,
	                           .blocks = 1056,
	                           .tensor = 0.2,
	                           .fma = 0.3,
	                           .gmma = 1e6,
	                           .stored = 0.01 * 33e12 * time / 32,
	                           .stores = 0.01 * 33e12 * time / 32 / 4,
	                           .store_efficiency = 95};
}

static inline void named(json_t *list, const char *name, double value) {
	json_t *one = json_pack("{s:s,s:f,s:s,s:s}", "name", name, "value", value, "unit", "", "status", "counted");
	json_array_append_new(list, one);
}

static inline json_t *counters_json(const struct quantities *q) {
	json_t *list = json_array();
	double issue = 100 * q->instructions / q->cycles / 4;
	named(list, "gpu_kernel_time", q->kernel);
	named(list, "gpu_launches", q->launches);
	named(list, "gpu_copy_up_time", q->copies);
	named(list, "gpu_copy_down_time", 0);
	named(list, "gpu_dram_read_bytes", q->dram);
	named(list, "gpu_dram_write_bytes", 0);
	named(list, "gpu_global_load_sectors", q->sectors);
	named(list, "gpu_global_load_requests", q->requests);
	named(list, "gpu_load_efficiency", q->efficiency);
	named(list, "gpu_global_store_sectors", q->stored);
	named(list, "gpu_global_store_requests", q->stores);
	named(list, "gpu_store_efficiency", q->store_efficiency);
	named(list, "gpu_l2_sectors", q->l2_sectors);
	named(list, "gpu_shared_load_wavefronts", q->wavefronts);
	named(list, "gpu_shared_store_wavefronts", 0);
	named(list, "gpu_shared_loads", q->wavefronts);
	named(list, "gpu_shared_stores", 0);
	named(list, "gpu_shared_load_conflicts", q->conflicts * q->wavefronts);
	named(list, "gpu_shared_store_conflicts", 0);
	named(list, "gpu_sm_cycles", q->cycles);
	named(list, "gpu_instructions", q->instructions);
	named(list, "gpu_thread_instructions", 32 * q->lanes * q->instructions);
	named(list, "gpu_issue_active", issue);
	named(list, "gpu_cycles_active", q->active);
	named(list, "gpu_sp_add", 0);
	named(list, "gpu_sp_mul", 0);
	named(list, "gpu_sp_fma", q->flops / 2);
	named(list, "gpu_pipe_tensor", 100 * q->tensor);
	named(list, "gpu_pipe_fma", 100 * q->fma);
	named(list, "gpu_tensor_instructions", 1e6);
	named(list, "gpu_tensor_gmma", q->gmma);
	return list;
}

static inline json_t *detail_json(const struct quantities *q, bool counted) {
	json_t *figures = json_array();
	named(figures, "cpu_s", q->cpu);
	json_t *detail =
		json_pack("{s:{s:i,s:[{s:s,s:i,s:f,s:i,s:i,s:[f,i,i],s:[f,i,i],s:f,s:f,s:s,s:i}]},s:{s:f,s:f,s:s},s:o}", "gpu",
	              "runs", 1, "kernels", "function", "f", "registers", 40, "shared_bytes", q->shared_bytes,
	              "local_bytes", 0, "spill_bytes", 0, "block", q->threads, 1, 1, "grid", q->blocks, 1, 1, "launches",
	              q->launches, "occupancy", q->occupancy, "limiter", "registers", "resident", 1056, "work", "ops",
	              q->ops, "bytes", q->bytes, "op", "step", "figures", figures);
	if (counted)
		json_object_set_new(detail, "counters", counters_json(q));
	return detail;
}

/* Adds a row: {"config", "detail", "value"}. */
static inline void row_add(json_t *rows, json_t *config, const struct quantities *q, bool counted, struct rng *rng) {
	double value = q->time * exp(0.03 * rng_normal(rng));
	json_t *detail = detail_json(q, counted);
	json_array_append_new(rows, json_pack("{s:o,s:o,s:f}", "config", config, "detail", detail, "value", value));
}

static inline json_t *ceilings(void) {
	static const struct {
		const char *name, *level;
		double value;
	} all[] = {{"read", "dram", 3000},  {"copy", "dram", 2800},   {"read", "l2", 7700},     {"shared", NULL, 33000},
	           {"upload", NULL, 55},    {"fp32", NULL, 65000},    {"addmin", NULL, 16800},  {"launch", NULL, 3},
	           {"round_trip", NULL, 9}, {"atomic_one", NULL, 43}, {"atomic_many", NULL, 89}};
	json_t *list = json_array();
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		json_array_append_new(list, json_pack("{s:s,s:s,s:s*,s:f}", "name", all[i].name, "device", "cuda", "level",
		                                      all[i].level, "value", all[i].value));
	return list;
}

/* winner, baseline: of a tune, or NULL */
static inline struct study *study_make_of(const json_t *rows, const json_t *machine, const json_t *limits,
                                          const json_t *winner, const json_t *baseline) {
	struct study *study = study_new("k", "cuda:0");
	json_t *none = json_object(), *row;
	size_t i;
	study_machine(study, machine, limits, 0.01);
	json_array_foreach((json_t *)rows, i, row) {
		double value = json_number_value(json_object_get(row, "value"));
		const json_t *problem = json_object_get(row, "problem");
		struct study_trial trial = {.problem = problem ? problem : none,
		                            .config = json_object_get(row, "config"),
		                            .phase = "sweep",
		                            .status = "correct",
		                            .value = value,
		                            .samples = &value,
		                            .sample_count = 1,
		                            .detail = json_object_get(row, "detail")};
		study_add(study, &trial);
	}
	if (winner)
		study_recommend(study, none, winner, baseline);
	json_decref(none);
	study_finish(study);
	return study;
}

static inline struct study *study_make(const json_t *rows, const json_t *machine, const json_t *limits) {
	return study_make_of(rows, machine, limits, NULL, NULL);
}

static inline json_t *examined(const struct study *study) {
	struct findings *findings = findings_new();
	findings_examine(findings, study);
	json_t *list = findings_json(findings);
	findings_free(findings);
	return list;
}

/* The finding of this name, or NULL; borrowed. */
static inline const json_t *found_of(const json_t *list, const char *name) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)list, i, one) {
		if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0)
			return one;
	}
	return NULL;
}

static inline bool rows_tell(const json_t *rows, const char *name) {
	json_t *limits = ceilings(), *machine = json_object();
	struct study *study = study_make(rows, machine, limits);
	bool found = alone_finds(study, name);
	if (found) {
		json_t *list = examined(study);
		found = found_of(list, name);
		json_decref(list);
	}
	study_free(study);
	json_decref(machine);
	json_decref(limits);
	return found;
}

/* ---- shuffling: the objects that hold a member, one a row ---- */
static inline json_t *counter_of(json_t *row, const char *name) {
	size_t i;
	json_t *one;
	json_array_foreach(json_object_get(json_object_get(row, "detail"), "counters"), i, one) {
		if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0)
			return one;
	}
	return NULL;
}

static inline json_t *function_of(json_t *row) {
	return json_array_get(json_object_get(json_object_get(json_object_get(row, "detail"), "gpu"), "kernels"), 0);
}

/* what: "value", "config:NAME", "counter:NAME" or "function:NAME". */
static inline json_t *holder_of(json_t *row, const char *what, const char **member) {
	const char *name = strchr(what, ':');
	*member = name ? name + 1 : what;
	if (!name)
		return row;
	if (strncmp(what, "config", 6) == 0)
		return json_object_get(row, "config");
	if (strncmp(what, "function", 8) == 0)
		return function_of(row);
	json_t *counter = counter_of(row, *member);
	*member = "value";
	return counter;
}

static inline void rows_shuffle(json_t *rows, const char *what, struct rng *rng) {
	size_t count = json_array_size(rows), *order = mem_alloc(count + 1, sizeof *order);
	json_t *values = json_array();
	const char *member;
	for (size_t i = 0; i < count; i++) {
		json_t *holder = holder_of(json_array_get(rows, i), what, &member);
		json_array_append(values, json_object_get(holder, member));
		order[i] = i;
	}
	rng_shuffle(rng, order, count, sizeof *order);
	for (size_t i = 0; i < count; i++) {
		json_t *holder = holder_of(json_array_get(rows, i), what, &member);
		json_object_set(holder, member, json_array_get(values, order[i]));
	}
	json_decref(values);
	free(order);
}

/* ---- a mechanism ---- */
struct mechanism {
	const char *name, *shuffled; /* the diagnosis, and its evidence that is shuffled beside times */
	void (*make)(json_t *rows, bool acts, struct rng *rng);
};

enum { SEEDS = 100 };

static inline double rate_of(const struct mechanism *m, bool acts, const char *what) {
	int found = 0;
	for (int seed = 0; seed < SEEDS; seed++) {
		struct rng rng;
		json_t *rows = json_array();
		rng_seed(&rng, 1000 + (uint64_t)seed);
		m->make(rows, acts, &rng);
		if (what)
			rows_shuffle(rows, what, &rng);
		found += rows_tell(rows, m->name);
		json_decref(rows);
	}
	return (double)found / SEEDS;
}

static inline void mechanism_test(const struct mechanism *m) {
	double found = rate_of(m, true, NULL), silent = rate_of(m, false, NULL), shuffled = rate_of(m, true, "value");
	ok(found >= 0.9, "%s: found where it acts, in %.0f %% of the tables", m->name, 100 * found);
	ok(silent < 0.05, "%s: where it does not, in %.0f %%", m->name, 100 * silent);
	ok(shuffled < 0.05, "%s: where times are shuffled, in %.0f %%", m->name, 100 * shuffled);
	if (!m->shuffled)
		return;
	double other = rate_of(m, true, m->shuffled);
	ok(other < 0.05, "%s: where %s is shuffled, in %.0f %%", m->name, m->shuffled, 100 * other);
}

#endif
