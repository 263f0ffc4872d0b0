/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads data/schema/profile.json, as far as programs need it. */
#include <errno.h>
#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "lib/profile/profile_impl.h"

enum { BLOCK = 16 << 10 };

struct block {
	struct block *next;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

struct ssp_arena {
	struct block *blocks;
};

struct ssp_arena *ssp_arena_new(void) {
	return calloc(1, sizeof(struct ssp_arena));
}

void ssp_arena_free(struct ssp_arena *arena) {
	struct block *block = arena ? arena->blocks : NULL;
	while (block) {
		struct block *next = block->next;
		free(block);
		block = next;
	}
	free(arena);
}

static struct block *block_add(struct ssp_arena *arena, size_t size) {
	size_t room = size > BLOCK ? size : BLOCK;
	struct block *block = room <= SIZE_MAX - sizeof *block ? calloc(1, sizeof *block + room) : NULL;
	if (!block)
		return NULL;
	block->size = room;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *ssp_arena_alloc(struct ssp_arena *arena, size_t count, size_t size) {
	size_t bytes, unit = alignof(max_align_t);
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + unit) / unit * unit; /* at least one unit */
	struct block *block = arena->blocks;
	if (!block || block->size - block->used < bytes)
		block = block_add(arena, bytes);
	if (!block)
		return NULL;
	void *taken = block->bytes + block->used;
	block->used += bytes;
	return taken;
}

char *ssp_arena_text(struct ssp_arena *arena, const char *text) {
	size_t size = strlen(text) + 1;
	char *copy = ssp_arena_alloc(arena, size, 1);
	return copy ? memcpy(copy, text, size) : NULL;
}

/* A number in the range of a double; a whole one also as an integer. */
static void number_set(struct ssp_setting *setting, const json_t *value) {
	setting->number = json_number_value(value);
	setting->log = setting->number > 0 ? log(setting->number) : NAN;
	setting->type = SSP_REAL;
	if (json_is_integer(value)) {
		setting->type = SSP_INTEGER;
		setting->integer = json_integer_value(value);
	} else if (setting->number == floor(setting->number) && fabs(setting->number) < 0x1p53) {
		setting->type = SSP_INTEGER;
		setting->integer = (long long)setting->number;
	}
}

static int value_set(struct ssp_arena *arena, struct ssp_setting *setting, const json_t *value) {
	setting->log = NAN;
	if (json_is_number(value)) {
		number_set(setting, value);
		return 0;
	}
	if (json_is_boolean(value)) {
		setting->type = SSP_BOOLEAN;
		setting->word = json_is_true(value) ? "true" : "false";
		setting->number = setting->integer = json_is_true(value);
		return 0;
	}
	setting->type = SSP_WORD;
	setting->word = json_is_string(value) ? ssp_arena_text(arena, json_string_value(value)) : NULL;
	return setting->word ? 0 : -1;
}

/* Names with numbers, words or booleans, at most `limit`. */
static int ssp_settings_read(struct ssp_arena *arena, const json_t *json, size_t limit, struct ssp_settings *settings) {
	const char *name;
	json_t *value;
	*settings = (struct ssp_settings){NULL, 0};
	if (!json_is_object(json) || json_object_size(json) > limit)
		return -1;
	settings->items = ssp_arena_alloc(arena, json_object_size(json), sizeof *settings->items);
	if (!settings->items)
		return -1;
	json_object_foreach((json_t *)json, name, value) {
		struct ssp_setting *setting = &settings->items[settings->count++];
		setting->name = *name ? ssp_arena_text(arena, name) : NULL;
		if (!setting->name || value_set(arena, setting, value) != 0)
			return -1;
	}
	return 0;
}

/* A text member; `otherwise` (which may be NULL) if it is absent. */
static int ssp_text_read(struct ssp_arena *arena, const json_t *object, const char *key, const char *otherwise,
                         const char **text) {
	const json_t *value = json_object_get(object, key);
	*text = otherwise;
	if (!value || json_is_null(value))
		return 0;
	*text = json_is_string(value) ? ssp_arena_text(arena, json_string_value(value)) : NULL;
	return *text ? 0 : -1;
}

/* NaN if it is not a number. */
static double ssp_number(const json_t *object, const char *key) {
	const json_t *value = json_object_get(object, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

const struct ssp_setting *ssp_setting_find(const struct ssp_settings *settings, const char *name) {
	for (size_t i = 0; i < settings->count; i++)
		if (settings->items[i].name[0] == name[0] && strcmp(settings->items[i].name, name) == 0)
			return &settings->items[i];
	return NULL;
}

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

static int ssp_sizes_read(struct sweetspot_profile *profile, const json_t *json, const struct ssp_message *message);

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

void sweetspot_close(sweetspot_profile *profile) {
	if (profile)
		ssp_arena_free(profile->arena);
}

static int config_read(struct ssp_arena *arena, const json_t *json, struct sweetspot_config *config) {
	if (ssp_settings_read(arena, json_object_get(json, "config"), SSP_SETTINGS_MAX, &config->settings) != 0)
		return -1;
	return ssp_settings_read(arena, json_object_get(json, "environment"), SSP_SETTINGS_MAX, &config->environment);
}

/* Ascending, without overlap. */
static int ranges_read(struct ssp_arena *arena, const json_t *json, struct ssp_sizes *sizes) {
	size_t count = json_array_size(json);
	double before = 0;
	sizes->ranges = count > 0 && count <= SSP_RANGES_MAX ? ssp_arena_alloc(arena, count, sizeof *sizes->ranges) : NULL;
	if (!sizes->ranges)
		return -1;
	for (; sizes->range_count < count; sizes->range_count++) {
		const json_t *one = json_array_get(json, sizes->range_count);
		struct ssp_range *range = &sizes->ranges[sizes->range_count];
		range->from = ssp_number(one, "from");
		range->to = ssp_number(one, "to");
		if (!(range->from > 0) || !(range->from >= before) || !(range->to >= range->from) ||
		    config_read(arena, one, &range->config) != 0)
			return -1;
		before = range->to;
	}
	return 0;
}

static bool piece_read(const json_t *json, struct ssp_piece *piece) {
	piece->from = ssp_number(json, "from");
	piece->to = ssp_number(json, "to");
	piece->overhead = ssp_number(json, "overhead");
	piece->factor = ssp_number(json, "factor");
	piece->exponent = ssp_number(json, "exponent");
	return piece->from > 0 && piece->to >= piece->from && isfinite(piece->overhead) && isfinite(piece->factor) &&
	       isfinite(piece->exponent);
}

/* The first law belongs to the best configuration; it may be missing. */
static int law_read(struct ssp_arena *arena, const json_t *laws, struct ssp_sizes *sizes) {
	const json_t *pieces = json_object_get(json_array_get(laws, 0), "pieces");
	size_t count = json_array_size(pieces);
	if (json_array_size(laws) == 0)
		return json_is_array(laws) || !laws ? 0 : -1;
	sizes->pieces = count > 0 && count <= SSP_PIECES_MAX ? ssp_arena_alloc(arena, count, sizeof *sizes->pieces) : NULL;
	if (!sizes->pieces)
		return -1;
	for (; sizes->piece_count < count; sizes->piece_count++)
		if (!piece_read(json_array_get(pieces, sizes->piece_count), &sizes->pieces[sizes->piece_count]))
			return -1;
	return 0;
}

static int sizes_read(struct ssp_arena *arena, const json_t *json, struct ssp_sizes *sizes) {
	if (ssp_text_read(arena, json, "kernel", NULL, &sizes->kernel) || !sizes->kernel ||
	    ssp_text_read(arena, json, "over", NULL, &sizes->over) || !sizes->over ||
	    ssp_text_read(arena, json, "objective", "time", &sizes->objective) ||
	    ssp_text_read(arena, json, "unit", "", &sizes->unit))
		return -1;
	if (ssp_settings_read(arena, json_object_get(json, "problem"), SSP_PROBLEM_MAX, &sizes->problem) != 0)
		return -1;
	return ranges_read(arena, json_object_get(json, "thresholds"), sizes) ||
	               law_read(arena, json_object_get(json, "laws"), sizes)
	           ? -1
	           : 0;
}

/* The member "sizes"; in sizes.c. */
static int ssp_sizes_read(struct sweetspot_profile *profile, const json_t *json, const struct ssp_message *message) {
	size_t count = json_array_size(json);
	if (!json)
		return 0;
	bool fits = json_is_array(json) && count <= SSP_ENTRIES_MAX;
	profile->sizes = fits ? ssp_arena_alloc(profile->arena, count, sizeof *profile->sizes) : NULL;
	for (size_t i = 0; profile->sizes && i < count; i++) {
		if (sizes_read(profile->arena, json_array_get(json, i), &profile->sizes[i]) != 0) {
			ssp_message_set(message, "sizes: %zu: a member is missing, or not of its type or range", i);
			return -1;
		}
	}
	if (!profile->sizes)
		ssp_message_set(message, "sizes: must be an array of at most %d, and fit in memory", SSP_ENTRIES_MAX);
	profile->sizes_count = count;
	return profile->sizes ? 0 : -1;
}
