/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/export/batch_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/work.h"
#include "tuner/program/recorded.h"

enum { THREADS_MAX = 1000000 };

static const char *variable(const json_t *entry, const char *name) {
	return js_string_or(json_object_get(entry, "environment"), name, "");
}

const char *export_bind(const json_t *entry) {
	return variable(entry, "OMP_PROC_BIND");
}

const char *export_places(const json_t *entry) {
	return variable(entry, "OMP_PLACES");
}

long export_threads(const json_t *entry) {
	const char *text = variable(entry, "OMP_NUM_THREADS");
	char *end;
	if (!*text) /* as many as today, which a job has to ask for */
		return (long)fmin(fmax(js_real_or(json_object_get(entry, "config"), "threads", 0), 0), THREADS_MAX);
	long threads = strtol(text, &end, 10);
	return *text && !*end && threads > 0 && threads <= THREADS_MAX ? threads : 0;
}

long export_ranks(const json_t *profile, const json_t *entry) {
	(void)profile;
	json_t *words = program_recorded_words(json_object_get(entry, "program"), json_object_get(entry, "config"));
	size_t count = json_array_size(words);
	const char **list = mem_alloc(count + 1, sizeof *list);
	for (size_t i = 0; i < count; i++)
		list[i] = json_string_value(json_array_get(words, i));
	char *text = count ? work_ranks(list) : NULL, *end;
	long ranks = text ? strtol(text, &end, 10) : 0;
	bool good = text && *text && !*end && ranks > 0 && ranks <= 1000000;
	free(text);
	free(list);
	json_decref(words);
	return good ? ranks : 0;
}

long export_cores(const json_t *profile, const json_t *entry) {
	const json_t *machine = json_object_get(profile, "machine");
	int64_t cores = js_int_or(machine, "cores", 0), all = js_int_or(machine, "threads", 0);
	long threads = export_threads(entry);
	if (cores < 1 || cores > 1000000 || threads == 0)
		return threads;
	if (strcmp(export_places(entry), "threads") == 0 && all > cores) {
		long each = (long)(all / cores);
		threads = (threads + each - 1) / each;
	}
	return threads < cores ? threads : (long)cores;
}

long export_most(const json_t *profile, long (*demand)(const json_t *profile, const json_t *entry)) {
	const json_t *entries = json_object_get(profile, "entries");
	long most = 0;
	for (size_t i = 0; i < json_array_size(entries); i++) {
		long one = demand(profile, json_array_get(entries, i));
		most = one > most ? one : most;
	}
	return most;
}
