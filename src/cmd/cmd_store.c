/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "base/json/save.h"
#include "base/tree.h"
#include "src/cmd/store_rows_impl.h"
#include "src/show/columns.h"
#include "tuner/store/store.h"

/* `sweetspot store export` and `import`. */

static const size_t FILE_MAX_BYTES = (size_t)256 << 20;

static int hidden_report(struct app *app, size_t hidden, const json_t *document, struct err *err) {
	const char *advice = "add --private to share them nevertheless";
	bool any = json_array_size(json_object_get(document, "searches")) > 0;
	if (!any && !hidden)
		return err_set(err, ERR_NOTHING, "`sweetspot store list` lists the searches", "there are no results to export");
	if (!any)
		return err_set(err, ERR_NOTHING, advice, "all searches (%zu) name a path, the user or the host", hidden);
	if (hidden)
		ui_warn(app_ui(app), advice, "left out %zu search%s that name%s a path, the user or the host", hidden,
		        hidden == 1 ? "" : "es", hidden == 1 ? "s" : "");
	return 0;
}

static int store_share_export(struct app *app, const struct opt_args *args, struct err *err) {
	size_t hidden = 0;
	struct store *store = store_open(opt_get(args, "store", NULL), STORE_READ, err);
	const struct share_wish wish = {.kernels = opt_words(args) > 1 ? opt_words_from(args, 1) : NULL,
	                                .private = opt_has(args, "private")};
	js_auto json_t *document = store ? share_export(store, &wish, &hidden, err) : NULL;
	int failed =
		!document || hidden_report(app, hidden, document, err) || js_save(document, opt_get(args, "output", NULL), err);
	store_close(store);
	return failed ? -1 : 0;
}

static int file_import(struct store *store, const char *path, json_t *files, struct err *err) {
	struct share_import import;
	js_auto json_t *document = js_load(path, FILE_MAX_BYTES, err);
	int failed = !document || share_import(store, document, path, &import, err);
	if (!failed)
		json_array_append_new(files, json_pack("{s:o,s:I,s:I,s:I}", "path", js_text(path), "searches",
		                                       (json_int_t)import.searches, "trials", (json_int_t)import.trials,
		                                       "known", (json_int_t)import.known));
	return failed;
}

/* A folder: its files NAME.json, in the order of their names. */
static int path_import(struct store *store, const char *path, json_t *files, struct err *err) {
	size_t count;
	int failed = 0;
	if (!tree_is_folder(path))
		return file_import(store, path, files, err);
	mem_auto char **paths = tree_files(path, ".json", &count);
	if (!count)
		failed = err_set(err, ERR_USAGE, "`sweetspot store export -o FILE` writes them",
		                 "%s does not contain any .json files", path);
	for (size_t i = 0; i < count; i++) {
		failed = failed || file_import(store, paths[i], files, err);
		free(paths[i]);
	}
	return failed;
}

static void files_print(const json_t *files) {
	js_each (file, files) {
		printf("%s: %lld searches with %lld trials added, %lld known\n", js_string_or(file, "path", ""),
		       (long long)js_int_or(file, "searches", 0), (long long)js_int_or(file, "trials", 0),
		       (long long)js_int_or(file, "known", 0));
	}
}

static int store_share_import(struct app *app, const struct opt_args *args, struct err *err) {
	(void)app;
	if (opt_words(args) < 2)
		return err_set(err, ERR_USAGE, "sweetspot store import shared.json", "give the files to import");
	struct store *store = store_open(opt_get(args, "store", NULL), STORE_WRITE, err);
	js_auto json_t *files = json_array();
	int failed = !store;
	for (size_t i = 1; i < opt_words(args) && !failed; i++)
		failed = path_import(store, opt_word(args, i), files, err);
	if (!failed && opt_has(args, "json")) {
		js_print(json_pack("{s:s,s:o,s:O}", "schema", "sweetspot-store-import/1", "store", js_text(store_path(store)),
		                   "files", files));
	} else if (!failed) {
		files_print(files);
	}
	store_close(store);
	return failed ? -1 : 0;
}

static const struct opt options[] = {
	OPT_GROUP("Results"),
	{"export", 0, "FORMAT", "with show: print markdown, csv or json", 0},
	{"output", 'o', "FILE", "store to merge into (created), or file to export to", 0},
	{"yes", 'y', NULL, "with rm: remove without asking", 0},
	{"private", 0, NULL, "with export: keep searches that name paths or users", 0},
	{0},
};

static json_t *time_json(double seconds) {
	char text[32];
	return text_time(seconds, "%Y-%m-%dT%H:%M:%SZ", text, sizeof text) ? json_string(text) : json_null();
}

struct machines {
	struct store *store;
	json_t *list;
	struct err *err;
	bool failed;
};

static int machine_add(void *ctx, const struct store_row *machine) {
	struct machines *machines = ctx;
	int64_t trials = 0;
	machines->failed = store_machine_trials(machines->store, machine->fingerprint, &trials, machines->err) != 0;
	json_array_append_new(machines->list,
	                      json_pack("{s:o,s:o,s:I,s:I,s:I,s:o}", "fingerprint", js_text(machine->fingerprint), "cpu",
	                                js_text(js_string_or(machine->machine, "cpu", "")), "sessions",
	                                (json_int_t)machine->sessions, "searches", (json_int_t)machine->searches, "trials",
	                                (json_int_t)trials, "last", time_json(machine->started)));
	return machines->failed;
}

static json_t *info_json(const char *path, struct err *err) {
	struct store *store = store_open(path, STORE_READ, err);
	struct machines machines = {.store = store, .list = json_array(), .err = err};
	struct store_about about;
	json_t *info = NULL;
	if (store && store_about(store, &about, err) == 0 &&
	    store_each(store, STORE_MACHINES, NULL, machine_add, &machines, err) == 0 && !machines.failed)
		info = json_pack("{s:s,s:o,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:O}", "schema", "sweetspot-store/1", "path",
		                 js_text(store_path(store)), "bytes", (json_int_t)about.bytes, "sessions",
		                 (json_int_t)about.sessions, "searches", (json_int_t)about.searches, "finished",
		                 (json_int_t)about.done, "trials", (json_int_t)about.trials, "first", time_json(about.first),
		                 "last", time_json(about.last), "machines", machines.list);
	json_decref(machines.list);
	store_close(store);
	return info;
}

static void info_print(struct ui *ui, const json_t *info) {
	static const struct column lines[] = {NUMBER("sessions", "sessions", "%.0f", 1),
	                                      NUMBER("searches", "searches", "%.0f", 1),
	                                      NUMBER("finished", "finished", "%.0f", 1),
	                                      NUMBER("trials", "trials", "%.0f", 1),
	                                      COLUMN("first used", "first"),
	                                      COLUMN("last used", "last"),
	                                      {0}};
	static const struct column columns[] = {COLUMN("machine", "fingerprint"),
	                                        COLUMN("processor", "cpu"),
	                                        NUMBER("\1sessions", "sessions", "%.0f", 1),
	                                        NUMBER("\1searches", "searches", "%.0f", 1),
	                                        NUMBER("\1trials", "trials", "%.0f", 1),
	                                        COLUMN("last used", "last"),
	                                        {0}};
	printf("store       %s\nsize        %s\n", js_string_or(info, "path", ""),
	       ui_bytes(js_real_or(info, "bytes", 0)).text);
	for (const struct column *line = lines; line->title; line++) {
		double number;
		mem_auto char *text = column_text(line, info, 0, &number);
		printf("%-11s %s\n", line->title, text);
	}
	if (json_array_size(json_object_get(info, "machines")))
		putchar('\n');
	columns_print(ui, columns, json_object_get(info, "machines"), stdout);
}

static int info(struct app *app, const struct opt_args *args, struct err *err) {
	const char *path = opt_words(args) > 1 ? opt_word(args, 1) : opt_get(args, "store", NULL);
	if (opt_has(args, "output") || opt_words(args) > 2 || (opt_words(args) > 1 && opt_has(args, "store")))
		return err_set(err, ERR_USAGE, "sweetspot store info [FILE]", "info takes one store and does not write");
	js_auto json_t *json = info_json(path, err);
	if (!json)
		return -1;
	if (opt_has(args, "json"))
		js_write(json, stdout);
	else
		info_print(app_ui(app), json);
	return 0;
}

static json_t *merged_json(const struct store *target, const char *const *paths, size_t count,
                           const struct store_merged *merged) {
	json_t *files = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(files, json_pack("{s:o,s:I,s:I,s:I,s:I}", "path", js_text(paths[i]), "sessions",
		                                       (json_int_t)merged[i].sessions, "searches",
		                                       (json_int_t)merged[i].searches, "trials", (json_int_t)merged[i].trials,
		                                       "updated", (json_int_t)merged[i].updated));
	return json_pack("{s:s,s:o,s:o}", "schema", "sweetspot-store-merge/1", "store", js_text(store_path(target)),
	                 "files", files);
}

static void merged_print(struct ui *ui, const json_t *json) {
	static const struct column columns[] = {COLUMN("file", "path"),
	                                        NUMBER("\1sessions", "sessions", "%.0f", 1),
	                                        NUMBER("\1searches", "searches", "%.0f", 1),
	                                        NUMBER("\1trials", "trials", "%.0f", 1),
	                                        NUMBER("\1updated", "updated", "%.0f", 1),
	                                        {0}};
	columns_print(ui, columns, json_object_get(json, "files"), stdout);
	printf("\nstore: %s\n", js_string_or(json, "store", ""));
}

static int files_merge(struct app *app, const struct opt_args *args, const char *const *paths, size_t count,
                       struct err *err) {
	struct store *target = store_open(opt_get(args, "output", opt_get(args, "store", NULL)), STORE_WRITE, err);
	mem_auto struct store_merged *merged = mem_alloc(count, sizeof *merged);
	int failed = !target || store_merge(target, paths, count, merged, err);
	if (!failed) {
		js_auto json_t *json = merged_json(target, paths, count, merged);
		if (opt_has(args, "json"))
			js_write(json, stdout);
		else
			merged_print(app_ui(app), json);
	}
	store_close(target);
	return failed ? -1 : 0;
}

/* Checks that all files are stores before the target is created. */
static int files_look(const char *const *paths, size_t count, struct err *err) {
	for (size_t i = 0; i < count; i++) {
		struct store *store = store_open(paths[i], STORE_READ, err);
		store_close(store);
		if (!store && err->code == ERR_NOTHING)
			return err_set(err, ERR_USAGE, "name existing stores", "%s does not exist", paths[i]);
		if (!store)
			return -1;
	}
	return 0;
}

static int merge(struct app *app, const struct opt_args *args, struct err *err) {
	size_t count = opt_words(args) - 1;
	if (!count)
		return err_set(err, ERR_USAGE, "sweetspot store merge a.db b.db -o all.db", "give the stores to merge");
	if (opt_has(args, "output") && opt_has(args, "store"))
		return err_set(err, ERR_USAGE, "give one of them", "--output and --store both name the target");
	const char *const *paths = opt_words_from(args, 1);
	return files_look(paths, count, err) || files_merge(app, args, paths, count, err) ? -1 : 0;
}

static const struct cmd_verb verb_store_info = {"info", NULL, 0, SIZE_MAX, info, {NULL}},
							 verb_store_merge = {"merge", NULL, 0, SIZE_MAX, merge, {NULL}},
							 verb_store_export = {"export", NULL, 0, SIZE_MAX, store_share_export, {NULL}},
							 verb_store_import = {"import", NULL, 0, SIZE_MAX, store_share_import, {NULL}};

const struct cmd cmd_store = {
	.name = "store",
	.summary = "list, show, remove, merge or share the contents of stores",
	.usage = "store list\n"
			 "store show NAME|SEARCH\n"
			 "store rm NAME|SEARCH...\n"
			 "store info [FILE]\n"
			 "store merge FILE... [-o FILE]\n"
			 "store export [NAME...] [-o FILE]\n"
			 "store import FILE|FOLDER...",
	.options = (const struct opt *const[]){options, cmd_store_options, NULL},
	.notes = "show prints the trials of the newest search of that name, or of the search with\n"
			 "that number. rm removes searches with all their trials. At a terminal it shows\n"
			 "them and asks; elsewhere a name of several programs needs --yes.\n\n"
			 "merge adds the contents of the files to the store. If one of them is damaged or\n"
			 "not a store, nothing is added. Merging a file twice changes nothing.\n\n"
			 "export writes configurations, times and facts about the machine for others to\n"
			 "use, without commands, paths, users or hosts; import adds such files, and the\n"
			 "searches in them help later ones as the store's own do.",
	.examples = "sweetspot store list\n"
				"sweetspot store show fw\n"
				"sweetspot store merge node1.db node2.db -o all.db\n"
				"sweetspot store export fw -o shared.json",
	.only_reads = true,
	.verbs = (const struct cmd_verb *const[]){&verb_store_list, &verb_store_show, &verb_store_rm, &verb_store_info,
                                              &verb_store_merge, &verb_store_export, &verb_store_import, NULL},
};
