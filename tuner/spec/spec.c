/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <strings.h>

#include "base/json/js.h"
#include "base/hash.h"
#include "base/sys.h"
#include "base/t1/t1.h"
#include "base/text.h"
#include "tuner/spec/spec.h"

struct spec {
	struct arena *arena;
	const char *name, *folder, *hash, *word;
	enum spec_language language;
	json_t *root, *kernel, *baseline;
	struct space *space;
	int defaults[SPACE_PARAMS_MAX]; /* places among the Values; -1: the Default is not one of them */
};

/* Published specifications have Defaults that are not among the Values, or not valid together: the baseline is the
 * nearest valid configuration. */

/* Sets the baseline from the space and the defaults. */
static void spec_find_baseline(struct spec *spec) {
	int places[SPACE_PARAMS_MAX], fixed[SPACE_PARAMS_MAX];
	size_t count = space_params(spec->space);
	uint64_t index = 0;
	for (size_t i = 0; i < count; i++) {
		places[i] = spec->defaults[i] < 0 ? 0 : spec->defaults[i];
		fixed[i] = spec->defaults[i] < 0 ? REPAIR_FREE : spec->defaults[i];
	}
	bool found = space_index(spec->space, places, &index) || space_repair(spec->space, places, fixed, count, &index);
	for (size_t i = 0; !found && i < count; i++)
		fixed[i] = REPAIR_FREE;
	if (!found && !space_repair(spec->space, places, fixed, count, &index))
		index = 0;
	spec->baseline = space_config_json(spec->space, index);
}

/* ConfigurationSpace: TuningParameters and Conditions. */
enum { CONDITIONS_MAX = 4096 };

static int read_param(struct spec *spec, const json_t *json, size_t number, size_t *total, struct err *err) {
	struct t1_param param = {.arena = arena_new()};
	int status = t1_param_read(json, &param, err);
	spec->defaults[number] = param.place;
	*total += param.count;
	if (!status && *total > DOMAIN_MAX)
		status = err_set(err, ERR_USAGE, NULL, "more than %d values in all", DOMAIN_MAX);
	if (!status)
		status = space_add_param(spec->space, param.name, js_string_or(json, "Type", ""), param.values, param.count,
		                         NULL, err);
	if (status && param.name)
		err_prefix(err, "TuningParameters[%zu] \"%.64s\"", number, param.name);
	else if (status)
		err_prefix(err, "TuningParameters[%zu]", number);
	arena_free(param.arena);
	return status;
}

static int check_names(const struct space *space, const char *text, struct err *err) {
	const char *names[SPACE_PARAMS_MAX], *unknown = NULL;
	struct expr *expr = expr_parse(text, err);
	if (!expr)
		return -1;
	for (size_t i = 0; i < expr_name_count(expr) && !unknown; i++)
		if (space_param_find(space, expr_name(expr, i)) < 0)
			unknown = expr_name(expr, i);
	if (unknown) {
		for (size_t i = 0; i < space_params(space); i++)
			names[i] = space_param_name(space, i);
		const char *near = near_word(unknown, names, space_params(space));
		err_set(err, ERR_USAGE, NULL, "'%.100s' is not a tuning parameter", unknown);
		if (near)
			err_hint(err, "did you mean '%s'?", near);
	}
	expr_free(expr);
	return unknown ? -1 : 0;
}

/* The condition's own list of Parameters is ignored, because the expression names them. */
static int read_condition(struct space *space, const json_t *json, struct err *err) {
	const char *text = json_string_value(json);
	if (!text && !json_is_object(json))
		return err_set(err, ERR_USAGE, NULL, "it must be an object with an Expression");
	if (!text && js_string(json, "Expression", &text, err))
		return -1;
	mem_auto char *python = t1_condition(text, err);
	return python && check_names(space, python, err) == 0 ? space_add_constraint(space, python, err) : -1;
}

static int read_conditions(struct spec *spec, const json_t *configuration, struct err *err) {
	json_t *conditions;
	const json_t *given = json_object_get(configuration, "Conditions");
	if (!given || json_is_null(given))
		return 0;
	if (js_array(configuration, "Conditions", CONDITIONS_MAX, &conditions, err))
		return -1;
	for (size_t i = 0; i < json_array_size(conditions); i++)
		if (read_condition(spec->space, json_array_get(conditions, i), err))
			return err_prefix(err, "Conditions[%zu]", i);
	return 0;
}

static int level_find(const struct space *space, size_t param, const json_t *json) {
	struct value value;
	bool known = value_from_json(json, &value);
	for (size_t i = 0; known && i < space_param_values(space, param); i++)
		if (value_equal(space_param_value(space, param, i), value))
			return (int)i;
	return SPACE_ABSENT;
}

static int read_row(const struct space *space, const json_t *json, int *row, struct err *err) {
	if (json_array_size(json) != space_params(space))
		return err_set(err, ERR_USAGE, NULL, "it must be a list with a value for each parameter");
	for (size_t i = 0; i < space_params(space); i++)
		if ((row[i] = level_find(space, i, json_array_get(json, i))) == SPACE_ABSENT)
			return err_set(err, ERR_USAGE, NULL, "its element %zu is not a value of %s", i, space_param_name(space, i));
	return 0;
}

/* All valid combinations, where a condition cannot say which ones are valid. */
static int read_configurations(struct spec *spec, const json_t *configuration, struct err *err) {
	const char *names[SPACE_PARAMS_MAX];
	size_t params = space_params(spec->space);
	json_t *list;
	if (!json_object_get(configuration, "Configurations"))
		return 0;
	if (js_array(configuration, "Configurations", SPACE_ROWS_MAX, &list, err))
		return -1;
	for (size_t i = 0; i < params; i++)
		names[i] = space_param_name(spec->space, i);
	int status = 0, *rows = mem_alloc(json_array_size(list) * params + 1, sizeof *rows);
	for (size_t i = 0; i < json_array_size(list) && !status; i++)
		if ((status = read_row(spec->space, json_array_get(list, i), rows + i * params, err)))
			err_prefix(err, "Configurations[%zu]", i);
	if (!status)
		status = space_add_table(spec->space, names, params, rows, json_array_size(list), err);
	free(rows);
	return status;
}

static int read_space(struct spec *spec, const json_t *configuration, struct err *err) {
	json_t *params;
	size_t total = 0;
	if (js_array(configuration, "TuningParameters", SPACE_PARAMS_MAX, &params, err))
		return -1;
	if (json_array_size(params) == 0)
		return err_set(err, ERR_USAGE, NULL, "'TuningParameters' is empty");
	spec->space = space_new();
	for (size_t i = 0; i < json_array_size(params); i++)
		if (read_param(spec, json_array_get(params, i), i, &total, err))
			return -1;
	return read_conditions(spec, configuration, err) || read_configurations(spec, configuration, err)
	           ? -1
	           : space_build(spec->space, err);
}

enum { FILE_MAX = 16 << 20, NAME_LONGEST = 128 };

static const struct {
	const char *word;
	enum spec_language language;
	const char *device;
} languages[] = {{"Command", SPEC_COMMAND, NULL},
                 {"C", SPEC_C, NULL},
                 {"CUDA", SPEC_CUDA, "cuda"},
                 {"OpenCL", SPEC_OPENCL, "opencl"},
                 {"HIP", SPEC_HIP, "hip"}};

static bool good_name(const char *name) {
	if (!name || !*name || strlen(name) > NAME_LONGEST)
		return false;
	while (*name && !iscntrl((unsigned char)*name))
		name++;
	return !*name;
}

static const char *file_name(struct spec *spec, const char *path) {
	static const char *const endings[] = {".json", ".t1"};
	char *name = arena_strdup(spec->arena, text_base_name(path));
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t size = strlen(name), end = strlen(endings[i]);
		if (size > end && strcmp(name + size - end, endings[i]) == 0)
			name[size - end] = 0;
	}
	return name;
}

static const char *find_name(struct spec *spec, const char *path) {
	const char *const names[] = {js_string_or(json_object_get(spec->root, "General"), "BenchmarkName", NULL),
	                             js_string_or(spec->kernel, "BenchmarkName", NULL),
	                             js_string_or(spec->kernel, "KernelName", NULL)};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (good_name(names[i]))
			return names[i];
	return file_name(spec, path);
}

static const char *find_folder(struct spec *spec, const char *path) {
	char *folder = arena_strdup(spec->arena, path), *slash = strrchr(folder, '/');
	if (!slash)
		return ".";
	slash[slash == folder] = 0;
	return folder;
}

static const char *find_hash(struct spec *spec, const char *text, size_t size) {
	char hash[SHA256_TEXT];
	sha256_text(text, size, hash);
	return arena_strdup(spec->arena, hash);
}

static int read_kernel(struct spec *spec, struct err *err) {
	const json_t *kernel = json_object_get(spec->root, "KernelSpecification");
	spec->kernel = kernel ? json_incref((json_t *)kernel) : json_object();
	if (!json_is_object(spec->kernel))
		return err_set(err, ERR_USAGE, NULL, "'KernelSpecification' must be an object");
	const json_t *word = json_object_get(spec->kernel, "Language");
	if (word && !good_name(json_string_value(word)))
		return err_set(err, ERR_USAGE, NULL, "KernelSpecification: 'Language' must be a word");
	spec->word = word ? json_string_value(word) : "";
	spec->language = SPEC_OTHER;
	for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
		if (strcasecmp(languages[i].word, spec->word) == 0)
			spec->language = languages[i].language;
	return 0;
}

static int read_parts(struct spec *spec, struct err *err) {
	json_t *configuration;
	if (js_object(spec->root, "ConfigurationSpace", &configuration, err))
		return err_hint(err, "a specification in the T1 format is needed");
	return read_kernel(spec, err) || read_space(spec, configuration, err) ? -1 : 0;
}

struct spec *spec_parse(const char *text, size_t size, const char *path, struct err *err) {
	struct spec *spec = mem_alloc(1, sizeof *spec);
	spec->arena = arena_new();
	spec->root = js_parse(text, size, path, err);
	if (!spec->root)
		goto fail;
	if (read_parts(spec, err)) {
		err_prefix(err, "%s", path);
		goto fail;
	}
	spec->hash = find_hash(spec, text, size);
	spec->name = find_name(spec, path);
	spec->folder = find_folder(spec, path);
	spec_find_baseline(spec);
	return spec;
fail:
	spec_free(spec);
	return NULL;
}

struct spec *spec_load(const char *path, struct err *err) {
	size_t size;
	mem_auto char *text = sys_read_file(path, FILE_MAX, &size, err);
	struct spec *spec = text ? spec_parse(text, size, path, err) : NULL;
	return spec;
}

void spec_free(struct spec *spec) {
	if (!spec)
		return;
	space_free(spec->space);
	json_decref(spec->baseline);
	json_decref(spec->kernel);
	json_decref(spec->root);
	arena_free(spec->arena);
	free(spec);
}

const char *spec_name(const struct spec *spec) {
	return spec->name;
}

enum spec_language spec_language(const struct spec *spec) {
	return spec->language;
}

const char *spec_language_word(const struct spec *spec) {
	return spec->word;
}

const char *spec_device(enum spec_language language) {
	for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
		if (languages[i].language == language)
			return languages[i].device;
	return NULL;
}

const char *spec_folder(const struct spec *spec) {
	return spec->folder;
}

const char *spec_hash(const struct spec *spec) {
	return spec->hash;
}

const json_t *spec_kernel(const struct spec *spec) {
	return spec->kernel;
}

const json_t *spec_baseline(const struct spec *spec) {
	return spec->baseline;
}

const struct space *spec_space(const struct spec *spec) {
	return spec->space;
}

struct space *spec_take_space(struct spec *spec) {
	struct space *space = spec->space;
	spec->space = NULL;
	return space;
}
