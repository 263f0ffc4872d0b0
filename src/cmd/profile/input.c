/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/cmd/profile/input.h"
#include "src/cmd/profile/profile_impl.h"
#include "src/show/results.h"
#include "tuner/profile/profile.h"

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
static int profile_inputs_store(struct profile_inputs *inputs, struct app *app, const struct opt_args *args,
                                struct err *err) {
	const char *here = app_fingerprint(app, err);
	struct store *store = here ? store_open(opt_get(args, "store", NULL), STORE_READ, err) : NULL;
	json_t *machines = json_object();
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

/* `sweetspot profile show`: lists recommendations with their state on this machine. */
struct show {
	struct app *app;
	const struct opt_args *args;
};

static json_t *entry_json(const struct show *show, const struct profile_input *input, const json_t *entry) {
	static const char *const taken[] = {"config",  "environment",  "median",  "ci",    "unit",
	                                    "speedup", VERDICT_MEMBER, "checked", "worth", "not_needed"};
	json_t *json = profile_text_head(entry);
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		json_object_set(json, taken[i], json_object_get(entry, taken[i]));
	json_object_set_new(json, "proven", json_boolean(js_bool_or(entry, "proven", true)));
	json_object_set_new(json, "state", json_string(profile_state_here(show->app, show->args, input, entry)));
	json_object_set_new(json, "measured", json_string(profile_entry_date(entry)));
	return json;
}

static json_t *profile_json(const struct show *show, const struct profile_input *input) {
	json_t *entries = json_array();
	const json_t *sizes = json_object_get(input->profile, "sizes");
	js_each (entry, json_object_get(input->profile, "entries"))
		json_array_append_new(entries, entry_json(show, input, entry));
	return json_pack(
		"{s:s,s:O,s:O,s:O,s:s,s:o,s:o,s:O?}", "path", input->path, "created",
		json_object_get(input->profile, "created"), "generator", json_object_get(input->profile, "generator"),
		"machine", json_object_get(input->profile, "machine"), "state", profile_origin_word(input->origin), "differs",
		profile_machine_differences(json_object_get(input->profile, "machine"), app_machine(show->app, NULL)),
		"entries", entries, "sizes", sizes);
}

static void heading_print(const struct show *show, const struct profile_input *input) {
	const json_t *machine = json_object_get(input->profile, "machine");
	mem_auto char *path = profile_text_clean(input->path),
				  *cpu = profile_text_clean(js_string_or(machine, "cpu", "unknown CPU"));
	mem_auto char *compiler = profile_text_clean(js_string_or(machine, "compiler", "unknown compiler"));
	printf("%s: %s, %.19s\n%s, %s\n", path, input->origin == PROFILE_FOREIGN ? "another machine" : "this machine",
	       js_string_or(machine, "fingerprint", ""), cpu, compiler);
	if (input->origin != PROFILE_HERE) {
		mem_auto char *differing = profile_differing(show->app, input);
		printf("differs from this machine: %s\n", differing);
	}
}

/* The speedup is then that of another configuration, which was not better. */
static bool keeps_baseline(const json_t *entry) {
	return json_equal(json_object_get(entry, "config"), js_at(entry, "baseline.config"));
}

static void row_add(struct table *table, const char *state, const json_t *entry) {
	char median[64], speedup[64];
	mem_auto char *kernel = profile_text_kernel(entry), *problem = profile_text_problem(entry);
	mem_auto char *config = profile_text_config(entry);
	profile_text_median(entry, median, sizeof median);
	if (keeps_baseline(entry))
		snprintf(speedup, sizeof speedup, "-");
	else
		speedup_text(speedup_of(entry), speedup, sizeof speedup);
	if (verdict_of(entry) == VERDICT_NOT_SAME)
		snprintf(speedup, sizeof speedup, "other work");
	if (verdict_of(entry) == VERDICT_UNDECIDED) /* its interval may reach from 0 to billions */
		snprintf(speedup, sizeof speedup, "undecided");
	mem_auto char *whole = mem_printf("%s%s", state, json_object_get(entry, "busy") ? ", busy machine" : "");
	table_add(table, kernel, problem, median, speedup, config, whole);
}

static void profile_print(const struct show *show, const struct profile_input *input) {
	static const char *const titles[] = {"kernel", "problem", "\1median", "speedup [95 %]", "configuration", "state"};
	struct table *table = table_new(sizeof titles / sizeof *titles, titles);
	heading_print(show, input);
	js_each (entry, json_object_get(input->profile, "entries"))
		row_add(table,
		        js_bool_or(entry, "proven", true) ? profile_state_here(show->app, show->args, input, entry)
		                                          : "not yet proven",
		        entry);
	table_end(table, app_ui(show->app), stdout);
	js_each (sizes, json_object_get(input->profile, "sizes")) {
		mem_auto char *kernel = profile_text_kernel(sizes), *over = profile_text_clean(js_string_or(sizes, "over", ""));
		size_t ranges = json_array_size(json_object_get(sizes, "thresholds"));
		printf("%s: %zu range%s of %s\n", kernel, ranges, ranges == 1 ? "" : "s", over);
	}
}

static void print(const struct show *show, const struct profile_inputs *inputs) {
	json_t *profiles = opt_has(show->args, "json") ? json_array() : NULL;
	for (size_t i = 0; i < inputs->count; i++) {
		if (profiles) {
			json_array_append_new(profiles, profile_json(show, &inputs->items[i]));
			continue;
		}
		if (i > 0)
			putchar('\n');
		profile_print(show, &inputs->items[i]);
	}
	if (!profiles)
		return;
	js_print(json_pack("{s:s,s:O,s:o}", "schema", "sweetspot-profile-show/1", "machine", app_machine(show->app, NULL),
	                   "profiles", profiles));
}

/* Profiles without the kernel of --kernel are left out, but at least one must have it. */
static int pick(struct profile_inputs *inputs, const struct show *show, struct err *err) {
	size_t kept = 0;
	for (size_t i = 0; i < inputs->count; i++) {
		struct profile_input one = inputs->items[i];
		*err = (struct err){0};
		int failed = profile_input_pick(&one, show->app, show->args, err);
		if (failed && err->code != ERR_NOTHING)
			return -1;
		if (failed)
			profile_input_close(&one);
		else
			inputs->items[kept++] = one;
	}
	inputs->count = kept;
	if (kept)
		*err = (struct err){0};
	return kept ? 0 : -1;
}

int profile_show(struct app *app, const struct opt_args *args, struct err *err) {
	const struct show show = {app, args};
	size_t count = opt_words(args) ? opt_words(args) - 1 : 0;
	struct profile_inputs inputs = {0};
	int failed = count ? profile_inputs_files(&inputs, app, opt_words_from(args, 1), count, err)
	                   : profile_inputs_store(&inputs, app, args, err);
	failed = failed || pick(&inputs, &show, err) ? -1 : 0;
	if (!failed)
		print(&show, &inputs);
	profile_inputs_free(&inputs);
	return failed;
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

char *profile_text_config(const json_t *entry) {
	const json_t *config = json_object_get(entry, "config");
	return json_equal(config, js_at(entry, "baseline.config")) ? mem_strdup("(the baseline)")
	                                                           : results_config(config, NULL);
}

void profile_text_median(const json_t *entry, char *text, size_t size) {
	results_value(js_real_or(entry, "median", NAN), js_string_or(entry, "unit", ""), text, size);
	text_clean(text, false);
}

json_t *profile_text_head(const json_t *entry) {
	return json_pack("{s:s,s:O,s:s,s:s}", "kernel", js_string_or(entry, "kernel", ""), "problem",
	                 json_object_get(entry, "problem"), "objective", js_string_or(entry, "objective", "time"), "device",
	                 js_string_or(entry, "device", "cpu"));
}
