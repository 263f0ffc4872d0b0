/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>

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

/* Options as lists of words. */
static const struct language_options {
	const char *language, *accepted;
	const char *with_next;     /* their argument is the rest of the word, or the next word */
	const char *whole, *start; /* the option is that word, or begins with it */
	const char *passed_over;   /* and so may begin those that make no difference */
} languages[] = {
	/* NVRTC always optimizes, and only its first error is ever shown, never a warning. */
	{"CUDA", "-std=, -D, -U, -I, -use_fast_math, -maxrregcount=, -lineinfo and -fmad= are accepted", "-D -U",
     "-use_fast_math --use_fast_math -lineinfo --generate-line-info -G --device-debug -default-device"
     " --device-as-default-execution-space -extra-device-vectorization --extra-device-vectorization -w "
     "--disable-warnings",
     "-std= --std= -maxrregcount= --maxrregcount= -ftz= --ftz= -fmad= --fmad= -prec-div= --prec-div= -prec-sqrt="
     " --prec-sqrt=",
     "-O -W"},
	/* Khronos, The OpenCL Specification 1.2, 5.6.4 "Compiler Options"; later versions and vendors add to -cl-. */
	{"OpenCL", "-D, -I, -w, -Werror, -g and options that begin with -cl- are accepted", "-D", "-w -Werror -g", "-cl-",
     "-O -W"},
	/* LLVM, Clang Compiler User's Manual, "Command Line Options", as far as hiprtc passes them on. */
	{"HIP", "-std=, -D, -U, -I, -O, -f.., -munsafe-fp-atomics, -mcumode and --offload-arch= are accepted", "-D -U",
     "-munsafe-fp-atomics -mcumode -mno-cumode -mwavefrontsize64 -mno-wavefrontsize64 -w",
     "-std= --std= -O -f --offload-arch= --gpu-max-threads-per-block=", "-W"},
};

static const struct language_options *options_of(const char *language) {
	size_t i = sizeof languages / sizeof *languages - 1;
	while (i > 0 && strcmp(languages[i].language, language) != 0)
		i--;
	return &languages[i];
}

/* Is it, or does it begin with, one of the words? */
static bool is_one(const char *option, const char *words, bool whole) {
	for (size_t size; *words; words += size + (words[size] == ' ')) {
		size = strcspn(words, " ");
		if (strncmp(option, words, size) == 0 && (!whole || !option[size]))
			return true;
	}
	return false;
}

enum use { TAKEN, WITH_NEXT, FOLDER, PASSED_OVER, REFUSED };

static enum use use_of(const struct language_options *own, const char *option) {
	if (is_one(option, "-I", false))
		return FOLDER;
	if (is_one(option, own->with_next, true))
		return WITH_NEXT;
	if (is_one(option, own->with_next, false) || is_one(option, own->whole, true) || is_one(option, own->start, false))
		return TAKEN;
	return is_one(option, own->passed_over, false) ? PASSED_OVER : REFUSED;
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
	enum use use = use_of(own, text);
	bool two = use == WITH_NEXT || (use == FOLDER && !text[2]);
	const char *next = two ? json_string_value(json_array_get(array, *i + 1)) : text + 2;
	if (use == REFUSED)
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
