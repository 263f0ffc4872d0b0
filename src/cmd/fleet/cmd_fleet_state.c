/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/fleet/fleet_impl.h"

enum { FILE_MAX = 64 << 20, TYPES_MAX = 10000, LOSSES_MAX = 10000000 };

static int strings_check(const json_t *object, const char *const *keys, struct err *err) {
	const char *text;
	for (; *keys; keys++)
		if (js_string(object, *keys, &text, err))
			return -1;
	return 0;
}

static int rows_check(const json_t *document, const char *name, size_t most, const char *const *keys, struct err *err) {
	json_t *rows;
	if (js_array(document, name, most, &rows, err))
		return -1;
	js_each (row, rows)
		if (strings_check(row, keys, err))
			return err_prefix(err, "%s %zu", name, row_at + 1);
	return 0;
}

static int type_check(const json_t *type, struct err *err) {
	json_t *machine, *array;
	if (js_object(type, "machine", &machine, err) || js_array(type, "results", 100000, &array, err) ||
	    js_array(type, "nodes", FLEET_NODES_MAX, &array, err))
		return -1;
	js_each (node, array)
		if (!json_is_string(node))
			return err_set(err, ERR_USAGE, NULL, "nodes: a name must be a string");
	return 0;
}

static int check(const json_t *document, struct err *err) {
	static const char *const heads[] = {"schema", "tuning", "folder", NULL}, *const nodes[] = {"node", "state", NULL};
	static const char *const types[] = {"type", "fingerprint", "state", NULL};
	static const char *const losses[] = {"profile_of", "used_on", "state", NULL};
	if (strings_check(document, heads, err) || rows_check(document, "nodes", FLEET_NODES_MAX, nodes, err) ||
	    rows_check(document, "types", TYPES_MAX, types, err) || rows_check(document, "losses", LOSSES_MAX, losses, err))
		return -1;
	js_each (type, json_object_get(document, "types"))
		if (type_check(type, err))
			return err_prefix(err, "types %zu", type_at + 1);
	if (strcmp(js_string_or(document, "schema", ""), "sweetspot-fleet/1") == 0)
		return 0;
	return err_set(err, ERR_USAGE, NULL, "its schema is not sweetspot-fleet/1");
}

json_t *fleet_state_load(const char *path, struct err *err) {
	if (access(path, F_OK) != 0)
		return NULL;
	json_t *document = js_load(path, FILE_MAX, err);
	if (document && check(document, err) == 0)
		return document;
	if (document) {
		err_prefix(err, "%s", path);
		err_hint(err, "move it away, or choose another folder with -o DIR");
	}
	json_decref(document);
	return NULL;
}

int fleet_state_save(const struct fleet_run *run, struct err *err) {
	mem_auto char *text = json_dumps(run->document, JSON_INDENT(1) | JSON_ENSURE_ASCII);
	return text ? sys_write_file(run->state, text, strlen(text), err)
	            : err_set(err, ERR_FAILED, NULL, "cannot write the state of the fleet as JSON");
}
