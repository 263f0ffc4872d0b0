/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spaces and configurations as JSON, and the hash that identifies a space. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/sha256.h"
#include "tuner/space/impl.h"

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
	json_object_set_new(out, "space", counts);
	json_object_set_new(out, "params", params_json(space, true));
	json_object_set_new(out, "constraints", constraints_json(space));
	return out;
}

static void hash_json(struct sha256 *sha, json_t *json, size_t leave_out) {
	char *text = js_canonical(json);
	sha256_add(sha, text, strlen(text) - leave_out);
	free(text);
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
