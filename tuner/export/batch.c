/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/export/batch_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/work.h"
#include "tuner/program/recorded.h"

long export_threads(const struct profile_entry *entry) {
	const char *text = entry->threads;
	char *end;
	long threads = strtol(text, &end, 10);
	return *text && !*end && threads > 0 && threads <= 1000000 ? threads : 0;
}

long export_ranks(const struct profile *profile, const struct profile_entry *entry) {
	(void)profile;
	json_t *words = program_recorded_words(entry->program, entry->config);
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

long export_cores(const struct profile *profile, const struct profile_entry *entry) {
	int64_t cores = profile->machine.cores, all = profile->machine.threads;
	long threads = export_threads(entry);
	if (cores < 1 || cores > 1000000 || threads == 0)
		return threads;
	if (strcmp(entry->places, "threads") == 0 && all > cores) {
		long each = (long)(all / cores);
		threads = (threads + each - 1) / each;
	}
	return threads < cores ? threads : (long)cores;
}

long export_most(const struct profile *profile,
                 long (*demand)(const struct profile *profile, const struct profile_entry *entry)) {
	long most = 0;
	for (size_t i = 0; i < profile->count; i++) {
		long one = demand(profile, &profile->entries[i]);
		most = one > most ? one : most;
	}
	return most;
}
