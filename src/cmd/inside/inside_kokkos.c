/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/inside/inside_kokkos.h"

#include "base/json/js.h"
#include "base/mem.h"
#include "base/hash.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/program/program.h"

enum { KEY = 12 };

/* Beside the store, as all that is learned. */
static char *facts_path(const struct opt_args *args, const char *program) {
	const char *store = opt_get(args, "store", NULL);
	struct err none = {0};
	mem_auto char *data = store ? NULL : sys_data_dir(&none);
	mem_auto char *folder = store ? mem_printf("%s.kokkos", store) : data ? mem_printf("%s/kokkos", data) : NULL;
	if (!folder || sys_make_dirs(folder, &none))
		return NULL;
	char hash[SHA256_TEXT];
	mem_auto char *real = realpath(folder, NULL);
	sha256_text(program, strlen(program), hash);
	const char *key = strchr(hash, ':') ? strchr(hash, ':') + 1 : hash;
	return real ? mem_printf("%s/%s-%.*s", real, text_base_name(program), KEY, key) : NULL;
}

static json_t *variables(const struct inside_kokkos *kokkos, const char *asks) {
	json_t *set = json_copy(kokkos->using);
	json_object_set_new(set, "SWEETSPOT_KOKKOS", json_string(asks));
	json_object_set_new(set, "SWEETSPOT_KOKKOS_FACTS", json_string(kokkos->facts));
	return set;
}

void inside_kokkos_open(struct app *app, const struct opt_args *args, struct inside_kokkos *kokkos) {
	size_t count;
	char *const *words = opt_rest(args, &count);
	*kokkos = (struct inside_kokkos){.using = json_object()};
	kokkos->tool = kokkos_tool_find(app_ui(app), (const char *const *)words, count, opt_get(args, "cwd", NULL), true);
	if (kokkos->tool.program != KOKKOS_PROGRAM_TUNED || !kokkos->tool.library)
		return;
	json_object_set_new(kokkos->using, kokkos->tool.variable, json_string(kokkos->tool.library));
	json_object_set_new(kokkos->using, "KOKKOS_TUNE_INTERNALS", json_string("1"));
	kokkos->facts = facts_path(args, kokkos->tool.file);
	if (kokkos->facts) {
		kokkos->watching = variables(kokkos, "look");
		kokkos->learning = variables(kokkos, "ask");
	}
}

static bool is_set(void) {
	const char *own = getenv("KOKKOS_TOOLS_LIBS");
	return own && *own;
}

void inside_kokkos_tell_own(struct app *app, const struct opt_args *args) {
	size_t count;
	char *const *words = opt_rest(args, &count);
	if (!is_set() || !opt_dashes(args))
		return;
	struct kokkos_tool tool =
		kokkos_tool_find(app_ui(app), (const char *const *)words, count, opt_get(args, "cwd", NULL), false);
	free(tool.library);
	free(tool.file);
}

void inside_kokkos_tell(struct ui *ui, const struct inside_kokkos *kokkos) {
	mem_auto char *version = kokkos->facts ? kokkos_seen_broken(kokkos->facts) : NULL;
	if (version)
		ui_inform(ui, "tiles stay as they are: Kokkos %s computes wrong results with those that a tool chooses",
		          version);
}

void inside_kokkos_clear(struct inside_kokkos *kokkos) {
	json_decref(kokkos->using);
	json_decref(kokkos->watching);
	json_decref(kokkos->learning);
	free(kokkos->tool.library);
	free(kokkos->tool.file);
	free(kokkos->facts);
}
