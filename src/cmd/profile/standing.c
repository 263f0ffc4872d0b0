/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of entries on this machine, which depends on the present kernels and programs. */
#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/path.h"
#include "base/text.h"
#include "src/cmd/profile/input.h"
#include "tuner/profile/profile.h"
#include "tuner/program/source.h"

static bool is_plugin(const char *word) {
	size_t length = strlen(word);
	return strchr(word, '/') || (length > 3 && strcmp(word + length - 3, ".so") == 0);
}

/* Finds the kernel that --kernel names. Returns NULL with err, or without it for a name that only the profile may know.
 */
static const struct kernel_desc *named(struct app *app, const char *word, struct err *err) {
	const struct kernel_desc *kernel = app_kernel(app, word, err);
	if (!kernel && err->code == ERR_USAGE && !is_plugin(word))
		*err = (struct err){0};
	return kernel;
}

int profile_input_pick(struct profile_input *input, struct app *app, const struct opt_args *args, struct err *err) {
	size_t count = opt_count(args, "kernel");
	const char **names = mem_alloc(count + 1, sizeof *names);
	int failed = 0;
	for (size_t i = 0; i < count && !failed; i++) {
		const struct kernel_desc *kernel = named(app, opt_at(args, "kernel", i), err);
		names[i] = kernel ? kernel->name : opt_at(args, "kernel", i);
		failed = err->code != ERR_OK;
	}
	failed = failed || profile_pick(input->profile, names, err) ? -1 : 0;
	if (failed && err->code == ERR_NOTHING)
		err_hint(err, "`sweetspot profile show` lists the kernels");
	free(names);
	return failed;
}

const struct kernel_desc *profile_kernel(struct app *app, const struct opt_args *args, const json_t *entry) {
	const char *name = js_string_or(entry, "kernel", "");
	char kind[32];
	for (size_t i = 0; i < opt_count(args, "kernel"); i++) {
		struct err unknown = {0};
		const struct kernel_desc *kernel = app_kernel(app, opt_at(args, "kernel", i), &unknown);
		if (kernel && strcmp(kernel->name, name) == 0)
			return kernel;
	}
	profile_device_kind(entry, kind, sizeof kind);
	const struct kernel_list *kernels = app_kernels(app, NULL);
	return kernels ? kernel_list_find(kernels, name, kind, NULL) : NULL;
}

const char *profile_folder(const struct profile_input *input, const json_t *program) {
	struct err gone = {0};
	const char *folder = input->from_file ? NULL : js_string_or(program, "folder", NULL);
	return folder && program_places_check(folder, NULL, &gone) == 0 ? folder : NULL;
}

/* Where the program of an entry runs: NULL: in the current folder. The caller frees it. */
static char *folder_of(const struct profile_input *input, const json_t *program) {
	const char *cwd = js_string_or(program, "cwd", NULL), *folder = profile_folder(input, program);
	if (!folder || !cwd || *cwd == '/')
		return cwd ? mem_strdup(cwd) : folder ? mem_strdup(folder) : NULL;
	return mem_printf("%s/%s", folder, cwd);
}

/* Returns the source of the entry if what it runs has not changed, the present hash if it has, or NULL if the program
 * is more than a single file. */
static const char *program_hash(const struct profile_input *input, const json_t *entry) {
	const json_t *program = json_object_get(entry, "program");
	const char *name = json_string_value(js_at(program, "argv.0"));
	if (js_bool_or(program, "shell", false) || js_string_or(program, "build", NULL) || strchr(name, '{'))
		return NULL;
	mem_auto char *cwd = folder_of(input, program), *line = js_canonical(json_object_get(program, "argv"));
	mem_auto char *key = mem_printf("%s %s", cwd ? cwd : "", line);
	const char *source = js_string_or(entry, "source", "");
	if (!json_object_get(input->hashes, key)) {
		struct program_hashes hashes = program_hashes_recorded(json_object_get(program, "argv"), cwd);
		json_object_set_new(input->hashes, key, json_pack("[s,s]", hashes.work, hashes.first));
	}
	const json_t *hashes = json_object_get(input->hashes, key);
	const char *work = json_string_value(json_array_get(hashes, 0)),
			   *first = json_string_value(json_array_get(hashes, 1));
	return strcmp(first, source) == 0 ? first : *work ? work : NULL;
}

const char *profile_state_here(struct app *app, const struct opt_args *args, const struct profile_input *input,
                               const json_t *entry) {
	const json_t *program = json_object_get(entry, "program");
	if (program)
		return profile_entry_state(input->origin, entry, program_hash(input, entry));
	const struct kernel_desc *kernel = profile_kernel(app, args, entry);
	return profile_entry_state(input->origin, entry, kernel ? kernel->source : NULL);
}

char *profile_differing(struct app *app, const struct profile_input *input) {
	json_t *there = json_object_get(input->profile, "machine");
	js_auto json_t *differences = profile_machine_differences(there, app_machine(app, NULL));
	char *text = mem_strdup("");
	js_each (one, differences)
		mem_append(&text, "%s%s", *text ? ", " : "", js_string_or(one, "name", ""));
	if (!*text) {
		free(text);
		text = mem_strdup("fingerprint");
	}
	text_clean(text, false);
	return text;
}
