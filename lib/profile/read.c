/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads data/schema/profile.json, as far as programs need it. */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/profile/json.h"
#include "lib/profile/lookup_settings_impl.h"

void ssp_message_set(const struct ssp_message *message, const char *format, ...) {
	va_list ap;
	if (!message || !message->text || message->size == 0)
		return;
	va_start(ap, format);
	vsnprintf(message->text, message->size, format, ap);
	va_end(ap);
}

/* "sweetspot-profile/1"; a larger number comes from a newer program than this library. */
static int schema_check(const json_t *json, const struct ssp_message *message) {
	static const char family[] = "sweetspot-profile/";
	const char *schema = json_string_value(json_object_get(json, "schema"));
	char *end = NULL;
	if (!schema || strncmp(schema, family, sizeof family - 1) != 0) {
		ssp_message_set(message, "not a Sweetspot profile: its schema is %.64s", schema ? schema : "missing");
		return -1;
	}
	errno = 0;
	unsigned long version = strtoul(schema + sizeof family - 1, &end, 10);
	if (strcmp(schema + sizeof family - 1, "1") == 0)
		return 0;
	if (*end == '\0' && end > schema + sizeof family - 1 && version > 1)
		ssp_message_set(message, "schema %.64s is newer than this libsweetspot (" PACKAGE_VERSION "), which reads %s1",
		                schema, family);
	else
		ssp_message_set(message, "unknown schema %.64s", schema);
	return -1;
}

static uint64_t amount(const json_t *object, const char *key) {
	const json_t *value = json_object_get(object, key);
	return json_is_integer(value) && json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
}

static int machine_read(struct sweetspot_profile *profile, const json_t *json) {
	struct ssp_machine *machine = &profile->machine;
	const json_t *caches = json_object_get(json, "caches"), *gpu = json_object_get(json, "gpu");
	*machine = (struct ssp_machine){
		.threads = amount(json, "threads"),
		.cores = amount(json, "cores"),
		.packages = amount(json, "packages"),
		.numa_nodes = amount(json, "numa_nodes"),
		.l1d = amount(caches, "l1d"),
		.l2 = amount(caches, "l2"),
		.l3 = amount(caches, "l3"),
		.synthetic = json_is_true(json_object_get(json, "synthetic")),
	};
	return ssp_text_read(profile->arena, json, "fingerprint", NULL, &profile->fingerprint) || !profile->fingerprint ||
	               ssp_text_read(profile->arena, json, "cpu", NULL, &machine->cpu) ||
	               ssp_text_read(profile->arena, gpu, "name", gpu ? "" : NULL, &machine->gpu) ||
	               ssp_text_read(profile->arena, json, "compiler", NULL, &profile->compiler) ||
	               ssp_text_read(profile->arena, json, "cflags", NULL, &profile->cflags)
	           ? -1
	           : 0;
}

static int entry_read(struct ssp_arena *arena, const json_t *json, struct ssp_entry *entry) {
	const char *state;
	if (ssp_text_read(arena, json, "kernel", NULL, &entry->kernel) || !entry->kernel || !*entry->kernel ||
	    ssp_text_read(arena, json, "objective", "time", &entry->objective) ||
	    ssp_text_read(arena, json, "unit", "", &entry->unit) || ssp_text_read(arena, json, "state", "", &state))
		return -1;
	entry->median = ssp_number(json, "median");
	entry->speedup = ssp_number(json_object_get(json, "speedup"), "ratio");
	entry->use = ssp_use_of(json);
	entry->config.stale = strcmp(state, "current") != 0;
	return ssp_settings_read(arena, json_object_get(json, "problem"), SSP_PROBLEM_MAX, &entry->problem) ||
	               ssp_settings_read(arena, json_object_get(json, "config"), SSP_SETTINGS_MAX,
	                                 &entry->config.settings) ||
	               ssp_settings_read(arena, json_object_get(json, "environment"), SSP_SETTINGS_MAX,
	                                 &entry->config.environment) ||
	               !(entry->median >= 0)
	           ? -1
	           : 0;
}

static int entries_read(struct sweetspot_profile *profile, const json_t *json, const struct ssp_message *message) {
	size_t count = json_array_size(json);
	bool fits = json_is_array(json) && count <= SSP_ENTRIES_MAX;
	profile->entries = fits ? ssp_arena_alloc(profile->arena, count, sizeof *profile->entries) : NULL;
	if (!profile->entries) {
		ssp_message_set(message, "entries: must be an array of at most %d, and fit in memory", SSP_ENTRIES_MAX);
		return -1;
	}
	for (; profile->entry_count < count; profile->entry_count++) {
		const json_t *one = json_array_get(json, profile->entry_count);
		if (entry_read(profile->arena, one, &profile->entries[profile->entry_count]) == 0)
			continue;
		ssp_message_set(message, "entries: %zu: a member is missing, or not of its type or range",
		                profile->entry_count);
		return -1;
	}
	return 0;
}

static int profile_read(struct sweetspot_profile *profile, const json_t *json, const struct ssp_message *message) {
	if (schema_check(json, message) != 0)
		return -1;
	if (machine_read(profile, json_object_get(json, "machine")) != 0 ||
	    ssp_text_read(profile->arena, json, "created", "", &profile->created) ||
	    ssp_text_read(profile->arena, json, "generator", NULL, &profile->generator)) {
		ssp_message_set(message,
		                "the machine's fingerprint is missing, or a value of the profile that should be text is not");
		return -1;
	}
	if (entries_read(profile, json_object_get(json, "entries"), message) != 0 ||
	    ssp_sizes_read(profile, json_object_get(json, "sizes"), message) != 0)
		return -1;
	if (ssp_index(profile) == 0)
		return 0;
	ssp_message_set(message, "out of memory");
	return -1;
}

sweetspot_profile *ssp_read(const json_t *json, char *text, size_t size) {
	const struct ssp_message message = {text, size};
	struct ssp_arena *arena = ssp_arena_new();
	struct sweetspot_profile *profile = arena ? ssp_arena_alloc(arena, 1, sizeof *profile) : NULL;
	if (profile) {
		profile->arena = arena;
		if (profile_read(profile, json, &message) == 0)
			return profile;
	} else {
		ssp_message_set(&message, "out of memory");
	}
	ssp_arena_free(arena);
	return NULL;
}

struct sweetspot_profile *ssp_parse(const char *text, size_t size, const struct ssp_message *message) {
	json_error_t why;
	struct sweetspot_profile *profile = NULL;
	json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
	if (!json)
		ssp_message_set(message, "not valid JSON: line %d, column %d: %s", why.line, why.column, why.text);
	else if (memchr(text, '\0', size)) /* jansson ignores a 0 byte behind a number */
		ssp_message_set(message, "not valid JSON: it contains 0 bytes");
	else
		profile = ssp_read(json, message ? message->text : NULL, message ? message->size : 0);
	json_decref(json);
	return profile;
}

void sweetspot_close(sweetspot_profile *profile) {
	if (profile)
		ssp_arena_free(profile->arena);
}
