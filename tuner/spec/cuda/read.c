/* SPDX-License-Identifier: GPL-3.0-or-later */
/* KernelSpecification of language "CUDA", "OpenCL" or "HIP", and what of it the worker is told. */
#include <config.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/sys.h"
#include "tuner/spec/cuda/impl.h"
#include "tuner/spec/slice.h"

enum { KERNEL_FILE_MAX = 16 << 20 };

/* A size must do for every configuration. */
static void largest_name(struct cuda_names *names, const struct space *space, size_t p, struct arena *arena) {
	struct value most = space_param_value(space, p, 0);
	for (size_t v = 0; v < space_param_values(space, p); v++) {
		struct value value = space_param_value(space, p, v);
		if (value.type == VALUE_WORD)
			return;
		if (value_number(value) > value_number(most))
			most = value;
	}
	cuda_names_set(names, arena_strdup(arena, space_param_name(space, p)), most);
}

static bool has_word(const char *text, const char *word) {
	for (const char *at = text; (at = strstr(at, word)); at++)
		if ((at == text || !slice_word_char(at[-1])) && !slice_word_char(at[strlen(word)]))
			return true;
	return false;
}

static int macros_find(struct cuda_kernel *kernel, struct err *err) {
	size_t size;
	char *text = sys_read_file(kernel->file, KERNEL_FILE_MAX, &size, err);
	if (!text)
		return -1;
	for (int i = 0; i < 7; i++)
		kernel->macro[i] = has_word(text, cuda_macros[i]);
	free(text);
	return 0;
}

/* Parameters whose value decides what is right, as the steps that one launch makes. */
static int depends_read(struct cuda_kernel *kernel, const struct space *space, struct err *err) {
	json_t *name;
	size_t i;
	if (!json_object_get(kernel->json, "OutputDependsOn"))
		return 0;
	if (js_array(kernel->json, "OutputDependsOn", SPACE_PARAMS_MAX, &kernel->depends, err))
		return -1;
	json_array_foreach(kernel->depends, i, name) {
		if (!json_is_string(name) || space_param_find(space, json_string_value(name)) < 0)
			return err_set(err, ERR_USAGE, "\"OutputDependsOn\": [\"P\"]",
			               "OutputDependsOn[%zu] is not a tuning parameter", i);
	}
	if (json_array_size(kernel->depends) == 0)
		kernel->depends = NULL;
	return 0;
}

int cuda_kernel_read(const json_t *json, enum spec_language language, const char *folder, const struct space *space,
                     struct arena *arena, struct cuda_kernel *kernel, struct err *err) {
	const char *name = NULL;
	*kernel = (struct cuda_kernel){.json = json,
	                               .language = language == SPEC_OPENCL ? "OpenCL"
	                                           : language == SPEC_HIP  ? "HIP"
	                                                                   : "CUDA",
	                               .opencl = language == SPEC_OPENCL,
	                               .problem = {1, 1, 1}};
	kernel->names.problem = kernel->problem;
	kernel->names.at = arena_alloc(arena, SPACE_PARAMS_MAX + C_ARGUMENTS_MAX + 1, sizeof *kernel->names.at);
	for (size_t p = 0; p < space_params(space); p++)
		largest_name(&kernel->names, space, p, arena);
	if (js_string(json, "KernelName", &name, err))
		return err_prefix(err, "KernelSpecification");
	if (!c_is_name(name))
		return err_set(err, ERR_USAGE,
		               kernel->opencl ? "name the __kernel function in KernelFile"
		                              : "name the __global__ function in KernelFile",
		               "KernelName \"%.60s\" is not a valid %s function name", name, kernel->language);
	kernel->name = arena_strdup(arena, name);
	char real[PATH_MAX];
	if (!realpath(folder, real))
		return err_set(err, ERR_USAGE, NULL, "the folder %.200s cannot be found", folder);
	if (c_file_read(json, folder, arena, &kernel->file, err) || cuda_options_read(json, real, arena, kernel, err) ||
	    cuda_arguments_read(json, folder, arena, kernel, err))
		return err_prefix(err, "KernelSpecification");
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
	return json;
}

json_t *cuda_problem_json(const struct cuda_kernel *kernel) {
	json_t *options = json_array(), *arguments = json_array();
	for (size_t i = 0; kernel->options[i]; i++)
		json_array_append_new(options, json_string(kernel->options[i]));
	for (size_t i = 0; i < kernel->argument_count; i++)
		json_array_append_new(arguments, argument_json(&kernel->arguments[i]));
	return json_pack("{s:s,s:s,s:o,s:o}", "file", kernel->file, "function", kernel->name, "options", options,
	                 "arguments", arguments);
}
