/* SPDX-License-Identifier: GPL-3.0-or-later */
/* KernelSpecification of language "CUDA", "OpenCL" or "HIP", and what of it the worker is told. */
#include <limits.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/spec/cuda/impl.h"

/* KernelSpecification.Arguments for CUDA: as for C, with constant memory, sizes as expressions, and files. And a
 * configuration's document for the worker. */
static const double COUNT_LARGEST = 0x1p40;

static bool member_is(const json_t *json, const char *key, const char *word) {
	const char *text = js_string_or(json, key, NULL);
	return text && strcasecmp(text, word) == 0;
}

/* The argument as the reader for C expects it: the extensions are replaced by plain members. */
static json_t *as_c(const struct cuda_kernel *kernel, const json_t *json, bool filed, bool constant, struct err *err) {
	json_t *c = json_copy((json_t *)json), *fill = json_object_get(json, "FillValue");
	double value;
	if (constant || member_is(json, "MemType", "Global"))
		json_object_del(c, "MemType");
	if (filed) {
		json_object_set_new(c, "FillType", json_string("Constant"));
		json_object_del(c, "FillValue");
	}
	if (!t1_is_scalar(json)) {
		if (t1_whole(&kernel->launch, &kernel->launch.names, json_object_get(json, "Size"), "Size", 1, COUNT_LARGEST,
		             &value, err))
			goto fail;
		json_object_set_new(c, "Size", json_integer((json_int_t)value));
	}
	if (!filed && json_is_string(fill)) {
		if (t1_evaluate(&kernel->launch, &kernel->launch.names, fill, "FillValue", &value, err))
			goto fail;
		json_object_set_new(c, "FillValue", json_real(value));
	}
	return c;
fail:
	json_decref(c);
	return NULL;
}

static int files_read(const json_t *json, const char *folder, bool filed, struct arena *arena,
                      struct cuda_argument *argument, struct err *err) {
	const char *key = json_object_get(json, "DataSource") ? "DataSource" : "FileName";
	if (filed && argument->c.scalar)
		return err_set(err, ERR_USAGE, "give it a FillValue", "a scalar cannot come from a file");
	return filed ? c_raw_file(json, key, folder, arena, &argument->c, &argument->file, err) : 0;
}

static bool is_made(const struct c_argument *a) {
	return a->output && !a->reference && !(a->verify && strcmp(a->verify, "command") == 0);
}

static int argument_read(const struct cuda_kernel *kernel, const json_t *json, size_t at, const char *folder,
                         struct arena *arena, struct cuda_argument *argument, struct err *err) {
	bool filed = member_is(json, "FillType", "BinaryRaw") || member_is(json, "FillType", "DataSource");
	if (!json_is_object(json))
		return err_set(err, ERR_USAGE, NULL, "Arguments[%zu] must be an object", at);
	argument->constant = member_is(json, "MemType", "Constant") || member_is(json, "MemoryType", "Constant");
	json_t *c = as_c(kernel, json, filed, argument->constant, err);
	if (c && member_is(c, "MemoryType", "Constant"))
		json_object_set_new(c, "MemoryType", json_string("Vector"));
	int failed = c ? c_argument_read(c, at, arena, &argument->c, err) : -1;
	json_decref(c);
	if (!failed && argument->constant && argument->c.output)
		failed = err_set(err, ERR_USAGE, "set \"AccessType\": \"ReadOnly\"", "constant memory cannot be written");
	if (!failed)
		failed = files_read(json, folder, filed, arena, argument, err) ||
		         c_verify_read(json, folder, arena, &argument->c, err);
	return failed ? err_prefix(err, "Arguments[%zu] %.60s", at, js_string_or(json, "Name", "")) : 0;
}

static int cuda_arguments_read(const json_t *json, const char *folder, struct arena *arena, struct cuda_kernel *kernel,
                               struct err *err) {
	json_t *array;
	if (js_array(json, "Arguments", C_ARGUMENTS_MAX, &array, err))
		return -1;
	kernel->argument_count = json_array_size(array);
	kernel->arguments = arena_alloc(arena, kernel->argument_count + 1, sizeof *kernel->arguments);
	if (t1_launch_read(&kernel->launch, array, arena, err))
		return -1;
	for (size_t i = 0; i < kernel->argument_count; i++) {
		struct cuda_argument *argument = &kernel->arguments[i];
		if (argument_read(kernel, json_array_get(array, i), i, folder, arena, argument, err))
			return -1;
		kernel->resets = kernel->resets || argument->c.access == C_READ_WRITE;
	}
	kernel->verify =
		c_verify_rest(json, arena, &kernel->arguments->c, kernel->argument_count, sizeof *kernel->arguments);
	for (size_t i = 0; i < kernel->argument_count; i++)
		kernel->made = kernel->made || is_made(&kernel->arguments[i].c);
	if (c_tolerances_read(json, &kernel->arguments->c, kernel->argument_count, sizeof *kernel->arguments, err))
		return -1;
	/* The worker keeps inputs and reference in the host's memory, too. */
	return c_arguments_check(&kernel->arguments->c, kernel->argument_count, sizeof *kernel->arguments,
	                         "use a smaller ProblemSize", err);
}

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
