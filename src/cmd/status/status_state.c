/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command `sweetspot` without further words. */
#include <dirent.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/app/built.h"
#include "src/app/lock.h"
#include "src/cmd/status/status_state.h"
#include "tuner/fleet/launcher.h"
#include "tuner/program/program.h"
#include "tuner/result/result.h"
#include "tuner/store/store.h"

/* Collects the results of this machine from the store. It compares the descriptions of machines, because computing the
 * fingerprint of a machine with a GPU would need a worker. */
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
	js_auto json_t *x = json_copy((json_t *)a), *y = json_copy((json_t *)b);
	for (; *names; names++) {
		json_object_del(x, *names);
		json_object_del(y, *names);
	}
	return json_equal(x, y) != 0;
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
	js_each (one, tuned)
		if (js_same(one, entry, key))
			return true;
	return false;
}

static int tuned_add(void *ctx, const struct store_row *result) {
	struct gather *g = ctx;
	const json_t *best = json_object_get(result->result, "best");
	if (!json_is_object(best))
		return 0;
	json_t *entry =
		json_pack("{s:o,s:O*,s:O*,s:s,s:b,s:o*,s:O*,s:O*}", "kernel", js_text(result->kernel), "problem",
	              json_object_get(result->result, "problem"), "objective", json_object_get(result->result, "objective"),
	              "device", js_string_or(result->result, "device", "cpu"), "program",
	              json_is_object(json_object_get(result->result, "program")), "command",
	              result->command ? js_text(result->command) : NULL, "config", json_object_get(best, "config"),
	              "speedup", json_object_get(result->result, "speedup"));
	verdict_copy(entry, result->result);
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
	json_t *problem = js_parse(search->problem, strlen(search->problem), "problem", NULL);
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
	const char *word = err->code == ERR_OK ? "ok" : err->code == ERR_NOTHING ? "absent" : "unusable";
	mem_auto char *name = path ? mem_strdup(path) : store_default_path(NULL);
	json_t *json = json_pack("{s:o,s:s}", "path", js_text(name ? name : ""), "state", word);
	if (err->code != ERR_OK && err->code != ERR_NOTHING) {
		json_object_set_new(json, "error", js_text(err->what));
		json_object_set_new(json, "hint", js_text(err->hint));
	}
	return json;
}

/* Adds to the state, which has {"machine": ..}: "store": {"path", "state": "absent"|"ok"|"unusable", "error", "hint"},
 * "tuned" (the newest 100 of each build), "unfinished", "elsewhere" (number of searches of other machines), and
 * "measuring" (whether another process is measuring). A problem with the store becomes part of the state. path: NULL
 * for the default. */
static void state_store(json_t *state, const char *path) {
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

/* Suggestions for the next command: the first rules that apply give the one or two that are shown. */
enum { NEXT_MAX = 2, OLD_DAYS = 90 };

struct next {
	json_t *list;
	const char *store; /* quoted for a shell, or NULL */
};

/* Takes ownership of `command`. */
static void next_add(struct next *next, char *command, const char *why) {
	if (json_array_size(next->list) < NEXT_MAX)
		json_array_append_new(next->list, json_pack("{s:s,s:s}", "command", command, "why", why));
	free(command);
}

/* Adds the option --store if the user gave it. */
static char *in_store(const struct next *next, const char *command) {
	return next->store ? mem_printf("%s --store %s", command, next->store) : mem_strdup(command);
}

static void next_plain(struct next *next, const char *command, const char *why) {
	next_add(next, in_store(next, command), why);
}

static void kernel_add(struct next *next, const char *before, const json_t *entry, const char *why) {
	mem_auto char *word = program_quote(js_string_or(entry, "kernel", "?")),
				  *command = mem_printf("%s %s", before, word);
	const char *device = js_string_or(entry, "device", "cpu");
	mem_auto char *whole =
		strcmp(device, "cpu") != 0 ? mem_printf("%s --device %s", command, device) : mem_strdup(command);
	next_plain(next, whole, why);
}

/* Adds a command `sweetspot tune ..` of the store once more, beginning with `begin`. Each word is quoted anew, because
 * a store may come from somebody else, and the user will type what is shown; a line that is more than a list of words
 * for a shell is left out. */
static void tune_again(struct next *next, const char *command, const char *begin, const char *why) {
	static const char tune[] = "sweetspot tune ";
	bool known = strncmp(command, tune, sizeof tune - 1) == 0;
	char **words = known ? words_split(command + sizeof tune - 1, NULL) : NULL;
	mem_auto char *again = words ? program_join((const char *const *)words, true) : NULL;
	if (again && *again)
		next_add(next, mem_printf("%s %s", begin, again), why);
	words_free(words);
}

/* A search of what has changed since it began cannot go on. */
static bool is_stale(const json_t *state, const json_t *search) {
	static const char *const task[] = {"kernel", "problem", "objective", NULL};
	js_each (entry, json_object_get(state, "tuned"))
		if (js_same(entry, search, task) && strcmp(js_string_or(entry, "state", ""), "stale") == 0)
			return true;
	return false;
}

/* Suggests the same `sweetspot tune` command with --resume. */
static void unfinished_next(struct next *next, const json_t *state) {
	const json_t *search = js_at(state, "unfinished.0");
	const char *command = js_string_or(search, "command", "");
	if (!json_is_true(json_object_get(state, "measuring")) && !is_stale(state, search))
		tune_again(next, command, strstr(command, " --resume") ? "sweetspot tune" : "sweetspot tune --resume",
		           "goes on with a search that has not decided yet");
}

static void again_next(struct next *next, const json_t *entry, const char *why) {
	if (entry && !js_bool_or(entry, "program", false))
		kernel_add(next, "sweetspot tune", entry, why);
	else if (entry)
		tune_again(next, js_string_or(entry, "command", ""), "sweetspot tune", why);
}

static bool has_command(const char *name) {
	for (const struct cmd *const *cmd = cmd_registry; *cmd; cmd++)
		if (strcmp((*cmd)->name, name) == 0)
			return true;
	return false;
}

static void good_next(struct next *next, const json_t *state) {
	const json_t *entry = js_find(json_object_get(state, "tuned"), "state", "current");
	if (!entry)
		return;
	kernel_add(next, "sweetspot explain", entry, "explains why its best configuration wins");
	if (has_command("report"))
		next_plain(next, "sweetspot report -o report.html", "shows all results on one page");
	else
		next_plain(next, "sweetspot export --format env", "writes the settings for programs and job scripts");
}

static void ceilings_next(struct next *next, const json_t *state) {
	const json_t *ceilings = json_object_get(state, "ceilings");
	if (!js_bool_or(ceilings, "measured", false))
		next_add(next, mem_strdup("sweetspot machine --ceilings"),
		         "measures the limits of this machine, in half a minute");
	else if (js_real_or(ceilings, "age_s", 0) > OLD_DAYS * 86400.0)
		next_add(next, mem_strdup("sweetspot machine --ceilings"), "its ceilings were measured long ago");
}

static void first_next(struct next *next) {
	next_plain(next, "sweetspot tune --openmp -- ./app in.dat",
	           "finds and proves the best settings for your own program");
	next_plain(next, "sweetspot tune fw --budget 30s", "does the same for a built-in kernel");
}

/* Adds "next": [{"command", "why"}] with at most two items. store: the argument of --store, or NULL. */
static void state_next(json_t *state, const char *store) {
	mem_auto char *quoted = store ? program_quote(store) : NULL;
	struct next next = {.list = json_array(), .store = quoted};
	const char *word = js_string_or(json_object_get(state, "store"), "state", "");
	if (strcmp(word, "unusable") == 0) {
		next_add(&next, mem_strdup("sweetspot doctor"), "checks for other problems");
	} else {
		unfinished_next(&next, state);
		again_next(&next, js_find(json_object_get(state, "tuned"), "state", "stale"),
		           "it has changed since it was tuned");
		again_next(&next, js_find(json_object_get(state, "tuned"), "state", "other build"),
		           "it was tuned with another compiler or other flags");
		if (!json_array_size(json_object_get(state, "tuned")) && !json_array_size(next.list))
			first_next(&next);
		ceilings_next(&next, state);
		good_next(&next, state);
	}
	json_object_set_new(state, "next", next.list);
}

enum { GPUS_MAX = 64 };

/* Reads "Model: NAME" from a file of the driver. */
static json_t *gpu_name(const char *address) {
	char line[256], *path = mem_printf("/proc/driver/nvidia/gpus/%s/information", address), *model = NULL;
	if (sys_read_line(path, line, sizeof line) && strncmp(line, "Model:", 6) == 0) {
		model = line + 6 + strspn(line + 6, " \t");
		text_clean(model, false);
	}
	free(path);
	return json_string(model ? model : "unknown");
}

/* Lists the GPUs from the files of the driver, without opening a device. */
static json_t *gpus_json(void) {
	json_t *gpus = json_array();
	DIR *folder = opendir("/proc/driver/nvidia/gpus");
	struct dirent *one;
	while (folder && json_array_size(gpus) < GPUS_MAX && (one = readdir(folder)))
		if (one->d_name[0] != '.')
			json_array_append_new(gpus, gpu_name(one->d_name));
	if (folder)
		closedir(folder);
	return gpus;
}

/* {"machine": as `machine --json`, with "memory_bytes" and "gpus": [names]}. New reference. */
static json_t *state_machine(struct app *app, struct err *err) {
	struct topo *topo = app_topo(app, err);
	char fingerprint[SHA256_TEXT];
	if (!topo)
		return NULL;
	json_t *machine = topo_json(topo);
	json_object_update_new(machine, built_json());
	mem_auto char *text = js_canonical(machine);
	sha256_text(text, strlen(text), fingerprint);
	json_object_set_new(machine, "fingerprint", json_string(fingerprint));
	json_object_set_new(machine, "memory_bytes", json_integer((json_int_t)sys_memory_total()));
	json_object_set_new(machine, "gpus", gpus_json());
	return machine;
}

/* "ceilings": {"measured", "age_s"} */
/* The age of the file is the age of the measurements in it. */
static void state_ceilings(json_t *state) {
	const char *fingerprint = js_string_or(json_object_get(state, "machine"), "fingerprint", "");
	struct stat info;
	mem_auto char *folder = sys_cache_dir(NULL);
	mem_auto char *path = folder ? mem_printf("%s/ceilings-%.16s.json", folder, strchr(fingerprint, ':') + 1) : NULL;
	bool measured = path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
	json_t *age = measured ? js_number(sys_wall() - (double)info.st_mtime) : json_null();
	json_object_set_new(state, "ceilings", json_pack("{s:b,s:o}", "measured", measured, "age_s", age));
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	const char *store = opt_get(args, "store", NULL);
	json_t *machine = state_machine(app, err);
	if (!machine)
		return -1;
	js_auto json_t *state = json_pack("{s:s,s:o}", "schema", "sweetspot-state/1", "machine", machine);
	state_store(state, store);
	state_ceilings(state);
	state_next(state, store);
	if (opt_has(args, "json"))
		js_write(state, stdout);
	else
		state_print(app_ui(app), state, stdout);
	return 0;
}

const struct cmd cmd_state = {
	.name = "",
	.summary = "this machine, what is tuned on it, and what to do next",
	.usage = "[OPTION...]",
	.options = (const struct opt *const[]){cmd_store_options, NULL},
	.only_reads = true,
	.run = run,
};
