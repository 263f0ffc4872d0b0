/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/program_config.h"

#include "base/json/js.h"
#include "base/text.h"
#include "src/plan/params.h"
#include "tuner/fleet/launcher.h"

enum { SHOWN_MAX = 256 };

static int param_find(const struct space *space, const char *name, struct err *err) {
	const char *names[SPACE_PARAMS_MAX];
	size_t count = space_params(space);
	int found = space_param_find(space, name);
	if (found >= 0)
		return found;
	for (size_t i = 0; i < count; i++)
		names[i] = space_param_name(space, i);
	return opt_refuse(err, name, names, count, "did you mean %s?", "the parameters are those of --param and --openmp",
	                  "unknown parameter \"%.80s\"", name);
}

/* Any number is accepted, but a word must be in the space; else NULL with ERR_USAGE. */
static json_t *value_check(const struct space *space, int param, struct value value, struct err *err) {
	const char *words[SHOWN_MAX];
	size_t count = 0, values = space_param_values(space, (size_t)param);
	bool numbers = false;
	for (size_t i = 0; i < values; i++) {
		struct value one = space_param_value(space, (size_t)param, i);
		if (value_equal(one, value))
			return value_json(one);
		numbers = numbers || one.type != VALUE_WORD;
		if (one.type == VALUE_WORD && count < SHOWN_MAX)
			words[count++] = one.as.w;
	}
	if (value.type != VALUE_WORD && numbers)
		return value_json(value);
	char text[80];
	value_text(value, text, sizeof text);
	opt_refuse(err, text, words, count, "did you mean %s?", "the values are those of --param", "%s cannot be \"%s\"",
	           space_param_name(space, (size_t)param), value.type == VALUE_WORD ? value.as.w : text);
	return NULL;
}

static int value_put(const struct space *space, json_t *config, const char *name, struct value value, struct err *err) {
	int param = param_find(space, name, err);
	json_t *json = param < 0 ? NULL : value_check(space, param, value, err);
	if (json)
		json_object_set_new(config, name, json);
	return json ? 0 : -1;
}

static int object_read(const struct space *space, const char *text, json_t *config, struct err *err) {
	js_auto json_t *object = js_parse(text, strlen(text), "a configuration", err);
	int failed = object ? 0 : -1;
	js_members (name, member, object) {
		struct value value;
		if (failed)
			break;
		if (!value_from_json(member, &value))
			failed = err_set(err, ERR_USAGE, NULL, "%.80s is neither a number nor a word", name);
		else
			failed = value_put(space, config, name, value, err);
	}
	return failed;
}

static int word_read(const struct space *space, char *word, json_t *config, struct err *err) {
	char *equals = strchr(word, '=');
	if (!equals || equals == word)
		return err_set(err, ERR_USAGE, "write a configuration as 'NAME=VALUE NAME=VALUE', in quotes",
		               "\"%.80s\" is not NAME=VALUE", word);
	*equals = '\0';
	return value_put(space, config, word, value_parse(equals + 1), err);
}

/* Removes parameters of the baseline whose condition does not hold in this configuration. */
static int absent_drop(const struct space *space, json_t *config, struct err *err) {
	for (size_t i = 0; i < space_params(space); i++) {
		const char *when = space_param_when(space, i);
		bool exists;
		if (params_when_holds(when, NULL, config, &exists, err))
			return -1;
		if (!exists)
			json_object_del(config, space_param_name(space, i));
	}
	return 0;
}

static int words_read(const struct space *space, const char *text, json_t *config, struct err *err) {
	char **words = words_split(text, err);
	int failed = words ? 0 : -1;
	for (size_t i = 0; words && words[i] && !failed; i++)
		failed = word_read(space, words[i], config, err);
	words_free(words);
	return failed || absent_drop(space, config, err) ? -1 : 0;
}

json_t *program_config_read(const struct space *space, const json_t *baseline, const char *text, struct err *err) {
	bool whole = *text == '{';
	json_t *config = whole ? json_object() : json_deep_copy(baseline);
	if ((whole ? object_read : words_read)(space, text, config, err) == 0)
		return config;
	json_decref(config);
	return NULL;
}
