/* SPDX-License-Identifier: GPL-3.0-or-later */
/* KernelSpecification of language "CUDA", "OpenCL" or "HIP", and what of it the worker is told. */
#include <limits.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/spec/cuda/impl.h"
#include "tuner/spec/slice.h"

/* CompilerOptions: the options of nvcc that NVRTC accepts, of OpenCL, or of Clang for hiprtc, that give access to no
 * other files than the user's own headers. */

enum { OPTION_LONGEST = 1024 };

enum use { TAKEN, WITH_NEXT, FOLDER, PASSED_OVER };
static const struct option_known {
	const char *start;
	bool whole; /* the option is that word and nothing more */
	enum use use;
} nvrtc[] = {
	{"-D", true, WITH_NEXT},
	{"-U", true, WITH_NEXT},
	{"-I", true, FOLDER},
	{"-D", false, TAKEN},
	{"-U", false, TAKEN},
	{"-I", false, FOLDER},
	{"-std=", false, TAKEN},
	{"--std=", false, TAKEN},
	{"-use_fast_math", true, TAKEN},
	{"--use_fast_math", true, TAKEN},
	{"-maxrregcount=", false, TAKEN},
	{"--maxrregcount=", false, TAKEN},
	{"-lineinfo", true, TAKEN},
	{"--generate-line-info", true, TAKEN},
	{"-G", true, TAKEN},
	{"--device-debug", true, TAKEN},
	{"-ftz=", false, TAKEN},
	{"--ftz=", false, TAKEN},
	{"-fmad=", false, TAKEN},
	{"--fmad=", false, TAKEN},
	{"-prec-div=", false, TAKEN},
	{"--prec-div=", false, TAKEN},
	{"-prec-sqrt=", false, TAKEN},
	{"--prec-sqrt=", false, TAKEN},
	{"-default-device", true, TAKEN},
	{"--device-as-default-execution-space", true, TAKEN},
	{"--extra-device-vectorization", true, TAKEN},
	{"-extra-device-vectorization", true, TAKEN},
	{"-w", true, TAKEN},
	{"--disable-warnings", true, TAKEN},
	/* NVRTC always optimizes, and only its first error is ever shown, never a warning. */
	{"-O", false, PASSED_OVER},
	{"-W", false, PASSED_OVER},
	{0},
};
/* Khronos, The OpenCL Specification 1.2, 5.6.4 "Compiler Options"; later versions and vendors add to -cl-. */
static const struct option_known clbuild[] = {
	{"-D", true, WITH_NEXT},
	{"-I", true, FOLDER},
	{"-D", false, TAKEN},
	{"-I", false, FOLDER},
	{"-cl-", false, TAKEN},
	{"-w", true, TAKEN},
	{"-Werror", true, TAKEN},
	{"-g", true, TAKEN},
	{"-O", false, PASSED_OVER},
	{"-W", false, PASSED_OVER},
	{0},
};

/* LLVM, Clang Compiler User's Manual, "Command Line Options", as far as hiprtc passes them on. */
static const struct option_known hiprtc[] = {
	{"-D", true, WITH_NEXT},
	{"-U", true, WITH_NEXT},
	{"-I", true, FOLDER},
	{"-D", false, TAKEN},
	{"-U", false, TAKEN},
	{"-I", false, FOLDER},
	{"-std=", false, TAKEN},
	{"--std=", false, TAKEN},
	{"-O", false, TAKEN},
	{"-f", false, TAKEN}, /* -fno-slp-vectorize, .. */
	{"-munsafe-fp-atomics", true, TAKEN},
	{"-mcumode", true, TAKEN},
	{"-mno-cumode", true, TAKEN},
	{"-mwavefrontsize64", true, TAKEN},
	{"-mno-wavefrontsize64", true, TAKEN},
	{"--offload-arch=", false, TAKEN},
	{"--gpu-max-threads-per-block=", false, TAKEN},
	{"-w", true, TAKEN},
	{"-W", false, PASSED_OVER},
	{0},
};

static const struct language_options {
	const char *language, *accepted;
	const struct option_known *known;
} languages[] = {
	{"CUDA", "-std=, -D, -U, -I, -use_fast_math, -maxrregcount=, -lineinfo and -fmad= are accepted", nvrtc},
	{"OpenCL", "-D, -I, -w, -Werror, -g and options that begin with -cl- are accepted", clbuild},
	{"HIP", "-std=, -D, -U, -I, -O, -f.., -munsafe-fp-atomics, -mcumode and --offload-arch= are accepted", hiprtc},
};

static const struct language_options *options_of(const char *language) {
	size_t i = sizeof languages / sizeof *languages - 1;
	while (i > 0 && strcmp(languages[i].language, language) != 0)
		i--;
	return &languages[i];
}

static int use_of(const struct option_known *all, const char *option) {
	for (; all->start; all++) {
		size_t size = strlen(all->start);
		if (all->whole ? strcmp(option, all->start) == 0 : strncmp(option, all->start, size) == 0)
			return (int)all->use;
	}
	return -1;
}

static const char *folder_option(struct arena *arena, const char *folder, const char *path) {
	return path[0] == '/' ? arena_printf(arena, "-I%s", path) : arena_printf(arena, "-I%s/%s", folder, path);
}

static int option_add(const json_t *array, size_t *i, const struct language_options *own, const char *folder,
                      struct arena *arena, const char **options, size_t *count, struct err *err) {
	const char *text = json_string_value(json_array_get(array, *i));
	if (!text || strlen(text) > OPTION_LONGEST || !c_is_plain(text))
		return err_set(err, ERR_USAGE, "give one option per string",
		               "CompilerOptions[%zu] is not a valid compiler option", *i);
	int use = use_of(own->known, text);
	bool two = use == WITH_NEXT || (use == FOLDER && !text[2]);
	const char *next = two ? json_string_value(json_array_get(array, *i + 1)) : text + 2;
	if (use < 0)
		return err_set(err, ERR_USAGE, own->accepted, "CompilerOptions: \"%.100s\" is not accepted", text);
	if (two && (!next || *next == '-' || !c_is_plain(next)))
		return err_set(err, ERR_USAGE, NULL, "CompilerOptions: \"%.100s\" lacks its argument", text);
	*i += two;
	if (use == TAKEN)
		options[(*count)++] = arena_strdup(arena, text);
	else if (use == FOLDER)
		options[(*count)++] = folder_option(arena, folder, next);
	else if (use == WITH_NEXT)
		options[(*count)++] = arena_printf(arena, "%s%s", text, next);
	return 0;
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
	json_t *array = NULL;
	const json_t *member = json_object_get(json, "CompilerOptions");
	size_t count = 0;
	if (member && !json_is_null(member) && js_array(json, "CompilerOptions", CUDA_OPTIONS_MAX, &array, err))
		return -1;
	const char **options = arena_alloc(arena, json_array_size(array) + 3, sizeof *options);
	if (compiler_read(json, space, arena, kernel, &options[0], err))
		return -1;
	count = options[0] != NULL;
	for (size_t i = 0; i < json_array_size(array); i++)
		if (option_add(array, &i, options_of(kernel->language), folder, arena, options, &count, err))
			return -1;
	/* The kernel file may include files beside itself. */
	options[count] = arena_printf(arena, "-I%.*s", (int)(strrchr(kernel->file, '/') - kernel->file + 1), kernel->file);
	kernel->options = options;
	return 0;
}

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
	mem_auto char *text = sys_read_file(kernel->file, KERNEL_FILE_MAX, &size, err);
	if (!text)
		return -1;
	for (int i = 0; i < 7; i++)
		kernel->macro[i] = has_word(text, cuda_macros[i]);
	return 0;
}

/* Parameters whose value decides what is right, as the steps that one launch makes. */
static int depends_read(struct cuda_kernel *kernel, const struct space *space, struct err *err) {
	if (!json_object_get(kernel->json, "OutputDependsOn"))
		return 0;
	if (js_array(kernel->json, "OutputDependsOn", SPACE_PARAMS_MAX, &kernel->depends, err))
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
