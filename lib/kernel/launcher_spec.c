/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel as its specification or its source describes it. */
#include <ctype.h>
#include <strings.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "base/text.h"
#include "lib/kernel/launcher_impl.h"

static void names_room(struct kernel_spec *spec, size_t arguments) {
	spec->launch.names.at = arena_alloc(spec->arena, KERNEL_PARAMS_MAX + arguments, sizeof *spec->launch.names.at);
}

static const char *folder_of(struct arena *arena, const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? arena_printf(arena, "%.*s", (int)(slash - path + (slash == path)), path) : ".";
}

static int params_read(struct kernel_spec *spec, struct err *err) {
	json_t *space, *array;
	if (js_object(spec->root, "ConfigurationSpace", &space, err))
		return -1;
	if (js_array(space, "TuningParameters", KERNEL_PARAMS_MAX, &array, err))
		return -1;
	js_each (item, array) {
		struct t1_param *param = &spec->params[spec->param_count++];
		*param = (struct t1_param){.arena = spec->arena};
		if (t1_param_read(item, param, err))
			return err_prefix(err, "TuningParameters[%zu] \"%.64s\"", item_at, param->name ? param->name : "");
		struct value value = param->values[param->place < 0 ? 0 : param->place];
		json_object_set_new(spec->otherwise, param->name, value_json(value));
		t1_names_set(&spec->launch.names, param->name, value);
	}
	return 0;
}

static bool condition_holds(const struct kernel_spec *spec, const struct expr *expr) {
	struct value values[KERNEL_PARAMS_MAX];
	if (expr_name_count(expr) > KERNEL_PARAMS_MAX)
		return false;
	for (size_t i = 0; i < expr_name_count(expr); i++)
		if (!value_from_json(json_object_get(spec->otherwise, expr_name(expr, i)), &values[i]))
			return false;
	return expr_holds(expr, values);
}

static int condition_read(struct kernel_spec *spec, const json_t *json, char **out, struct err *err) {
	const char *text = json_string_value(json);
	if (!text && js_string(json, "Expression", &text, err))
		return -1;
	mem_auto char *python = t1_condition(text, err);
	struct expr *expr = python ? expr_parse(python, err) : NULL;
	if (!expr)
		return -1;
	bool holds = condition_holds(spec, expr);
	expr_free(expr);
	*out = arena_strdup(spec->arena, python);
	return holds
	           ? 0
	           : err_set(err, ERR_USAGE, "set Defaults that are valid together", "the Defaults break \"%.100s\"", text);
}

static int conditions_read(struct kernel_spec *spec, struct err *err) {
	const json_t *array = json_object_get(json_object_get(spec->root, "ConfigurationSpace"), "Conditions");
	spec->conditions = arena_alloc(spec->arena, json_array_size(array) + 1, sizeof *spec->conditions);
	js_each (item, array)
		if (condition_read(spec, item, &spec->conditions[item_at], err))
			return err_prefix(err, "Conditions[%zu]", item_at);
	return 0;
}

static int source_load(struct kernel_spec *spec, const char *path, struct err *err) {
	size_t size;
	spec->file = arena_strdup(spec->arena, text_base_name(path));
	spec->source = sys_read_file(path, KERNEL_FILE_MAX, &size, err);
	if (!spec->source)
		return -1;
	t1_macros_find(&spec->launch, spec->source);
	return 0;
}

/* The key of profiles: as the tuner names what it has tuned. */
static void name_find(struct kernel_spec *spec) {
	const json_t *kernel = spec->launch.json;
	const char *general = js_string_or(json_object_get(spec->root, "General"), "BenchmarkName", NULL);
	spec->name = general ? general : js_string_or(kernel, "BenchmarkName", spec->function);
}

static int options_find(struct kernel_spec *spec, const char *folder, const char *file, struct err *err) {
	const char **options = arena_alloc(spec->arena, T1_OPTIONS_MAX + 3, sizeof *options);
	size_t count = 0;
	options[count++] = "--compiler=nvrtc"; /* never start a process within a user's program */
	if (spec->root && t1_options_read(spec->launch.json, "CUDA", folder, spec->arena, options, &count, err))
		return -1;
	options[count] = arena_printf(spec->arena, "-I%.*s", (int)(strrchr(file, '/') - file + 1), file);
	spec->options = options;
	return 0;
}

static int kernel_read(struct kernel_spec *spec, const char *path, const char *name, struct err *err) {
	json_t *kernel;
	const char *file, *folder = folder_of(spec->arena, path), *language;
	if (js_object(spec->root, "KernelSpecification", &kernel, err))
		return err_hint(err, "a specification in the T1 format, or a .cu file, is needed");
	names_room(spec, json_array_size(json_object_get(kernel, "Arguments")));
	if (params_read(spec, err) || conditions_read(spec, err))
		return -1;
	spec->launch.json = kernel;
	language = js_string_or(kernel, "Language", "");
	if (strcasecmp(language, "CUDA") != 0)
		return err_set(err, ERR_USAGE, "kernels of language CUDA can be launched", "its language is \"%.40s\"",
		               language);
	if (js_string(kernel, "KernelName", &spec->function, err) || js_string(kernel, "KernelFile", &file, err))
		return err_prefix(err, "KernelSpecification");
	name_find(spec);
	if (name && strcmp(name, spec->function) != 0 && strcmp(name, spec->name) != 0)
		return err_set(err, ERR_USAGE, NULL, "its kernel is %.60s, not %.60s", spec->function, name);
	char *whole = realpath(file[0] == '/' ? file : arena_printf(spec->arena, "%s/%s", folder, file), NULL);
	char *base = realpath(folder, NULL);
	int failed = !whole || !base
	                 ? err_set(err, ERR_USAGE, "it is relative to the folder of the specification",
	                           "KernelFile: %.200s cannot be found", file)
	                 : source_load(spec, whole, err) || options_find(spec, base, whole, err) ||
	                       t1_launch_read(&spec->launch, json_object_get(kernel, "Arguments"), spec->arena, err);
	free(whole);
	free(base);
	return failed ? -1 : 0;
}

/* The numbers that a source defines itself, as "#define block_size_x 128". */
static void defines_read(struct kernel_spec *spec) {
	static const char word[] = "#define ";
	for (const char *at = spec->source; (at = strstr(at, word)) && spec->launch.names.count < KERNEL_PARAMS_MAX;) {
		at += strlen(word);
		size_t length = 0;
		while (isalnum((unsigned char)at[length]) || at[length] == '_')
			length++;
		char *end;
		long long number = strtoll(at + length, &end, 10);
		if (length > 0 && at[length] == ' ' && end > at + length && isspace((unsigned char)*end))
			t1_names_set(&spec->launch.names, arena_printf(spec->arena, "%.*s", (int)length, at), value_int(number));
	}
}

static int source_read(struct kernel_spec *spec, const char *path, const char *name, struct err *err) {
	if (!name || !t1_is_name(name))
		return err_set(err, ERR_USAGE, NULL, "%.200s needs the name of a __global__ function", path);
	spec->name = spec->function = arena_strdup(spec->arena, name);
	char *whole = realpath(path, NULL);
	int failed = !whole ? err_set(err, ERR_USAGE, NULL, "%.200s cannot be found", path)
	                    : source_load(spec, whole, err) || options_find(spec, NULL, whole, err);
	if (!failed)
		defines_read(spec);
	free(whole);
	return failed ? -1 : 0;
}

int kernel_spec_read(struct kernel_spec *spec, const char *path, const char *name, struct err *err) {
	size_t length = strlen(path), size;
	*spec = (struct kernel_spec){.arena = arena_new(), .otherwise = json_object(), .launch = {.problem = {1, 1, 1}}};
	if (length > 3 && strcmp(path + length - 3, ".cu") == 0) {
		names_room(spec, 0);
		return source_read(spec, path, name, err);
	}
	mem_auto char *text = sys_read_file(path, KERNEL_FILE_MAX, &size, err);
	spec->root = text ? js_parse(text, size, path, err) : NULL;
	if (!spec->root)
		return -1;
	return kernel_read(spec, path, name, err) ? err_prefix(err, "%s", path) : 0;
}

void kernel_spec_clear(struct kernel_spec *spec) {
	free(spec->source);
	json_decref(spec->otherwise);
	json_decref(spec->root);
	if (spec->arena)
		arena_free(spec->arena);
}
