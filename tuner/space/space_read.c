/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads configurations that come from outside. */
#include <math.h>

#include "base/json/js.h"
#include "base/text.h"
#include "base/hash.h"
#include "tuner/space/space_impl.h"

/* Spaces and configurations as JSON, and the hash that identifies a space. */
json_t *space_config_json(const struct space *space, uint64_t index) {
	int config[SPACE_PARAMS_MAX];
	json_t *object = json_object();
	space_config(space, index, config);
	for (size_t i = 0; i < space->param_count; i++)
		if (config[i] != SPACE_ABSENT)
			json_object_set_new(object, space->params[i].name, value_json(space->params[i].values[config[i]]));
	return object;
}

static json_t *params_json(const struct space *space, bool summaries) {
	json_t *array = json_array();
	for (size_t i = 0; i < space->param_count; i++) {
		const struct space_param *param = &space->params[i];
		json_t *object = json_object(), *values = json_array();
		for (size_t j = 0; j < param->count; j++)
			json_array_append_new(values, value_json(param->values[j]));
		json_object_set_new(object, "name", json_string(param->name));
		if (summaries)
			json_object_set_new(object, "summary", json_string(param->summary));
		json_object_set_new(object, "values", values);
		json_object_set_new(object, "when", param->when ? json_string(expr_source(param->when)) : json_null());
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *constraints_json(const struct space *space) {
	json_t *array = json_array();
	for (size_t i = 0; i < space->constraint_count; i++)
		json_array_append_new(array, json_string(expr_source(space->constraints[i].expr)));
	return array;
}

/* Exact up to 2^63, the limit of integers in Jansson; a real number beyond. */
static json_t *count_json(uint64_t count) {
	return count <= INT64_MAX ? json_integer((json_int_t)count) : json_real((double)count);
}

static json_t *cartesian_json(double count) {
	return count <= 0x1p53 ? json_integer((json_int_t)count) : json_real(count);
}

json_t *space_json(const struct space *space) {
	json_t *counts = json_object(), *out = json_object();
	json_object_set_new(counts, "cartesian", cartesian_json(space_cartesian(space)));
	json_object_set_new(counts, "valid", count_json(space_valid(space)));
	if (space->estimate > 0)
		json_object_set_new(counts, "estimate", json_real(space->estimate));
	json_object_set_new(out, "space", counts);
	json_object_set_new(out, "params", params_json(space, true));
	json_object_set_new(out, "constraints", constraints_json(space));
	return out;
}

static void hash_json(struct sha256 *sha, json_t *json, size_t leave_out) {
	mem_auto char *text = js_canonical(json);
	sha256_add(sha, text, strlen(text) - leave_out);
	json_decref(json);
}

/* Hashes {"names":[..],"rows":[..]} row by row, because as a JSON value a recorded space would take gigabytes. */
static void hash_table(struct sha256 *sha, const struct space_table *table) {
	char cell[16];
	json_t *names = json_array();
	for (size_t i = 0; i < table->name_count; i++)
		json_array_append_new(names, json_string(table->names[i]));
	sha256_add(sha, "{\"names\":", 9);
	hash_json(sha, names, 0);
	sha256_add(sha, ",\"rows\":[", 9);
	for (size_t i = 0; i < table->row_count * table->name_count; i++)
		sha256_add(sha, cell, (size_t)snprintf(cell, sizeof cell, "%s%d", i ? "," : "", table->rows[i]));
	sha256_add(sha, "]}", 2);
}

/* The hash is that of the canonical text of an object whose last member is "tables". */
char *space_hash(const struct space *space) {
	json_t *all = json_object(), *constants = json_object();
	struct sha256 sha;
	for (size_t i = 0; i < space->constant_count; i++)
		json_object_set_new(constants, space->constants[i].name, value_json(space->constants[i].value));
	json_object_set_new(all, "params", params_json(space, false));
	json_object_set_new(all, "constants", constants);
	json_object_set_new(all, "constraints", constraints_json(space));
	sha256_start(&sha);
	hash_json(&sha, all, 1);
	sha256_add(&sha, ",\"tables\":[", 11);
	for (size_t i = 0; i < space->table_count; i++) {
		sha256_add(&sha, ",", i > 0);
		hash_table(&sha, &space->tables[i]);
	}
	sha256_add(&sha, "]}", 2);
	char *hash = mem_alloc(SHA256_TEXT, 1);
	sha256_end(&sha, hash);
	return hash;
}

enum { MISSING = REPAIR_FREE };

static void hint_nearest_number(const struct space_param *param, struct value wanted, struct err *err) {
	char text[64];
	const struct value *best = &param->values[0];
	for (size_t i = 1; i < param->count; i++)
		if (fabs(value_number(param->values[i]) - value_number(wanted)) <
		    fabs(value_number(*best) - value_number(wanted)))
			best = &param->values[i];
	value_text(*best, text, sizeof text);
	err_hint(err, "the nearest value is %s", text);
}

static void hint_values(const struct space_param *param, struct err *err) {
	char list[400] = "", text[64];
	size_t used = 0;
	for (size_t i = 0; i < param->count && used < sizeof list; i++) {
		value_text(param->values[i], text, sizeof text);
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", text);
	}
	err_hint(err, "its values are %s%s", list, used < sizeof list ? "" : "..");
}

static int unknown_value(const struct space_param *param, struct value wanted, struct err *err) {
	char text[128];
	const char *near = NULL;
	value_text(wanted, text, sizeof text);
	err_set(err, ERR_USAGE, NULL, "'%s' cannot be '%s'", param->name, text);
	if (param->ordered && wanted.type != VALUE_WORD) {
		hint_nearest_number(param, wanted, err);
		return -1;
	}
	mem_auto const char **words = mem_alloc(param->count, sizeof *words);
	size_t count = 0;
	for (size_t i = 0; i < param->count; i++)
		if (param->values[i].type == VALUE_WORD)
			words[count++] = param->values[i].as.w;
	if (wanted.type == VALUE_WORD)
		near = near_word(text, words, count);
	if (near)
		err_hint(err, "did you mean '%s'?", near);
	else
		hint_values(param, err);
	return -1;
}

static int read_level(const struct space_param *param, const json_t *json, int *level, struct err *err) {
	struct value value;
	if (!value_from_json(json, &value))
		return err_set(err, ERR_USAGE, "give a number or a word", "the value of '%s' is neither a number nor a word",
		               param->name);
	for (size_t i = 0; i < param->count; i++)
		if (value_equal(param->values[i], value)) {
			*level = (int)i;
			return 0;
		}
	return unknown_value(param, value, err);
}

static int read_given(const struct space *space, const json_t *object, int *given, struct err *err) {
	for (size_t i = 0; i < space->param_count; i++)
		given[i] = MISSING;
	js_members (name, json, object) {
		int param = space_param_find(space, name);
		if (param < 0) {
			const char *near = space_name_near(space, name, false);
			err_set(err, ERR_USAGE, NULL, "unknown parameter '%.100s'", name);
			return near ? err_hint(err, "did you mean '%s'?", near) : -1;
		}
		if (!json_is_null(json) && read_level(&space->params[param], json, &given[param], err) != 0)
			return -1;
	}
	return 0;
}

/* Completes the given parameters from the fallback. The diagram's order has the parameters of a condition first. */
static int fill(const struct space *space, const int *given, const int *fallback, int *config, struct err *err) {
	for (size_t depth = 0; depth < space->param_count; depth++) {
		int param = space->diagram->order[depth];
		const struct space_param *p = &space->params[param];
		bool exists = !p->when || space_rule_holds(space, &space->whens[param], config) == 1;
		if (!exists && given[param] != MISSING)
			return err_set(err, ERR_USAGE, "leave it out, or change what it depends on", "'%s' exists only where %s",
			               p->name, expr_source(p->when));
		if (exists && given[param] == MISSING && !fallback)
			return err_set(err, ERR_USAGE, NULL, "'%s' needs a value", p->name);
		if (!exists)
			config[param] = SPACE_ABSENT;
		else if (given[param] != MISSING)
			config[param] = given[param];
		else
			config[param] = fallback[param] != SPACE_ABSENT ? fallback[param] : (int)(p->count - 1) / 2;
	}
	return 0;
}

static bool in_table(const struct space_table *table, const int *config) {
	for (size_t row = 0; row < table->row_count; row++) {
		size_t same = 0;
		while (same < table->name_count && table->rows[row * table->name_count + same] == config[table->bind[same]])
			same++;
		if (same == table->name_count)
			return true;
	}
	return false;
}

static int report_invalid(const struct space *space, const int *config, struct err *err) {
	char text[300];
	size_t rule = 0, rules = space->constraint_count + space->table_count;
	for (; rule < space->constraint_count; rule++)
		if (space_rule_holds(space, &space->constraints[rule], config) == 0)
			break;
	while (rule >= space->constraint_count && rule < rules &&
	       in_table(&space->tables[rule - space->constraint_count], config))
		rule++;
	if (rule == rules)
		return err_set(err, ERR_USAGE, NULL, "these values do not occur in any valid configuration");
	space_rule_text(space, rule, text, sizeof text);
	return err_set(err, ERR_USAGE, NULL, "the configuration is not valid: it does not meet '%s'", text);
}

int space_config_read(const struct space *space, const json_t *object, const uint64_t *fallback, uint64_t *index,
                      struct err *err) {
	int given[SPACE_PARAMS_MAX], from[SPACE_PARAMS_MAX], config[SPACE_PARAMS_MAX];
	if (!json_is_object(object))
		return err_set(err, ERR_USAGE, NULL, "a configuration must be a JSON object");
	if (read_given(space, object, given, err) != 0)
		return -1;
	if (fallback)
		space_config(space, *fallback, from);
	if (fill(space, given, fallback ? from : NULL, config, err) != 0)
		return -1;
	if (space_index(space, config, index))
		return 0;
	/* Parameters that the fallback lacks are free. */
	if (fallback && space_repair(space, from, given, 0, index))
		return 0;
	return report_invalid(space, config, err);
}

int space_config_nearest(const struct space *space, const json_t *object, uint64_t from, uint64_t *index,
                         struct err *err) {
	int given[SPACE_PARAMS_MAX], start[SPACE_PARAMS_MAX];
	if (read_given(space, object, given, err) != 0)
		return -1;
	space_config(space, from, start);
	if (space_repair(space, start, given, space->param_count, index))
		return 0;
	return err_set(err, ERR_USAGE, NULL, "these values do not occur in any valid configuration");
}

/* 1: it holds, 0: it does not, -1: it mentions a parameter that is absent. */
static int rule_permits(const struct space *space, const struct space_rule *rule, const json_t *config) {
	size_t count = expr_name_count(rule->expr);
	mem_auto struct value *values = mem_alloc(count + 1, sizeof *values);
	int holds = 1;
	for (size_t i = 0; i < count && holds == 1; i++) {
		int bind = rule->bind[i];
		if (bind < 0)
			values[i] = space->constants[-1 - bind].value;
		else if (!value_from_json(json_object_get(config, space->params[bind].name), &values[i]))
			holds = -1;
	}
	if (holds == 1)
		holds = expr_holds(rule->expr, values);
	return holds;
}

bool space_config_allowed(const struct space *space, const json_t *config) {
	for (size_t p = 0; p < space->param_count; p++) {
		const struct space_param *param = &space->params[p];
		bool exists = !param->when || rule_permits(space, &space->whens[p], config) == 1;
		if (exists != (json_object_get(config, param->name) != NULL))
			return false;
	}
	for (size_t i = 0; i < space->constraint_count; i++)
		if (rule_permits(space, &space->constraints[i], config) == 0)
			return false;
	return true;
}
