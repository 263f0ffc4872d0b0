/* SPDX-License-Identifier: GPL-3.0-or-later */
/* KernelSpecification of language "CUDA", "OpenCL" or "HIP", and what of it the worker is told. */
#include <limits.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/spec/cuda/impl.h"

static bool is_compiler(const char *word) {
	return strcmp(word, "nvcc") == 0 || strcmp(word, "nvrtc") == 0;
}

/* Compiler: one of them, or the parameter whose values they are. */
static int compiler_read(const json_t *json, const struct space *space, struct arena *arena, struct cuda_kernel *kernel,
                         const char **option, struct err *err) {
	const char *word = js_string_or(json, "Compiler", NULL);
	int p = word ? space_param_find(space, word) : -1;
	*option = NULL;
	if (!word)
		return 0;
	if (strcmp(kernel->language, "CUDA") != 0)
		return err_set(err, ERR_USAGE, "leave it out", "the compiler for %s cannot be chosen", kernel->language);
	if (is_compiler(word)) {
		*option = arena_printf(arena, "--compiler=%s", word);
		return 0;
	}
	if (p < 0)
		return err_set(err, ERR_USAGE, "give nvcc, nvrtc, or a parameter with these values",
		               "the compiler \"%.60s\" is unknown", word);
	for (size_t v = 0; v < space_param_values(space, (size_t)p); v++) {
		struct value value = space_param_value(space, (size_t)p, v);
		if (value.type != VALUE_WORD || !is_compiler(value.as.w))
			return err_set(err, ERR_USAGE, "its values are nvcc and nvrtc",
			               "the parameter %.60s does not choose a compiler", word);
	}
	kernel->compiler = arena_strdup(arena, word);
	return 0;
}

static int cuda_options_read(const json_t *json, const char *folder, const struct space *space, struct arena *arena,
                             struct cuda_kernel *kernel, struct err *err) {
	const char **options = arena_alloc(arena, T1_OPTIONS_MAX + 3, sizeof *options);
	if (compiler_read(json, space, arena, kernel, &options[0], err))
		return -1;
	size_t count = options[0] != NULL;
	if (t1_options_read(json, kernel->language, folder, arena, options, &count, err))
		return -1;
	/* The kernel file may include files beside itself. */
	options[count] = arena_printf(arena, "-I%.*s", (int)(strrchr(kernel->file, '/') - kernel->file + 1), kernel->file);
	kernel->options = options;
	return 0;
}

enum { KERNEL_FILE_MAX = 16 << 20 };

/* A size must do for every configuration. */
static void largest_name(struct t1_names *names, const struct space *space, size_t p, struct arena *arena) {
	struct value most = space_param_value(space, p, 0);
	for (size_t v = 0; v < space_param_values(space, p); v++) {
		struct value value = space_param_value(space, p, v);
		if (value.type == VALUE_WORD)
			return;
		if (value_number(value) > value_number(most))
			most = value;
	}
	t1_names_set(names, arena_strdup(arena, space_param_name(space, p)), most);
}

static int macros_find(struct cuda_kernel *kernel, struct err *err) {
	size_t size;
	mem_auto char *text = sys_read_file(kernel->file, KERNEL_FILE_MAX, &size, err);
	if (!text)
		return -1;
	t1_macros_find(&kernel->launch, text);
	return 0;
}

/* Parameters whose value decides what is right, as the steps that one launch makes. */
static int depends_read(struct cuda_kernel *kernel, const struct space *space, struct err *err) {
	if (!json_object_get(kernel->launch.json, "OutputDependsOn"))
		return 0;
	if (js_array(kernel->launch.json, "OutputDependsOn", SPACE_PARAMS_MAX, &kernel->depends, err))
		return -1;
	js_each (name, kernel->depends) {
		if (!json_is_string(name) || space_param_find(space, json_string_value(name)) < 0)
			return err_set(err, ERR_USAGE, "\"OutputDependsOn\": [\"P\"]",
			               "OutputDependsOn[%zu] is not a tuning parameter", name_at);
	}
	if (json_array_size(kernel->depends) == 0)
		kernel->depends = NULL;
	return 0;
}

int cuda_kernel_read(const json_t *json, enum spec_language language, const char *folder, const struct space *space,
                     struct arena *arena, struct cuda_kernel *kernel, struct err *err) {
	const char *name = NULL;
	*kernel = (struct cuda_kernel){.launch = {.json = json, .opencl = language == SPEC_OPENCL, .problem = {1, 1, 1}},
	                               .language = language == SPEC_OPENCL ? "OpenCL"
	                                           : language == SPEC_HIP  ? "HIP"
	                                                                   : "CUDA"};
	kernel->launch.names.at =
		arena_alloc(arena, SPACE_PARAMS_MAX + C_ARGUMENTS_MAX + 1, sizeof *kernel->launch.names.at);
	for (size_t p = 0; p < space_params(space); p++)
		largest_name(&kernel->launch.names, space, p, arena);
	if (js_string(json, "KernelName", &name, err))
		return err_prefix(err, "KernelSpecification");
	if (!t1_is_name(name))
		return err_set(err, ERR_USAGE,
		               kernel->launch.opencl ? "name the __kernel function in KernelFile"
		                                     : "name the __global__ function in KernelFile",
		               "KernelName \"%.60s\" is not a valid %s function name", name, kernel->language);
	kernel->name = arena_strdup(arena, name);
	char real[PATH_MAX];
	if (!realpath(folder, real))
		return err_set(err, ERR_USAGE, NULL, "the folder %.200s cannot be found", folder);
	if (c_file_read(json, "KernelFile", folder, arena, &kernel->file, err) ||
	    cuda_options_read(json, real, space, arena, kernel, err) ||
	    cuda_arguments_read(json, folder, arena, kernel, err))
		return err_prefix(err, "KernelSpecification");
	kernel->folder = kernel->verify ? arena_strdup(arena, real) : NULL;
	if (depends_read(kernel, space, err))
		return err_prefix(err, "KernelSpecification");
	return macros_find(kernel, err) || c_space_check(arena, space, kernel->name, err) ? -1 : 0;
}

static json_t *argument_json(const struct cuda_argument *argument) {
	static const char *const kinds[] = {[C_SIGNED] = "signed", [C_UNSIGNED] = "unsigned", [C_REAL] = "real"};
	static const char *const accesses[] = {"ReadOnly", "WriteOnly", "ReadWrite"};
	const struct c_argument *c = &argument->c;
	json_t *json = json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:b,s:b,s:f,s:I}", "name", c->name, "kind", kinds[c->type->kind],
	                         "access", argument->constant ? accesses[C_READ_ONLY] : accesses[c->access], "memory",
	                         argument->constant ? "Constant"
	                         : c->scalar        ? "Scalar"
	                                            : "Vector",
	                         "bytes", (json_int_t)c->type->bytes, "count", (json_int_t)c->count, "random", c->random,
	                         "output", c->output, "real", c->real, "whole", (json_int_t)c->whole);
	const struct c_tolerance *tolerance = &c->tolerance;
	if (tolerance->given || tolerance->share > 0)
		json_object_set_new(json, "tolerance",
		                    json_pack("{s:b,s:f,s:f,s:f}", "given", tolerance->given, "absolute", tolerance->absolute,
		                              "relative", tolerance->relative, "share", tolerance->share));
	if (argument->file)
		json_object_set_new(json, "file", json_string(argument->file));
	if (argument->reference)
		json_object_set_new(json, "reference", json_string(argument->reference));
	if (argument->verify)
		json_object_set_new(json, "verify", json_string(argument->verify));
	return json;
}

json_t *cuda_problem_json(const struct cuda_kernel *kernel) {
	json_t *options = json_array(), *arguments = json_array();
	for (size_t i = 0; kernel->options[i]; i++)
		json_array_append_new(options, json_string(kernel->options[i]));
	for (size_t i = 0; i < kernel->argument_count; i++)
		json_array_append_new(arguments, argument_json(&kernel->arguments[i]));
	return json_pack("{s:s,s:s,s:o,s:o,s:s*,s:s*}", "file", kernel->file, "function", kernel->name, "options", options,
	                 "arguments", arguments, "command", kernel->verify, "folder", kernel->folder);
}
