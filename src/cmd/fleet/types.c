/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tunes each type with `sweetspot tune --launcher NAME` on some of its nodes, one type after the other, into one store.
 */
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/fleet/fleet_impl.h"
#include "tuner/profile/profile.h"
#include "tuner/result/result.h"

json_t *fleet_type_find(const json_t *document, const char *fingerprint) {
	return js_find(json_object_get(document, "types"), "fingerprint", fingerprint);
}

bool fleet_type_done(const json_t *type) {
	return strcmp(js_string_or(type, "state", ""), "done") == 0;
}

static bool is_idle(const struct fleet_run *run, const char *name) {
	const json_t *node = js_find(json_object_get(run->document, "nodes"), "node", name);
	return strncmp(js_string_or(node, "state", ""), "idle", 4) == 0;
}

/* Idle nodes first, because they do not have to wait in the queue. */
static json_t *nodes_choose(const struct fleet_run *run, const json_t *type) {
	json_t *chosen = json_array();
	for (int busy = 0; busy < 2; busy++)
		js_each (node, json_object_get(type, "nodes"))
			if (json_array_size(chosen) < run->per_type && is_idle(run, json_string_value(node)) == !busy)
				json_array_append(chosen, node);
	return chosen;
}

/* "n1,n2": the nodes of `names`, or with `others` all nodes of the partition except these. */
static char *list_text(const struct fleet_run *run, const json_t *names, bool others) {
	char *text = mem_strdup("");
	js_each (node, json_object_get(run->document, "nodes")) {
		const char *name = js_string_or(node, "node", "");
		if (js_has(names, name) != others)
			mem_append(&text, "%s%s", *text ? "," : "", name);
	}
	return text;
}

/* With -w a job gets all nodes that it names. A job that may run on any one of several nodes must therefore exclude all
 * other nodes with -x. */
static const char *node_words(const struct fleet_run *run, const json_t *chosen) {
	bool one = json_array_size(chosen) == 1;
	mem_auto char *list = list_text(run, chosen, !one);
	const char *given = opt_get(run->args, "srun-args", "");
	return arena_printf(run->arena, "%s%s%s %s%s%s", given, run->partition ? " -p " : "",
	                    run->partition ? run->partition : "", *list ? one ? "-w " : "-x " : "", list, "");
}

/* Inside an allocation the launcher takes the nodes of this list. */
static const char *inside_set(const struct fleet_run *run, const json_t *chosen) {
	mem_auto char *list = list_text(run, chosen, false);
	return arena_printf(run->arena, "SLURM_JOB_NODELIST=%s", list);
}

static void line_make(const struct fleet_run *run, const json_t *chosen, struct fleet_line *line) {
	const char *given = opt_get(run->args, run->launcher->words, NULL);
	fleet_line_words(line, (const char *const[]){run->self, "tune", "--json", NULL});
	fleet_line_add(line, arena_printf(run->arena, "--launcher=%s", run->launcher->name));
	if (run->launcher->named) {
		mem_auto char *hosts = list_text(run, chosen, false);
		fleet_line_add(line, arena_printf(run->arena, "--hosts=%s", hosts));
	}
	if (run->launcher->batch && !run->inside) {
		fleet_line_add(line, arena_printf(run->arena, "--nodes=%zu", json_array_size(chosen)));
		fleet_line_add(line, arena_printf(run->arena, "--srun-args=%s", node_words(run, chosen)));
	} else if (given) {
		fleet_line_add(line, arena_printf(run->arena, "--%s=%s", run->launcher->words, given));
	}
	fleet_line_tune(line, run);
}

static void results_record(json_t *type, const json_t *tuned) {
	static const char *const keys[] = {"kernel",   "problem",  "objective", "device",  "evaluations", "elapsed_s",
	                                   "failures", "baseline", "best",      "speedup", VERDICT_MEMBER};
	json_t *results = json_array();
	js_each (result, json_object_get(tuned, "results")) {
		json_t *kept = json_object();
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
			if (json_object_get(result, keys[k]))
				json_object_set(kept, keys[k], json_object_get(result, keys[k]));
		json_object_set_new(kept, "program", json_boolean(json_is_object(json_object_get(result, "program"))));
		json_array_append_new(results, kept);
	}
	json_object_set_new(type, "results", results);
	for (size_t k = 0; k < 2; k++) {
		const char *key = k ? "fleet" : "noise_floor";
		if (json_object_get(tuned, key))
			json_object_set(type, key, json_object_get(tuned, key));
	}
}

/* The profile gets everything that the store has of that machine, so that it grows with each tuning. */
static int profile_write(const struct fleet_run *run, json_t *type, const char *store, struct err *err) {
	const char *fingerprint = js_string_or(type, "fingerprint", "");
	struct store *opened = store_open(store, STORE_READ, err);
	js_auto json_t *profile = opened ? profile_from_store(opened, fingerprint, NULL, NULL, NULL, err) : NULL;
	mem_auto char *path = profile_file_name(run->folder, fingerprint);
	int failed = profile ? profile_save(profile, path, err) : -1;
	if (!failed)
		json_object_set_new(type, "profile", json_string(path));
	store_close(opened);
	return failed;
}

/* Checks the machine again, because a node may have changed between the probe and the tuning. */
static int document_record(const struct fleet_run *run, json_t *type, const char *text, struct err *err) {
	js_auto json_t *tuned = js_parse(text, strlen(text), "the output of tune", err);
	const char *there = js_string_or(json_object_get(tuned, "machine"), "fingerprint", "");
	const char *store = js_string_or(tuned, "store", NULL);
	int failed = tuned ? 0 : -1;
	if (!failed && (!store || strcmp(there, js_string_or(type, "fingerprint", "")) != 0))
		failed = err_set(err, ERR_FAILED, "check that all nodes use the same build of sweetspot",
		                 "the node used for tuning now reports another machine: %.19s", there);
	if (!failed) {
		results_record(type, tuned);
		json_object_set_new(run->document, "store", json_string(store));
		failed = profile_write(run, type, store, err);
	}
	return failed;
}

static void outcome_set(json_t *type, const char *state, const char *reason) {
	json_object_set_new(type, "state", json_string(state));
	json_object_set_new(type, "reason", reason ? json_string(reason) : json_null());
}

static enum err_code code_of(int status) {
	static const enum err_code codes[] = {ERR_FAILED, ERR_USAGE, ERR_NOTHING, ERR_UNAVAILABLE, ERR_INTERRUPTED};
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (err_exit_status(codes[i]) == status)
			return codes[i];
	return ERR_FAILED;
}

static int tune_run(struct fleet_run *run, json_t *type, const json_t *chosen, struct err *err) {
	struct fleet_line line = {0};
	const char *const set[] = {run->inside ? inside_set(run, chosen) : NULL, NULL};
	char *text;
	line_make(run, chosen, &line);
	int status = fleet_child_run(run->app, line.words, set, &text, err), failed = 0;
	if (status > 0)
		failed =
			err_set(err, code_of(status), NULL, "type %s was not tuned: %s", js_string_or(type, "type", ""),
		            code_of(status) == ERR_UNAVAILABLE ? "its nodes are not available" : err_meaning(code_of(status)));
	else if (status < 0 || document_record(run, type, text, err))
		failed = -1;
	free(text);
	fleet_line_clear(&line);
	return failed;
}

static int type_tune(struct fleet_run *run, json_t *type, struct err *err) {
	js_auto json_t *chosen = nodes_choose(run, type);
	mem_auto char *names = list_text(run, chosen, false);
	json_object_set(type, "measured_on", chosen);
	outcome_set(type, "running", NULL);
	ui_note(app_ui(run->app), "tuning type %s on %s", js_string_or(type, "type", ""), names);
	int failed = fleet_state_save(run, err) || tune_run(run, type, chosen, err);
	if (failed) {
		outcome_set(type, err->code == ERR_INTERRUPTED ? "interrupted" : "failed", err->what);
	} else {
		outcome_set(type, "done", NULL);
		json_object_set_new(type, "tuned", json_real(sys_wall()));
	}
	struct err second = {0};
	fleet_state_save(run, &second);
	return err_later(err, failed, &second);
}

/* A usage error would repeat for every type, but any other failure of one type must not stop the others. */
static bool is_final(const struct err *err) {
	return err->code == ERR_USAGE || err->code == ERR_INTERRUPTED;
}

int fleet_types_tune(struct fleet_run *run, struct err *err) {
	struct err first = {0};
	js_each (type, json_object_get(run->document, "types")) {
		if (fleet_type_done(type))
			continue;
		if (*app_interrupt(run->app))
			return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
		if (type_tune(run, type, err) == 0)
			continue;
		if (is_final(err))
			return -1;
		if (first.code == ERR_OK)
			first = *err;
		*err = (struct err){0};
	}
	*err = first;
	return first.code == ERR_OK ? 0 : -1;
}

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
