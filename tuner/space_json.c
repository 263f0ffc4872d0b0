/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spaces and configurations as JSON, and what identifies a space. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/sha256.h"
#include "tuner/space_impl.h"

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

/* Exact up to 2^63, which is all that JSON's integers hold here. */
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
	json_object_set_new(out, "space", counts);
	json_object_set_new(out, "params", params_json(space, true));
	json_object_set_new(out, "constraints", constraints_json(space));
	return out;
}

static json_t *table_json(const struct space_table *table) {
	json_t *names = json_array(), *rows = json_array();
	for (size_t i = 0; i < table->name_count; i++)
		json_array_append_new(names, json_string(table->names[i]));
	for (size_t i = 0; i < table->row_count * table->name_count; i++)
		json_array_append_new(rows, json_integer(table->rows[i]));
	json_t *object = json_object();
	json_object_set_new(object, "names", names);
	json_object_set_new(object, "rows", rows);
	return object;
}

char *space_hash(const struct space *space) {
	json_t *all = json_object(), *constants = json_object(), *tables = json_array();
	for (size_t i = 0; i < space->constant_count; i++)
		json_object_set_new(constants, space->constants[i].name, value_json(space->constants[i].value));
	for (size_t i = 0; i < space->table_count; i++)
		json_array_append_new(tables, table_json(&space->tables[i]));
	json_object_set_new(all, "params", params_json(space, false));
	json_object_set_new(all, "constants", constants);
	json_object_set_new(all, "constraints", constraints_json(space));
	json_object_set_new(all, "tables", tables);
	char *text = js_canonical(all), *hash = mem_alloc(SHA256_TEXT, 1);
	sha256_text(text, strlen(text), hash);
	free(text);
	json_decref(all);
	return hash;
}
