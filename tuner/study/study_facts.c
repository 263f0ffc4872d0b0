/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The limits of the machine, and figures of the worker's report about a row. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/json/js.h"
#include "tuner/study/study_impl.h"

static int count_of(const json_t *machine, const char *key) {
	int64_t count = js_int_or(machine, key, 0);
	return count > 0 && count < 1 << 20 ? (int)count : 0;
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
	                                  .packages = count_of(machine, "packages")};
	for (size_t i = 1; i < sizeof levels / sizeof *levels; i++)
		study->host.cache[i] = js_real_or(caches, levels[i], 0);
}

const struct study_host *study_host(const struct study *study) {
	return &study->host;
}

double study_ceiling(const struct study *study, const char *name, const char *level, double threads) {
	double best = NAN;
	int64_t team = -1;
	size_t i;
	json_t *one;
	json_array_foreach(study->ceilings, i, one) {
		const char *of = js_string_or(one, "level", NULL);
		int64_t size = json_object_get(one, "device") ? 0 : js_int_or(one, "threads", 1);
		bool gpu = json_object_get(one, "device");
		if (gpu != (threads == 0) || strcmp(js_string_or(one, "name", ""), name) != 0)
			continue;
		if (!level != !of || (level && strcmp(level, of) != 0) || (double)size > threads || size <= team)
			continue;
		best = js_real_or(one, "value", NAN);
		team = size;
	}
	return best > 0 ? best : NAN;
}

bool study_ceiling_steady(const struct study *study, const char *name, const char *level) {
	size_t i;
	json_t *one;
	bool steady = true;
	json_array_foreach(study->ceilings, i, one) {
		const char *of = js_string_or(one, "level", "");
		if (strcmp(js_string_or(one, "name", ""), name) == 0 && strcmp(of, level ? level : "") == 0)
			steady = steady && !js_bool_or(one, "disturbed", false);
	}
	return steady;
}

static double named(const json_t *list, const char *name) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)list, i, one) {
		if (strcmp(js_string_or(one, "name", ""), name) == 0)
			return js_real_or(one, "value", NAN);
	}
	return NAN;
}

double study_work(const struct study *study, size_t row, const char *name) {
	return js_real_or(json_object_get(study->rows[row].detail, "work"), name, NAN);
}

double study_figure(const struct study *study, size_t row, const char *name) {
	return named(json_object_get(study->rows[row].detail, "figures"), name);
}

double study_counter(const struct study *study, size_t row, const char *name) {
	return named(json_object_get(study->rows[row].counted, "counters"), name);
}

double study_metric(const struct study *study, size_t row, const char *name) {
	const json_t *counted = study->rows[row].counted, *metrics = json_object_get(counted, "metrics");
	return named(metrics ? metrics : json_object_get(json_object_get(counted, "counting"), "metrics"), name);
}
