/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "base/json/js.h"
#include "base/tree.h"
#include "src/cmd/profile/profile_impl.h"
#include "src/show/results.h"

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
	mem_auto char **paths = profile_folder_files(folder, &count, err);
	int failed = paths ? 0 : -1;
	for (size_t i = 0; i < count; i++) {
		failed = failed || file_add(inputs, app, paths[i], err) ? -1 : 0;
		free(paths[i]);
	}
	return failed;
}

int profile_inputs_files(struct profile_inputs *inputs, struct app *app, const char *const *paths, size_t count,
                         struct err *err) {
	*inputs = (struct profile_inputs){0};
	if (!app_machine(app, err))
		return -1;
	for (size_t i = 0; i < count; i++)
		if ((tree_is_folder(paths[i]) ? folder_add : file_add)(inputs, app, paths[i], err))
			return -1;
	return 0;
}

static const char *source_of(void *ctx, const char *kernel) {
	struct app *app = ctx;
	const struct kernel_desc *found = kernel_list_find(app_kernels(app, NULL), kernel, app_device_kind(app), NULL);
	return found ? found->source : NULL;
}

static json_t *profile_of_store(struct app *app, struct store *store, const char *fingerprint, struct err *err) {
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

/* Makes a profile for each machine in the store, beginning with this one. */
int profile_inputs_store(struct profile_inputs *inputs, struct app *app, const struct opt_args *args, struct err *err) {
	const char *here = app_fingerprint(app, err);
	struct store *store = here ? store_open(opt_get(args, "store", NULL), STORE_READ, err) : NULL;
	js_auto json_t *machines = json_object();
	*inputs = (struct profile_inputs){0};
	int failed = store && store_each(store, STORE_RESULTS, NULL, machine_note, machines, err) == 0 ? 0 : -1;
	if (!failed && json_object_get(machines, here))
		failed = machine_add(inputs, app, store, here, err);
	js_members (fingerprint, value, machines)
		if (!failed && strcmp(fingerprint, here) != 0)
			failed = machine_add(inputs, app, store, fingerprint, err);
	if (!failed && !inputs->count)
		failed = err_set(err, ERR_NOTHING, "tune something first, with sweetspot tune", "%s does not contain results",
		                 store_path(store));
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

json_t *profile_input_store(struct app *app, const struct opt_args *args, char **path, struct err *err) {
	struct store *store = store_open(opt_get(args, "store", NULL), STORE_READ, err);
	const char *here = store ? app_fingerprint(app, err) : NULL;
	json_t *profile = here ? profile_of_store(app, store, here, err) : NULL;
	if (profile && path)
		*path = mem_strdup(store_path(store));
	store_close(store);
	return profile;
}

int profile_input_open(struct profile_input *input, struct app *app, const struct opt_args *args, const char *path,
                       struct err *err) {
	*input = (struct profile_input){0};
	if (path)
		return open_file(input, app, path, err);
	input->profile = profile_input_store(app, args, &input->path, err);
	input->hashes = json_object();
	input->origin = PROFILE_HERE;
	return input->profile ? 0 : -1;
}

char *profile_text_clean(const char *text) {
	char *copy = mem_strdup(text);
	text_clean(copy, false);
	return copy;
}

char *profile_text_kernel(const json_t *entry) {
	const char *objective = js_string_or(entry, "objective", "time"), *device = js_string_or(entry, "device", "cpu");
	bool plain = strcmp(objective, "time") == 0, cpu = strcmp(device, "cpu") == 0;
	char *text =
		mem_printf("%s%s%s%s%s%s", js_string_or(entry, "kernel", "?"), plain && cpu ? "" : " (", plain ? "" : objective,
	               plain || cpu ? "" : ", ", cpu ? "" : device, plain && cpu ? "" : ")");
	text_clean(text, false);
	return text;
}

/* Shows the command line of a program instead of its problem. */
char *profile_text_problem(const json_t *entry) {
	const json_t *problem = json_object_get(entry, "problem");
	const char *command = json_object_get(entry, "program") ? js_string_or(problem, "command", NULL) : NULL;
	return command ? profile_text_clean(command) : results_config(problem, NULL);
}

json_t *profile_text_head(const json_t *entry) {
	return json_pack("{s:s,s:O,s:s,s:s}", "kernel", js_string_or(entry, "kernel", ""), "problem",
	                 json_object_get(entry, "problem"), "objective", js_string_or(entry, "objective", "time"), "device",
	                 js_string_or(entry, "device", "cpu"));
}
