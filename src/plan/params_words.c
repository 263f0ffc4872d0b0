/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "src/plan/params.h"
#include "base/expr/expr.h"

static const struct kernel_param *problem_find(const struct params *params, const char *name) {
	for (size_t i = 0; i < params->kernel->problem_count; i++)
		if (strcmp(params->kernel->problem[i].name, name) == 0)
			return &params->kernel->problem[i];
	return NULL;
}

static int unknown_name(const struct params *params, const char *name, bool problem, bool config, struct err *err) {
	const char *names[2 * PARAMS_ROOM] = {0};
	size_t count = 0;
	for (size_t i = 0; config && i < params->count; i++)
		names[count++] = params->items[i].name;
	for (size_t i = 0; problem && i < params->kernel->problem_count && count < 2 * PARAMS_ROOM; i++)
		names[count++] = params->kernel->problem[i].name;
	const char *near = near_word(name, names, count);
	err_set(err, ERR_USAGE, NULL, "%s: unknown %s \"%s\"", params->kernel->name, config ? "parameter" : "size", name);
	if (near)
		return err_hint(err, "did you mean %s?", near);
	return err_hint(err, "`sweetspot list params %s` lists them", params->kernel->name);
}

/* The summaries speak of a grid of ints or bytes, so the plural of a word stands for it. */
static bool word_means(const char *typed, const char *word) {
	size_t length = strlen(word);
	return strncmp(typed, word, length) == 0 && (!typed[length] || strcmp(typed + length, "s") == 0);
}

/* Returns NULL with err for a word that the parameter does not have. New reference. */
static json_t *word_read(const struct params *params, const struct kernel_param *param, const char *word,
                         struct err *err) {
	const char *words[256];
	size_t count = 0;
	if (!param->values)
		return json_string(word);
	char *list = arena_strdup(params->arena, param->values), *rest = NULL;
	const char *meant = NULL;
	for (char *one = strtok_r(list, ",", &rest); one && count < 256; one = strtok_r(NULL, ",", &rest)) {
		if (strcmp(one, word) == 0 || (!meant && word_means(word, one)))
			meant = one;
		words[count++] = one;
	}
	if (meant)
		return json_string(meant);
	const char *near = near_word(word, words, count);
	err_set(err, ERR_USAGE, NULL, "%s: unknown %s \"%s\"", params->kernel->name, param->name, word);
	if (near)
		err_hint(err, "did you mean %s? The values are %s", near, param->values);
	else
		err_hint(err, "the values are %s", param->values);
	return NULL;
}

static int out_of_bounds(const struct params *params, const struct kernel_param *param, const char *text,
                         struct err *err) {
	err_set(err, ERR_USAGE, NULL, "%s: %s cannot be \"%s\"", params->kernel->name, param->name, text);
	const char *kind = param->type == VALUE_INT ? "a whole number" : "a number";
	if (param->min == 0 && param->max == 0)
		return err_hint(err, "it must be %s", kind);
	return err_hint(err, "it must be %s from %.15g to %.15g", kind, param->min, param->max);
}

/* A text must be UTF-8 because it is stored as JSON. */
static json_t *text_read(const struct params *params, const struct kernel_param *param, const char *text,
                         struct err *err) {
	json_t *json = *text ? json_string(text) : NULL;
	if (!json) {
		err_set(err, ERR_USAGE, NULL, "%s: %s is %s", params->kernel->name, param->name,
		        *text ? "not valid UTF-8" : "empty");
		if (param->values)
			err_hint(err, "it can be %s or any other text", param->values);
	}
	return json;
}

static json_t *value_read(const struct params *params, const struct kernel_param *param, const char *text,
                          struct err *err) {
	struct value value = value_parse(text);
	if (param->text)
		return text_read(params, param, text, err);
	if (param->type == VALUE_WORD)
		return word_read(params, param, text, err);
	double number = value.type == VALUE_INT ? (double)value.as.i : value.type == VALUE_REAL ? value.as.r : 0;
	bool fits = value.type == VALUE_INT || (value.type == VALUE_REAL && param->type == VALUE_REAL);
	bool bounded = param->min != 0 || param->max != 0;
	if (!fits || (bounded && !(number >= param->min && number <= param->max))) {
		out_of_bounds(params, param, text, err);
		return NULL;
	}
	return value_json(value);
}

json_t *params_problem(const struct params *params) {
	json_t *problem = json_object();
	for (size_t i = 0; i < params->kernel->problem_count; i++) {
		const struct kernel_param *part = &params->kernel->problem[i];
		json_t *value = value_read(params, part, part->initial, NULL);
		json_object_set_new(problem, part->name, value ? value : json_string(part->initial));
	}
	return problem;
}

int params_word(const struct params *params, const char *word, json_t *problem, json_t *config, struct err *err) {
	const char *equals = strchr(word, '=');
	if (!equals || equals == word)
		return err_set(err, ERR_USAGE,
		               "write NAME=VALUE; several values of a name are for `sweetspot sweep --over NAME=A,B`",
		               "\"%s\" does not give a value", word);
	char *name = arena_strdup(params->arena, word);
	name[equals - word] = '\0';
	const struct kernel_param *part = problem ? problem_find(params, name) : NULL;
	const struct kernel_param *param = part || !config ? NULL : params_find(params, name);
	if (!part && !param)
		return unknown_name(params, name, problem, config, err);
	json_t *value = value_read(params, part ? part : param, equals + 1, err);
	if (!value)
		return -1;
	json_object_set_new(part ? problem : config, name, value);
	return 0;
}

/* A text such as a file name may contain commas and spaces, so it is not split. */
static bool is_text(const struct params *params, const char *word) {
	const char *equals = strchr(word, '=');
	char *name = arena_strdup(params->arena, word);
	name[equals ? equals - word : 0] = '\0';
	const struct kernel_param *part = problem_find(params, name);
	return part && part->text;
}

int params_words(const struct params *params, const char *words, json_t *problem, json_t *config, struct err *err) {
	char *list = arena_strdup(params->arena, words), *rest = NULL;
	if (problem && is_text(params, words))
		return params_word(params, words, problem, config, err);
	for (char *word = strtok_r(list, ", \t\n", &rest); word; word = strtok_r(NULL, ", \t\n", &rest))
		if (params_word(params, word, problem, config, err))
			return -1;
	return 0;
}

int params_when_holds(const char *when, const json_t *problem, const json_t *config, bool *out, struct err *err) {
	*out = true;
	if (!when)
		return 0;
	struct expr *expr = expr_parse(when, err);
	if (!expr)
		return -1;
	struct value values[PARAMS_ROOM];
	size_t count = expr_name_count(expr);
	for (size_t i = 0; i < count && *out; i++) {
		const json_t *value = json_object_get(config, expr_name(expr, i));
		if (!value)
			value = json_object_get(problem, expr_name(expr, i));
		*out = i < PARAMS_ROOM && value && value_from_json(value, &values[i]);
	}
	*out = *out && expr_holds(expr, values);
	expr_free(expr);
	return 0;
}

json_t *params_complete(const struct params *params, const json_t *problem, const json_t *config, struct err *err) {
	json_t *full = json_copy((json_t *)config);
	bool changed = true;
	while (changed) { /* conditions may depend on later parameters */
		changed = false;
		for (size_t i = 0; i < params->count; i++) {
			const struct kernel_param *param = &params->items[i];
			bool wanted;
			if (json_object_get(full, param->name))
				continue;
			if (params_when_holds(param->when, problem, full, &wanted, err)) {
				json_decref(full);
				return NULL;
			}
			json_t *value = wanted ? value_read(params, param, param->initial, NULL) : NULL;
			if (value)
				json_object_set_new(full, param->name, value);
			changed = changed || value;
		}
	}
	return full;
}
