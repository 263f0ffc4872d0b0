/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/store_share.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tuner/store/share.h"

static const size_t FILE_MAX_BYTES = (size_t)256 << 20;

static int document_write(const json_t *document, const char *path, struct err *err) {
	char *text = NULL;
	size_t size = 0;
	if (!path || strcmp(path, "-") == 0) {
		js_write(document, stdout); /* main looks for errors of stdout */
		return 0;
	}
	FILE *memory = open_memstream(&text, &size);
	int failed = !memory || js_write(document, memory);
	if (memory)
		failed = fclose(memory) != 0 || failed;
	failed = failed ? err_set(err, ERR_FAILED, NULL, "out of memory") : sys_write_file(path, text, size, err);
	free(text);
	return failed;
}

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

int store_share_export(struct app *app, const struct opt_args *args, struct err *err) {
	size_t count = opt_words(args) - 1, hidden = 0;
	struct store *store = store_open(opt_get(args, "store", NULL), STORE_READ, err);
	const char **names = mem_alloc(count + 1, sizeof *names);
	for (size_t i = 0; i < count; i++)
		names[i] = opt_word(args, i + 1);
	const struct share_wish wish = {.kernels = count ? names : NULL, .private = opt_has(args, "private")};
	json_t *document = store ? share_export(store, &wish, &hidden, err) : NULL;
	int failed = !document || hidden_report(app, hidden, document, err) ||
	             document_write(document, opt_get(args, "output", NULL), err);
	json_decref(document);
	free(names);
	store_close(store);
	return failed ? -1 : 0;
}

static int file_import(struct store *store, const char *path, json_t *files, struct err *err) {
	struct share_import import;
	json_t *document = js_load(path, FILE_MAX_BYTES, err);
	int failed = !document || share_import(store, document, path, &import, err);
	if (!failed)
		json_array_append_new(files, json_pack("{s:o,s:I,s:I,s:I}", "path", js_text(path), "searches",
		                                       (json_int_t)import.searches, "trials", (json_int_t)import.trials,
		                                       "known", (json_int_t)import.known));
	json_decref(document);
	return failed;
}

static int is_document(const struct dirent *entry) {
	size_t size = strlen(entry->d_name);
	return *entry->d_name != '.' && size > 5 && strcmp(entry->d_name + size - 5, ".json") == 0;
}

/* A folder: its files NAME.json, in the order of their names. */
static int path_import(struct store *store, const char *path, json_t *files, struct err *err) {
	struct dirent **entries = NULL;
	struct stat info;
	if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
		return file_import(store, path, files, err);
	int count = scandir(path, &entries, is_document, alphasort), failed = 0;
	if (count <= 0)
		failed = err_set(err, ERR_USAGE, "`sweetspot store export -o FILE` writes them",
		                 "%s does not contain any .json files", path);
	for (int i = 0; i < count; i++) {
		char *file = mem_printf("%s/%s", path, entries[i]->d_name);
		failed = failed || file_import(store, file, files, err);
		free(file);
		free(entries[i]);
	}
	free(entries);
	return failed;
}

static void files_print(const json_t *files) {
	size_t i;
	json_t *file;
	json_array_foreach((json_t *)files, i, file) {
		printf("%s: %lld searches with %lld trials added, %lld known\n", js_string_or(file, "path", ""),
		       (long long)js_int_or(file, "searches", 0), (long long)js_int_or(file, "trials", 0),
		       (long long)js_int_or(file, "known", 0));
	}
}

int store_share_import(struct app *app, const struct opt_args *args, struct err *err) {
	(void)app;
	if (opt_words(args) < 2)
		return err_set(err, ERR_USAGE, "sweetspot store import shared.json", "give the files to import");
	struct store *store = store_open(opt_get(args, "store", NULL), STORE_WRITE, err);
	json_t *files = json_array();
	int failed = !store;
	for (size_t i = 1; i < opt_words(args) && !failed; i++)
		failed = path_import(store, opt_word(args, i), files, err);
	if (!failed && opt_has(args, "json")) {
		json_t *document = json_pack("{s:s,s:o,s:O}", "schema", "sweetspot-store-import/1", "store",
		                             js_text(store_path(store)), "files", files);
		js_write(document, stdout);
		json_decref(document);
	} else if (!failed) {
		files_print(files);
	}
	json_decref(files);
	store_close(store);
	return failed ? -1 : 0;
}
