/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ConfigurationSpace: TuningParameters and Conditions. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/near.h"
#include "tuner/space/domain.h"
#include "base/expr/expr.h"
#include "tuner/spec/impl.h"

enum { CONDITIONS_MAX = 4096 };

/* The values of the parameter that is being read. */
struct domain {
	struct arena *arena;
	struct value *values;
	size_t count;
};

static int read_json_values(const json_t *json, struct domain *domain, struct err *err) {
	struct value_list list = {0};
	int status = 0;
	for (size_t i = 0; status == 0 && i < json_array_size(json); i++) {
		struct value value;
		if (!value_from_json(json_array_get(json, i), &value))
			status = err_set(err, ERR_USAGE, NULL, "[%zu] is neither a number nor a word", i);
		else if ((status = value_list_push(&list, value, err)))
			err_prefix(err, "[%zu]", i);
	}
	if (status == 0 && list.count == 0)
		status = err_set(err, ERR_USAGE, NULL, "the list is empty");
	if (status == 0)
		spec_values_keep(&list, domain->arena, &domain->values, &domain->count);
	free(list.at);
	return status;
}

static int read_values(const json_t *json, struct domain *domain, struct err *err) {
	if (!json)
		return err_set(err, ERR_USAGE, NULL, "'Values' is missing");
	if (json_is_string(json)) {
		const char *text = json_string_value(json);
		return spec_values(text, domain->arena, &domain->values, &domain->count, err) ? err_prefix(err, "Values") : 0;
	}
	json_t *list = json_is_array(json) ? json_incref((json_t *)json) : json_pack("[O]", json);
	int status = read_json_values(list, domain, err);
	json_decref(list);
	return status ? err_prefix(err, "Values") : 0;
}

static int place_of(const struct domain *domain, struct value value) {
	for (size_t i = 0; i < domain->count; i++)
		if (value_equal(domain->values[i], value))
			return (int)i;
	return -1;
}

/* A value, or a list with one value; a text may be a word, or a value as Python writes it. */
static int read_default(const json_t *json, const struct domain *domain, int *place, struct err *err) {
	struct value value;
	*place = -1;
	if (json_is_array(json) && json_array_size(json) == 1)
		json = json_array_get(json, 0);
	if (!json || json_is_null(json))
		return 0;
	if (!value_from_json(json, &value))
		return err_set(err, ERR_USAGE, NULL, "Default: must be one number or word");
	*place = place_of(domain, value);
	if (*place < 0 && json_is_string(json) && spec_scalar(json_string_value(json), domain->arena, &value, NULL) == 0)
		*place = place_of(domain, value);
	return 0;
}

static int read_param(struct spec *spec, const json_t *json, size_t number, size_t *total, struct err *err) {
	struct domain domain = {.arena = arena_new()};
	const char *name = NULL;
	int status = -1;
	if (!json_is_object(json)) {
		err_set(err, ERR_USAGE, NULL, "it must be an object");
		goto done;
	}
	if (js_string(json, "Name", &name, err) || read_values(json_object_get(json, "Values"), &domain, err) ||
	    read_default(json_object_get(json, "Default"), &domain, &spec->defaults[number], err))
		goto done;
	*total += domain.count;
	if (*total > DOMAIN_MAX)
		err_set(err, ERR_USAGE, NULL, "more than %d values in all", DOMAIN_MAX);
	else
		status =
			space_add_param(spec->space, name, js_string_or(json, "Type", ""), domain.values, domain.count, NULL, err);
done:
	if (status && name)
		err_prefix(err, "TuningParameters[%zu] \"%.64s\"", number, name);
	else if (status)
		err_prefix(err, "TuningParameters[%zu]", number);
	arena_free(domain.arena);
	return status;
}

static int check_names(const struct space *space, const char *text, struct err *err) {
	const char *names[SPACE_PARAMS_MAX], *unknown = NULL;
	struct expr *expr = expr_parse(text, err);
	if (!expr)
		return -1;
	for (size_t i = 0; i < expr_name_count(expr) && !unknown; i++)
		if (space_param_find(space, expr_name(expr, i)) < 0)
			unknown = expr_name(expr, i);
	if (unknown) {
		for (size_t i = 0; i < space_params(space); i++)
			names[i] = space_param_name(space, i);
		const char *near = near_word(unknown, names, space_params(space));
		err_set(err, ERR_USAGE, NULL, "'%.100s' is not a tuning parameter", unknown);
		if (near)
			err_hint(err, "did you mean '%s'?", near);
	}
	expr_free(expr);
	return unknown ? -1 : 0;
}

/* The condition's own list of Parameters is ignored, because the expression names them. */
static int read_condition(struct space *space, const json_t *json, struct err *err) {
	const char *text = json_string_value(json);
	if (!text && !json_is_object(json))
		return err_set(err, ERR_USAGE, NULL, "it must be an object with an Expression");
	if (!text && js_string(json, "Expression", &text, err))
		return -1;
	char *python = spec_condition(text, err);
	int status = python && check_names(space, python, err) == 0 ? space_add_constraint(space, python, err) : -1;
	free(python);
	return status;
}

static int read_conditions(struct spec *spec, const json_t *configuration, struct err *err) {
	json_t *conditions;
	const json_t *given = json_object_get(configuration, "Conditions");
	if (!given || json_is_null(given))
		return 0;
	if (js_array(configuration, "Conditions", CONDITIONS_MAX, &conditions, err))
		return -1;
	for (size_t i = 0; i < json_array_size(conditions); i++)
		if (read_condition(spec->space, json_array_get(conditions, i), err))
			return err_prefix(err, "Conditions[%zu]", i);
	return 0;
}

int spec_read_space(struct spec *spec, const json_t *configuration, struct err *err) {
	json_t *params;
	size_t total = 0;
	if (js_array(configuration, "TuningParameters", SPACE_PARAMS_MAX, &params, err))
		return -1;
	if (json_array_size(params) == 0)
		return err_set(err, ERR_USAGE, NULL, "'TuningParameters' is empty");
	spec->space = space_new();
	for (size_t i = 0; i < json_array_size(params); i++)
		if (read_param(spec, json_array_get(params, i), i, &total, err))
			return -1;
	return read_conditions(spec, configuration, err) ? -1 : space_build(spec->space, err);
}
