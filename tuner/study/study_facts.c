/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The limits of the machine, and figures of the worker's report about a row. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/study/study_impl.h"

static int count_of(const json_t *machine, const char *key) {
	int64_t count = js_int_or(machine, key, 0);
	return count > 0 && count < 1 << 20 ? (int)count : 0;
}

static int fast_cores_of(const json_t *machine) {
	const json_t *kinds = json_object_get(machine, "kinds");
	return json_array_size(kinds) > 1 ? count_of(json_array_get(kinds, 0), "cores") : 0;
}

/* Diagnoses ask for each ceiling and figure many times, so that their names and values are taken out of the JSON once.
 */
struct study_ceiling {
	const char *name, *level; /* level: NULL if there is none */
	bool gpu, disturbed;
	int64_t threads;
	double value;
};

static void ceilings_make(struct study *study) {
	study->ceiling_count = json_array_size(study->ceilings);
	struct study_ceiling *made = arena_alloc(study->arena, study->ceiling_count + 1, sizeof *made);
	js_each (one, study->ceilings) {
		bool gpu = json_object_get(one, "device");
		made[one_at] = (struct study_ceiling){.name = js_string_or(one, "name", ""),
		                                      .level = js_string_or(one, "level", NULL),
		                                      .gpu = gpu,
		                                      .disturbed = js_bool_or(one, "disturbed", false),
		                                      .threads = gpu ? 0 : js_int_or(one, "threads", 1),
		                                      .value = js_real_or(one, "value", NAN)};
	}
	study->ceiling = made;
}

void study_machine(struct study *study, const json_t *machine, const json_t *ceilings, double noise) {
	static const char *const levels[] = {NULL, "l1d", "l2", "l3"};
	const json_t *caches = json_object_get(machine, "caches");
	json_decref(study->machine);
	json_decref(study->ceilings);
	study->machine = json_deep_copy(machine);
	study->ceilings = json_is_array(ceilings) ? json_deep_copy(ceilings) : NULL;
	study->noise = noise;
	study->host = (struct study_host){.cores = count_of(machine, "cores"),
	                                  .threads = count_of(machine, "threads"),
	                                  .numa_nodes = count_of(machine, "numa_nodes"),
	                                  .packages = count_of(machine, "packages"),
	                                  .fast_cores = fast_cores_of(machine)};
	for (size_t i = 1; i < sizeof levels / sizeof *levels; i++)
		study->host.cache[i] = js_real_or(caches, levels[i], 0);
	ceilings_make(study);
}

const struct study_host *study_host(const struct study *study) {
	return &study->host;
}

double study_cache(const struct study *study) {
	const struct study_host *host = study_host(study);
	return host->cache[3] > 0 ? host->cache[3] * fmax(1, host->packages) : host->cache[2] * fmax(1, host->cores);
}

double study_ceiling(const struct study *study, const char *name, const char *level, double threads) {
	double best = NAN;
	int64_t team = -1;
	for (const struct study_ceiling *one = study->ceiling, *end = one + study->ceiling_count; one < end; one++) {
		if (one->gpu != (threads == 0) || strcmp(one->name, name) != 0)
			continue;
		if (!level != !one->level || (level && strcmp(level, one->level) != 0) || (double)one->threads > threads ||
		    one->threads <= team)
			continue;
		best = one->value;
		team = one->threads;
	}
	return best > 0 ? best : NAN;
}

bool study_ceiling_steady(const struct study *study, const char *name, const char *level) {
	bool steady = true;
	for (size_t i = 0; i < study->ceiling_count; i++) {
		const struct study_ceiling *one = &study->ceiling[i];
		if (strcmp(one->name, name) == 0 && strcmp(one->level ? one->level : "", level ? level : "") == 0)
			steady = steady && !one->disturbed;
	}
	return steady;
}

bool study_counts(const struct study *study, const char *name) {
	for (size_t i = 0; i < study->counted_count; i++)
		if (strcmp(study->counted[i], name) == 0)
			return true;
	return false;
}

static double named(const struct study_fact *fact, const char *name) {
	for (; fact && fact->name; fact++)
		if (strcmp(fact->name, name) == 0)
			return fact->value;
	return NAN;
}

double study_work(const struct study *study, size_t row, const char *name) {
	return js_real_or(json_object_get(study->rows[row].detail, "work"), name, NAN);
}

double study_figure(const struct study *study, size_t row, const char *name) {
	return named(study->rows[row].figures, name);
}

double study_counter(const struct study *study, size_t row, const char *name) {
	return named(study->rows[row].counters, name);
}

double study_metric(const struct study *study, size_t row, const char *name) {
	return named(study->rows[row].metrics, name);
}
