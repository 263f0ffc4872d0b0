/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/profile/input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/profile/profile.h"
#include "tuner/profile/folder.h"

static void add(struct profile_inputs *inputs, struct app *app, char *path, bool from_file, json_t *profile) {
	inputs->items = mem_grow(inputs->items, inputs->count + 1, sizeof *inputs->items);
	inputs->items[inputs->count++] = (struct profile_input){
		.path = path,
		.from_file = from_file,
		.profile = profile,
		.hashes = json_object(),
		.origin = profile_origin(app_machine(app, NULL), json_object_get(profile, "machine")),
	};
}

static int file_add(struct profile_inputs *inputs, struct app *app, const char *path, struct err *err) {
	json_t *profile = profile_load(path, err);
	if (profile)
		add(inputs, app, mem_strdup(path), true, profile);
	return profile ? 0 : -1;
}

static int folder_add(struct profile_inputs *inputs, struct app *app, const char *folder, struct err *err) {
	size_t count;
	char **paths = profile_folder_files(folder, &count, err);
	int failed = paths ? 0 : -1;
	for (size_t i = 0; i < count; i++) {
		failed = failed || file_add(inputs, app, paths[i], err) ? -1 : 0;
		free(paths[i]);
	}
	free(paths);
	return failed;
}

int profile_inputs_files(struct profile_inputs *inputs, struct app *app, const char *const *paths, size_t count,
                         struct err *err) {
	struct stat about;
	*inputs = (struct profile_inputs){0};
	if (!app_machine(app, err))
		return -1;
	for (size_t i = 0; i < count; i++) {
		bool folder = stat(paths[i], &about) == 0 && S_ISDIR(about.st_mode);
		if (folder ? folder_add(inputs, app, paths[i], err) : file_add(inputs, app, paths[i], err))
			return -1;
	}
	return 0;
}

static const char *source_of(void *ctx, const char *kernel) {
	struct app *app = ctx;
	const struct kernel_desc *found = kernel_list_find(app_kernels(app, NULL), kernel, app_device_kind(app), NULL);
	return found ? found->source : NULL;
}

json_t *profile_of_store(struct app *app, struct store *store, const char *fingerprint, struct err *err) {
	return app_kernels(app, err) ? profile_from_store(store, fingerprint, NULL, source_of, app, err) : NULL;
}

static int machine_note(void *ctx, const struct store_row *result) {
	if (json_is_object(json_object_get(result->result, "best")))
		json_object_set_new(ctx, result->fingerprint, json_true());
	return 0;
}

static int machine_add(struct profile_inputs *inputs, struct app *app, struct store *store, const char *fingerprint,
                       struct err *err) {
	json_t *profile = profile_of_store(app, store, fingerprint, err);
	if (profile)
		add(inputs, app, mem_strdup(store_path(store)), false, profile);
	return profile ? 0 : -1;
}

int profile_inputs_store(struct profile_inputs *inputs, struct app *app, const struct opt_args *args, struct err *err) {
	const char *here = app_fingerprint(app, err), *fingerprint;
	struct store *store = here ? store_open(opt_get(args, "store", NULL), STORE_READ, err) : NULL;
	json_t *machines = json_object(), *value;
	*inputs = (struct profile_inputs){0};
	int failed = store && store_each(store, STORE_RESULTS, NULL, machine_note, machines, err) == 0 ? 0 : -1;
	if (!failed && json_object_get(machines, here))
		failed = machine_add(inputs, app, store, here, err);
	json_object_foreach(machines, fingerprint, value) {
		if (!failed && strcmp(fingerprint, here) != 0)
			failed = machine_add(inputs, app, store, fingerprint, err);
	}
	if (!failed && !inputs->count)
		failed = err_set(err, ERR_NOTHING, "tune something first, with sweetspot tune", "%s does not contain results",
		                 store_path(store));
	json_decref(machines);
	store_close(store);
	return failed;
}

void profile_input_close(struct profile_input *input) {
	free(input->path);
	json_decref(input->profile);
	json_decref(input->hashes);
	*input = (struct profile_input){0};
}

void profile_inputs_free(struct profile_inputs *inputs) {
	for (size_t i = 0; i < inputs->count; i++)
		profile_input_close(&inputs->items[i]);
	free(inputs->items);
}

/* Picks the profile that fits this machine best and, among several, the newest. */
static struct profile_input *nearest(const struct profile_inputs *inputs) {
	struct profile_input *best = NULL;
	for (size_t i = 0; i < inputs->count; i++) {
		struct profile_input *one = &inputs->items[i];
		if (!best || one->origin < best->origin ||
		    (one->origin == best->origin &&
		     strcmp(js_string_or(one->profile, "created", ""), js_string_or(best->profile, "created", "")) > 0))
			best = one;
	}
	return best;
}

static int open_file(struct profile_input *input, struct app *app, const char *path, struct err *err) {
	struct profile_inputs inputs;
	int failed = profile_inputs_files(&inputs, app, &path, 1, err);
	struct profile_input *best = failed ? NULL : nearest(&inputs);
	if (best && inputs.count > 1 && best->origin == PROFILE_FOREIGN)
		failed = err_set(err, ERR_NOTHING, "`sweetspot profile show` lists them",
		                 "%s holds %zu profiles, all of other machines", path, inputs.count);
	if (best && !failed) {
		*input = *best;
		*best = (struct profile_input){0};
	}
	profile_inputs_free(&inputs);
	return failed;
}

static int open_store(struct profile_input *input, struct app *app, const struct opt_args *args, struct err *err) {
	const char *here = app_fingerprint(app, err);
	struct store *store = here ? store_open(opt_get(args, "store", NULL), STORE_READ, err) : NULL;
	json_t *profile = store ? profile_of_store(app, store, here, err) : NULL;
	if (profile)
		*input = (struct profile_input){
			.path = mem_strdup(store_path(store)), .profile = profile, .hashes = json_object(), .origin = PROFILE_HERE};
	store_close(store);
	return profile ? 0 : -1;
}

int profile_input_open(struct profile_input *input, struct app *app, const struct opt_args *args, const char *path,
                       struct err *err) {
	*input = (struct profile_input){0};
	return path ? open_file(input, app, path, err) : open_store(input, app, args, err);
}
