/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>

#include "base/json/js.h"
#include "base/t1/t1.h"

bool t1_is_plain(const char *text) {
	while (*text && !iscntrl((unsigned char)*text))
		text++;
	return !*text;
}

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
	if (!text || strlen(text) > OPTION_LONGEST || !t1_is_plain(text))
		return err_set(err, ERR_USAGE, "give one option per string",
		               "CompilerOptions[%zu] is not a valid compiler option", *i);
	int use = use_of(own->known, text);
	bool two = use == WITH_NEXT || (use == FOLDER && !text[2]);
	const char *next = two ? json_string_value(json_array_get(array, *i + 1)) : text + 2;
	if (use < 0)
		return err_set(err, ERR_USAGE, own->accepted, "CompilerOptions: \"%.100s\" is not accepted", text);
	if (two && (!next || *next == '-' || !t1_is_plain(next)))
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

int t1_options_read(const json_t *kernel, const char *language, const char *folder, struct arena *arena,
                    const char **options, size_t *count, struct err *err) {
	const json_t *member = json_object_get(kernel, "CompilerOptions");
	json_t *array;
	if (!member || json_is_null(member))
		return 0;
	if (js_array(kernel, "CompilerOptions", T1_OPTIONS_MAX, &array, err))
		return -1;
	for (size_t i = 0; i < json_array_size(array); i++)
		if (option_add(array, &i, options_of(language), folder, arena, options, count, err))
			return -1;
	return 0;
}

static void define_put(FILE *out, const char *option) {
	const char *name = option + strspn(option, "-D"), *value = strchr(name, '=');
	if (value)
		fprintf(out, "#define %.*s %s\n", (int)(value - name), name, value + 1);
	else
		fprintf(out, "#define %s 1\n", name);
}

char *t1_source(const char *const *defines, const char *text) {
	char *all = NULL;
	size_t size;
	FILE *out = open_memstream(&all, &size);
	if (!out)
		return mem_strdup(text);
	for (size_t i = 0; defines[i]; i++)
		define_put(out, defines[i]);
	fprintf(out, "%s%s", *defines ? "#line 1\n" : "", text);
	fclose(out);
	return all;
}
