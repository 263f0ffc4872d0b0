/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/regions/keep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/regions/file.h"
#include "tuner/regions/rebuilt.h"

static bool has_verdict(const json_t *document, const char *verdict) {
	return strcmp(js_string_or(document, "verdict", ""), verdict) == 0;
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
	bool unusable = has_verdict(result, "slower") || js_bool_or(result, "busy", false);
	if (!has_verdict(old, "faster") || js_bool_or(old, "busy", false) ||
	    !(unusable || has_verdict(result, "undecided")) || !is_same_build(old))
		return false;
	json_t *command = regions_target_command(target);
	bool same = json_equal(command, json_object_get(old, "argv"));
	json_decref(command);
	return unusable || same;
}

static int document_write(struct app *app, const struct regions_files *files, const struct regions_target *target,
                          const json_t *result, struct err *err) {
	json_t *json = json_copy((json_t *)result);
	json_object_set_new(json, "schema", json_string("sweetspot-regions/1"));
	json_object_set_new(json, "program", json_string(target->subject));
	json_object_set_new(json, "argv", regions_target_command(target));
	json_object_set_new(json, "library", json_string(target->library));
	json_object_set_new(json, "fingerprint", json_string(app_fingerprint(app, err)));
	char *text = json_dumps(json, JSON_INDENT(2) | JSON_SORT_KEYS);
	int failed = text ? sys_write_file(files->json, text, strlen(text), err) : -1;
	free(text);
	json_decref(json);
	return failed;
}

int regions_keep(struct app *app, const struct regions_files *files, const struct regions_target *target,
                 const char *chosen, json_t *result, struct err *err) {
	struct err none = {0};
	json_t *old = access(files->json, F_OK) == 0 ? regions_document_load(files->json, &none) : NULL;
	bool better = old && is_better(old, result, target);
	json_object_set_new(result, "table", json_string(files->table));
	if (better)
		ui_inform(app_ui(app), "the settings found earlier stay, because they are proven: %.2fx faster",
		          js_real_or(json_object_get(old, "speedup"), "ratio", NAN));
	json_decref(old);
	if (better)
		return 0;
	if (rename(chosen, files->table))
		return err_set(err, ERR_FAILED, "choose a writable path", "cannot write %s: %s", files->table, strerror(errno));
	return document_write(app, files, target, result, err);
}
