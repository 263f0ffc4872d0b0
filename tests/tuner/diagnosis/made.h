/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of times that a mechanism made, with noise; and shuffled, so that it is gone. */
#ifndef TESTS_TUNER_DIAGNOSIS_MADE_H
#define TESTS_TUNER_DIAGNOSIS_MADE_H
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tests/tuner/diagnosis/alone.h"
#include "tuner/diagnosis/diagnosis.h"

enum { MADE_MAX = 1200 };

struct made_row {
	json_t *problem, *config, *detail;
	double value, truth; /* with and without noise */
};

struct made {
	struct rng rng;
	double noise;
	const char *device;
	int cores, threads, nodes, fast; /* fast: cores of the fastest of two kinds, 0: all are alike */
	json_t *ceilings;
	struct made_row row[MADE_MAX];
	size_t count;
	json_t *problem, *winner, *baseline;
};

static inline struct made *made_new(uint64_t seed, int cores, int threads) {
	struct made *made = mem_alloc(1, sizeof *made);
	rng_split(&made->rng, seed, "made");
	made->device = "cpu";
	made->noise = 0.03;
	made->cores = cores;
	made->threads = threads;
	made->nodes = 1;
	return made;
}

static inline void made_free(struct made *made) {
	for (size_t i = 0; i < made->count; i++) {
		json_decref(made->row[i].problem);
		json_decref(made->row[i].config);
		json_decref(made->row[i].detail);
	}
	json_decref(made->ceilings);
	json_decref(made->problem);
	json_decref(made->winner);
	json_decref(made->baseline);
	free(made);
}

/* Takes the references. detail may be NULL. */
static inline void made_add(struct made *made, json_t *problem, json_t *config, double value, json_t *detail) {
	if (made->count < MADE_MAX)
		made->row[made->count++] =
			(struct made_row){problem, config, detail, value * exp(made->noise * rng_normal(&made->rng)), value};
}

static inline double made_between(struct made *made, double low, double high) {
	return low + (high - low) * rng_unit(&made->rng);
}

static inline struct study *made_study(const struct made *made) {
	struct study *study = study_new("made", made->device);
	json_t *machine =
		json_pack("{s:i,s:i,s:i,s:i,s:{s:i,s:i,s:i}}", "cores", made->cores, "threads", made->threads, "numa_nodes",
	              made->nodes, "packages", 1, "caches", "l1d", 32 << 10, "l2", 512 << 10, "l3", 32 << 20);
	if (made->fast)
		json_object_set_new(machine, "kinds",
		                    json_pack("[{s:i},{s:i}]", "cores", made->fast, "cores", made->cores - made->fast));
	study_machine(study, machine, made->ceilings, made->noise);
	for (size_t i = 0; i < made->count; i++) {
		const struct made_row *row = &made->row[i];
		struct study_trial trial = {.problem = row->problem,
		                            .config = row->config,
		                            .phase = "sweep",
		                            .status = "correct",
		                            .value = row->value,
		                            .samples = &row->value,
		                            .sample_count = 1,
		                            .detail = row->detail};
		study_add(study, &trial);
	}
	if (made->winner)
		study_recommend(study, made->problem, made->winner, made->baseline);
	study_finish(study);
	json_decref(machine);
	return study;
}

/* New reference to what `examine` finds. */
static inline json_t *made_examined(const struct made *made, void (*examine)(struct findings *, const struct study *)) {
	struct study *study = made_study(made);
	struct findings *findings = findings_new();
	examine(findings, study);
	json_t *json = findings_json(findings);
	findings_free(findings);
	study_free(study);
	return json;
}

static inline json_t *made_findings(const struct made *made) {
	return made_examined(made, findings_examine);
}

/* The number of findings with this name about this subject; NULL: about anything. */
static inline int made_count(const json_t *findings, const char *name, const char *key, const char *value) {
	int count = 0;
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)findings, i, one) {
		json_t *about = json_object_get(json_object_get(one, "about"), key ? key : "");
		char text[80] = "";
		if (json_is_integer(about))
			snprintf(text, sizeof text, "%d", (int)json_integer_value(about));
		else if (json_is_string(about))
			snprintf(text, sizeof text, "%s", json_string_value(about));
		count += strcmp(js_string_or(one, "name", ""), name) == 0 && (!key || strcmp(text, value) == 0);
	}
	return count;
}

/* made_count of made_findings. */
static inline int made_finds(const struct made *made, const char *name, const char *key, const char *value) {
	struct study *study = made_study(made);
	int count = 0;
	if (alone_finds(study, name)) {
		json_t *findings = made_findings(made);
		count = made_count(findings, name, key, value);
		json_decref(findings);
	}
	study_free(study);
	return count;
}

/* Shuffles times and details among the rows. */
static inline void made_shuffle_rows(struct made *made) {
	for (size_t n = made->count; n > 1; n--) {
		struct made_row *a = &made->row[n - 1], *b = &made->row[rng_below(&made->rng, n)], c = *a;
		a->value = b->value;
		a->detail = b->detail;
		b->value = c.value;
		b->detail = c.detail;
	}
}

static inline json_t *made_holder(struct made_row *row, const char *name) {
	return json_object_get(row->problem, name) ? row->problem : json_object_get(row->config, name) ? row->config : NULL;
}

/* The key of a row without one member. The caller frees it. */
static inline char *made_rest(struct made_row *row, const char *name) {
	json_t *all = json_pack("{s:o,s:o}", "p", json_copy(row->problem), "c", json_copy(row->config));
	json_object_del(json_object_get(all, "p"), name);
	json_object_del(json_object_get(all, "c"), name);
	char *text = js_canonical(all);
	json_decref(all);
	return text;
}

/* Shuffles the labels of one column among all rows, or among those that agree in everything else. */
static inline void made_shuffle_column(struct made *made, const char *name, bool within) {
	char **rest = mem_alloc(made->count + 1, sizeof *rest);
	for (size_t i = 0; i < made->count; i++)
		rest[i] = made_rest(&made->row[i], name);
	for (size_t i = 0; i < made->count; i++) {
		size_t same[MADE_MAX], count = 0;
		for (size_t j = 0; j <= i; j++)
			if (made_holder(&made->row[j], name) && (!within || strcmp(rest[i], rest[j]) == 0))
				same[count++] = j;
		json_t *a = made_holder(&made->row[i], name);
		if (!a)
			continue;
		json_t *b = made_holder(&made->row[same[rng_below(&made->rng, count)]], name);
		json_t *x = json_incref(json_object_get(a, name)), *y = json_incref(json_object_get(b, name));
		json_object_set_new(a, name, y);
		json_object_set_new(b, name, x);
	}
	for (size_t i = 0; i < made->count; i++)
		free(rest[i]);
	free(rest);
}

static inline json_t *made_ceilings(double gigabytes, double pairs, double fork_us, int threads) {
	json_t *list = json_array();
	for (int t = 1; t <= threads; t *= 2) {
		static const char *const levels[] = {"l1d", "dram"};
		for (int l = 0; l < 2; l++)
			json_array_append_new(
				list, json_pack("{s:s,s:s,s:i,s:f,s:s}", "name", "read", "level", levels[l], "threads", t, "value",
			                    l ? fmin(gigabytes, gigabytes * t / 4) : gigabytes * 4 * t, "unit", "GB/s"));
		json_array_append_new(list, json_pack("{s:s,s:i,s:f,s:s}", "name", "addmin", "threads", t, "value",
		                                      pairs * t / threads, "unit", "Gpair/s"));
		json_array_append_new(list, json_pack("{s:s,s:i,s:f,s:s}", "name", "fork_join", "threads", t, "value",
		                                      fork_us * (0.5 + 0.5 * t), "unit", "us"));
	}
	return list;
}

#endif
