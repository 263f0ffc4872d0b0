/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects the results of this machine from the store. It compares the descriptions of machines, because computing the
 * fingerprint of a machine with a GPU would need a worker. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "src/app/built.h"
#include "src/app/lock.h"
#include "src/cmd/status/state.h"
#include "tuner/program/source.h"
#include "tuner/store/store.h"

enum { MACHINES_MAX = 64, HASHES_MAX = 16, RESULTS_MAX = 100 };

struct gather {
	struct store *store;
	const json_t *machine;
	json_t *tuned, *unfinished;
	int64_t elsewhere;
	char *here[MACHINES_MAX],
		*other[MACHINES_MAX]; /* one for this build, the others for other builds on this machine */
	size_t here_count, other_count;
	const char *outdated; /* NULL, or the difference to this build */
	int hashes;           /* number of executables hashed so far */
	struct err *err;
};

static bool same_without(const json_t *a, const json_t *b, const char *const *names) {
	json_t *x = json_copy((json_t *)a), *y = json_copy((json_t *)b);
	for (; *names; names++) {
		json_object_del(x, *names);
		json_object_del(y, *names);
	}
	bool same = json_equal(x, y) != 0;
	json_decref(x);
	json_decref(y);
	return same;
}

static int machine_sort(void *ctx, const struct store_row *machine) {
	static const char *const here[] = {"fingerprint", "gpu", "gpus", "memory_bytes", NULL};
	static const char *const other[] = {"fingerprint", "gpu",    "gpus",   "memory_bytes",
	                                    "compiler",    "cflags", "openmp", NULL};
	struct gather *g = ctx;
	if (g->here_count < MACHINES_MAX && same_without(g->machine, machine->machine, here))
		g->here[g->here_count++] = mem_strdup(machine->fingerprint);
	else if (g->other_count < MACHINES_MAX && same_without(g->machine, machine->machine, other))
		g->other[g->other_count++] = mem_strdup(machine->fingerprint);
	else
		g->elsewhere += machine->searches;
	return 0;
}

/* Compares the hash of what does the work, for programs that are a single executable or script. */
static bool program_changed(struct gather *g, const struct store_row *result, const json_t *program) {
	if (js_bool_or(program, "shell", false) || js_string_or(program, "build", NULL) || g->hashes++ >= HASHES_MAX)
		return false;
	struct program_hashes hashes = program_hashes_recorded(json_object_get(program, "argv"), NULL);
	return hashes.absolute && *hashes.work && !program_hashes_have(&hashes, result->source);
}

static const char *state_of(struct gather *g, const struct store_row *result) {
	const json_t *program = json_object_get(result->result, "program");
	if (g->outdated)
		return g->outdated;
	if (json_is_object(program))
		return program_changed(g, result, program) ? "stale" : "current";
	const char *source = built_source(result->kernel, js_string_or(result->result, "device", "cpu"));
	return source && strcmp(source, result->source) != 0 ? "stale" : "current";
}

static const char *const key[] = {"kernel", "problem", "objective", "device", NULL};

/* Tells whether there is also a result of this build. */
static bool is_superseded(const json_t *tuned, const json_t *entry) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)tuned, i, one) {
		bool same = true;
		for (const char *const *name = key; same && *name; name++)
			same = json_equal(json_object_get(one, *name), json_object_get(entry, *name)) != 0;
		if (same)
			return true;
	}
	return false;
}

static int tuned_add(void *ctx, const struct store_row *result) {
	struct gather *g = ctx;
	const json_t *best = json_object_get(result->result, "best");
	if (!json_is_object(best))
		return 0;
	json_t *entry = json_object();
	json_object_set_new(entry, "kernel", js_text(result->kernel));
	json_object_set(entry, "problem", json_object_get(result->result, "problem"));
	json_object_set(entry, "objective", json_object_get(result->result, "objective"));
	json_object_set_new(entry, "device", json_string(js_string_or(result->result, "device", "cpu")));
	json_object_set_new(entry, "program", json_boolean(json_is_object(json_object_get(result->result, "program"))));
	if (result->command)
		json_object_set_new(entry, "command", js_text(result->command));
	json_object_set(entry, "config", json_object_get(best, "config"));
	json_object_set(entry, "speedup", json_object_get(result->result, "speedup"));
	json_object_set(entry, "verdict", json_object_get(result->result, "verdict"));
	json_object_set_new(entry, "age_s", js_number(sys_wall() - result->ended));
	json_object_set_new(entry, "state", json_string(state_of(g, result)));
	if (g->outdated && is_superseded(g->tuned, entry))
		json_decref(entry);
	else
		json_array_append_new(g->tuned, entry);
	return 0;
}

static int unfinished_add(void *ctx, const struct store_row *search) {
	struct gather *g = ctx;
	struct err ignored = {0};
	json_t *problem = js_parse(search->problem, strlen(search->problem), "problem", &ignored);
	json_array_append_new(g->unfinished,
	                      json_pack("{s:o,s:o,s:o,s:o,s:I,s:o}", "kernel", js_text(search->kernel), "problem",
	                                problem ? problem : json_object(), "objective", js_text(search->objective),
	                                "command", js_text(search->command), "trials", (json_int_t)search->trials, "age_s",
	                                js_number(sys_wall() - search->started)));
	return 0;
}

static int machines_read(struct gather *g) {
	if (store_each(g->store, STORE_MACHINES, NULL, machine_sort, g, g->err))
		return -1;
	for (size_t i = 0; i < g->here_count; i++) {
		const struct store_filter newest = {.fingerprint = g->here[i], .most = RESULTS_MAX},
								  all = {.fingerprint = g->here[i]};
		if (store_each(g->store, STORE_RESULTS, &newest, tuned_add, g, g->err) ||
		    store_each(g->store, STORE_UNFINISHED, &all, unfinished_add, g, g->err))
			return -1;
	}
	g->outdated = "other build";
	for (size_t i = 0; i < g->other_count; i++) {
		const struct store_filter newest = {.fingerprint = g->other[i], .most = RESULTS_MAX};
		if (store_each(g->store, STORE_RESULTS, &newest, tuned_add, g, g->err))
			return -1;
	}
	return 0;
}

static void gather_clear(struct gather *g) {
	for (size_t i = 0; i < g->here_count; i++)
		free(g->here[i]);
	for (size_t i = 0; i < g->other_count; i++)
		free(g->other[i]);
	store_close(g->store);
}

static json_t *store_json(const char *path, const struct err *err) {
	struct err unknown = {0};
	const char *word = err->code == ERR_OK ? "ok" : err->code == ERR_NOTHING ? "absent" : "unusable";
	char *name = path ? mem_strdup(path) : store_default_path(&unknown);
	json_t *json = json_pack("{s:o,s:s}", "path", js_text(name ? name : ""), "state", word);
	if (err->code != ERR_OK && err->code != ERR_NOTHING) {
		json_object_set_new(json, "error", js_text(err->what));
		json_object_set_new(json, "hint", js_text(err->hint));
	}
	free(name);
	return json;
}

void state_store(json_t *state, const char *path) {
	struct err err = {0};
	struct gather g = {
		.machine = json_object_get(state, "machine"), .tuned = json_array(), .unfinished = json_array(), .err = &err};
	g.store = store_open(path, STORE_READ, &err);
	if (g.store)
		machines_read(&g);
	json_object_set_new(state, "store", store_json(path, &err));
	json_object_set_new(state, "tuned", g.tuned);
	json_object_set_new(state, "unfinished", g.unfinished);
	json_object_set_new(state, "elsewhere", json_integer(g.elsewhere));
	json_object_set_new(state, "measuring", json_boolean(lock_is_held()));
	gather_clear(&g);
}
