/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/replay/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/value.h"

/* A word that looks like a number is a word if the space contains it as a word, and otherwise a number. */
static json_t *value_read(const struct space *space, const char *name, const char *text) {
	int param = space_param_find(space, name);
	for (size_t i = 0; param >= 0 && i < space_param_values(space, (size_t)param); i++)
		if (value_equal(space_param_value(space, (size_t)param, i), value_word(text)))
			return json_string(text);
	return value_json(value_parse(text));
}

static int word_read(const struct space *space, char *word, json_t *config, struct err *err) {
	char *equals = strchr(word, '=');
	if (!equals || equals == word)
		return err_set(err, ERR_USAGE, "write --baseline 'P=V ..'", "\"%.100s\" does not give a value", word);
	*equals = '\0';
	if (json_object_set_new(config, word, value_read(space, word, equals + 1)))
		return err_set(err, ERR_USAGE, NULL, "a name is not UTF-8 text");
	return 0;
}

static int words_read(const struct space *space, char *words, json_t *config, struct err *err) {
	char *rest = NULL;
	for (char *word = strtok_r(words, ", \t\n", &rest); word; word = strtok_r(NULL, ", \t\n", &rest))
		if (word_read(space, word, config, err))
			return -1;
	return 0;
}

int replay_baseline_read(const char *words, const struct record *record, uint64_t *index, struct err *err) {
	char *list = mem_strdup(words);
	json_t *config = json_object();
	int failed =
		words_read(record->space, list, config, err) || space_config_read(record->space, config, NULL, index, err)
			? err_prefix(err, "--baseline")
			: 0;
	if (failed && !*err->hint)
		err_hint(err, "it must be a configuration of the space, with all of its parameters");
	json_decref(config);
	free(list);
	return failed;
}
