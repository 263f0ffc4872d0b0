/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <math.h>
#include <string.h>

#include "lib/profile/lookup_settings_impl.h"

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

int ssp_settings_read(struct ssp_arena *arena, const json_t *json, size_t limit, struct ssp_settings *settings) {
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

int ssp_text_read(struct ssp_arena *arena, const json_t *object, const char *key, const char *otherwise,
                  const char **text) {
	const json_t *value = json_object_get(object, key);
	*text = otherwise;
	if (!value || json_is_null(value))
		return 0;
	*text = json_is_string(value) ? ssp_arena_text(arena, json_string_value(value)) : NULL;
	return *text ? 0 : -1;
}

double ssp_number(const json_t *object, const char *key) {
	const json_t *value = json_object_get(object, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

const struct ssp_setting *ssp_setting_find(const struct ssp_settings *settings, const char *name) {
	for (size_t i = 0; i < settings->count; i++)
		if (settings->items[i].name[0] == name[0] && strcmp(settings->items[i].name, name) == 0)
			return &settings->items[i];
	return NULL;
}
