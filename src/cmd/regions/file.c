/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/path.h"
#include "base/sys.h"
#include "base/text.h"
#include "src/cmd/regions/file.h"
#include "tuner/profile/use.h"
#include "tuner/regions/rebuilt.h"
#include "tuner/result/result.h"

enum { DOCUMENT_MAX = 8 << 20, KEY = 12 };

static char *folder_of(const struct opt_args *args, struct err *err) {
	const char *store = opt_get(args, "store", NULL);
	if (store)
		return mem_printf("%s.regions", store);
	char *data = sys_data_dir(err), *folder = data ? mem_printf("%s/regions", data) : NULL;
	free(data);
	return folder;
}

int regions_files_of(struct app *app, const struct opt_args *args, const char *program, struct regions_files *files,
                     struct err *err) {
	const char *machine = app_fingerprint(app, err);
	char hash[SHA256_TEXT], *real = realpath(program, NULL);
	*files = (struct regions_files){.folder = machine ? folder_of(args, err) : NULL};
	if (!files->folder) {
		free(real);
		return -1;
	}
	mem_auto char *identity = mem_printf("%s\n%s", real ? real : program, machine);
	sha256_text(identity, strlen(identity), hash);
	const char *key = strchr(hash, ':') ? strchr(hash, ':') + 1 : hash;
	mem_auto char *absolute = files->folder[0] == '/' ? NULL : realpath(".", NULL);
	mem_auto char *stem = mem_printf("%s%s%s/%s-%.*s", absolute ? absolute : "", absolute ? "/" : "", files->folder,
	                                 text_base_name(program), KEY, key);
	files->json = mem_printf("%s.json", stem);
	files->table = mem_printf("%s.table", stem);
	free(real);
	return 0;
}

void regions_files_clear(struct regions_files *files) {
	free(files->folder);
	free(files->json);
	free(files->table);
}

/* One document, checked. New reference. */
static json_t *regions_document_load(const char *path, struct err *err) {
	json_t *json = js_load(path, DOCUMENT_MAX, err);
	const char *table;
	if (json && strcmp(js_string_or(json, "schema", ""), "sweetspot-regions/1") == 0 &&
	    js_string(json, "table", &table, err) == 0 && access(table, R_OK) == 0)
		return json;
	if (json)
		err_set(err, ERR_USAGE, "tune the program again with --regions", "%s does not hold usable settings", path);
	json_decref(json);
	return NULL;
}

bool regions_document_proven(const json_t *document) {
	return ssp_use_of(document) == SSP_PROVEN && !js_bool_or(document, "busy", false);
}

/* The only document in the folder; *count says how many there are. */
static char *only_document(const char *folder, size_t *count) {
	DIR *dir = opendir(folder);
	char *path = NULL;
	*count = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		size_t length = strlen(entry->d_name);
		if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0)
			continue;
		if (++*count == 1)
			path = mem_printf("%s/%s", folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return path;
}

json_t *regions_file_load(struct app *app, const struct opt_args *args, const char *program, struct err *err) {
	struct regions_files files = {0};
	mem_auto char *path = NULL;
	size_t count = 0;
	json_t *json = NULL;
	if (program && regions_files_of(app, args, program, &files, err) == 0 && access(files.json, F_OK) == 0)
		path = mem_strdup(files.json);
	if (!program && (files.folder = folder_of(args, err)))
		path = only_document(files.folder, &count);
	if (path && count <= 1)
		json = regions_document_load(path, err);
	else if (count > 1)
		err_set(err, ERR_USAGE, "name the program after two dashes: --regions -- ./app",
		        "settings of %zu programs are kept in %s", count, files.folder);
	else if (files.folder)
		err_set(err, ERR_NOTHING, "sweetspot tune --regions -- ./app in.dat", "no regions have been tuned%s%s",
		        program ? " for " : "", program ? program : "");
	regions_files_clear(&files);
	return json;
}

json_t *regions_file_of_words(struct app *app, const struct opt_args *args, char *const *words, size_t count,
                              struct err *err) {
	mem_auto char *path = count ? program_path(words[0], NULL, err) : NULL;
	mem_auto char *subject = path ? regions_subject(path, words, count) : NULL;
	return count && !path ? NULL : regions_file_load(app, args, subject, err);
}

static int wanted(const struct dirent *entry) {
	size_t length = strlen(entry->d_name);
	return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

int regions_files_each(const struct opt_args *args, int (*visit)(void *ctx, const json_t *document), void *ctx) {
	struct err none = {0};
	mem_auto char *folder = folder_of(args, &none);
	struct dirent **entries = NULL;
	int count = folder ? scandir(folder, &entries, wanted, alphasort) : 0, result = 0;
	for (int i = 0; i < count; i++) {
		mem_auto char *path = mem_printf("%s/%s", folder, entries[i]->d_name);
		js_auto json_t *document = result ? NULL : regions_document_load(path, &none);
		if (document)
			result = visit(ctx, document);
		free(entries[i]);
	}
	free(entries);
	return result;
}

static bool is_same_build(const json_t *document) {
	struct regions_rebuilt rebuilt;
	struct err none = {0};
	bool same = regions_rebuilt_find(document, false, &rebuilt, &none) == 0 && !rebuilt.table;
	regions_rebuilt_clear(&rebuilt);
	return same;
}

/* Undecided settings of another command line may still be what the user wants now. */
static bool is_better(const json_t *old, const json_t *result, const struct regions_target *target) {
	bool unusable = verdict_of(result) == VERDICT_SLOWER || js_bool_or(result, "busy", false);
	if (verdict_of(old) != VERDICT_FASTER || js_bool_or(old, "busy", false) ||
	    !(unusable || !verdict_is_decided(result)) || !is_same_build(old))
		return false;
	js_auto json_t *command = regions_target_command(target);
	bool same = json_equal(command, json_object_get(old, "argv"));
	return unusable || same;
}

static int document_write(struct app *app, const struct regions_files *files, const struct regions_target *target,
                          const json_t *result, struct err *err) {
	js_auto json_t *json = json_copy((json_t *)result);
	json_object_set_new(json, "schema", json_string("sweetspot-regions/1"));
	json_object_set_new(json, "program", json_string(target->subject));
	json_object_set_new(json, "argv", regions_target_command(target));
	json_object_set_new(json, "library", json_string(target->library));
	json_object_set_new(json, "fingerprint", json_string(app_fingerprint(app, err)));
	mem_auto char *text = json_dumps(json, JSON_INDENT(2) | JSON_SORT_KEYS);
	return text ? sys_write_file(files->json, text, strlen(text), err) : -1;
}

int regions_keep(struct app *app, const struct regions_files *files, const struct regions_target *target,
                 const char *chosen, json_t *result, struct err *err) {
	struct err none = {0};
	js_auto json_t *old = access(files->json, F_OK) == 0 ? regions_document_load(files->json, &none) : NULL;
	bool better = old && is_better(old, result, target);
	json_object_set_new(result, "table", json_string(files->table));
	if (better)
		ui_inform(app_ui(app), "the settings found earlier stay, because they are proven: %.2fx faster",
		          speedup_of(old).ratio);
	if (better)
		return 0;
	if (rename(chosen, files->table))
		return err_set(err, ERR_FAILED, "choose a writable path", "cannot write %s: %s", files->table, strerror(errno));
	return document_write(app, files, target, result, err);
}
