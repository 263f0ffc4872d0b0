/* SPDX-License-Identifier: GPL-3.0-or-later */
/* KernelSpecification of language "C". Its texts end up in C code and on a command line, so that names must be
 * identifiers, and numbers are parsed and printed again. */
#include <config.h>

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/spec/c/impl.h"

enum { NAME_LONGEST = 63, OPTION_LONGEST = 1024 };

static bool is_among(const char *text, const char *const *words) {
	while (*words && strcmp(*words, text) != 0)
		words++;
	return *words;
}

bool c_is_name(const char *text) {
	static const char *const keywords[] = {
		"auto",     "break",    "case",  "char",     "const",  "continue", "default", "do",     "double",  "else",
		"enum",     "extern",   "float", "for",      "goto",   "if",       "inline",  "int",    "long",    "register",
		"restrict", "return",   "short", "signed",   "sizeof", "static",   "struct",  "switch", "typedef", "typeof",
		"union",    "unsigned", "void",  "volatile", "while",  "asm",      "defined", NULL};
	if (!text || strlen(text) > NAME_LONGEST || !(isalpha((unsigned char)*text) || *text == '_'))
		return false;
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	/* Leading underscores belong to the compiler, ss_t1_ to the generated file. */
	return text[0] != '_' && strncmp(text, "ss_t1_", 6) != 0 && !is_among(text, keywords);
}

/* A real number must stay one in C: 1.0, not 1. */
static const char *number_in_c(struct arena *arena, struct value value) {
	char text[64];
	value_text(value, text, sizeof text);
	bool whole = value.type == VALUE_REAL && !strpbrk(text, ".en");
	return arena_printf(arena, "%s%s", text, whole ? ".0" : "");
}

const char *c_define(struct arena *arena, const char *name, struct value value, struct err *err) {
	const char *text = value.type == VALUE_WORD ? value.as.w : number_in_c(arena, value);
	if (!c_is_name(name)) {
		err_set(err, ERR_USAGE, "use letters, digits and _, but no keyword of C", "parameter %.60s cannot be a C macro",
		        name);
		return NULL;
	}
	if (value.type == VALUE_WORD ? !c_is_name(text) : value.type == VALUE_REAL && !isfinite(value.as.r)) {
		err_set(err, ERR_USAGE, "use numbers, or words of letters, digits and _",
		        "parameter %s: \"%.60s\" cannot be a C token", name, text);
		return NULL;
	}
	return arena_printf(arena, "-D%s=%s", name, text);
}

/* Accepts options for optimization, warnings, paths and libraries, but none that change the inputs, the output file or
 * the programs that run. */
static bool option_allowed(const char *option) {
	static const char *const starts[] = {"-f",        "-m",    "-O", "-g", "-W",       "-std=",    "-D",
	                                     "-U",        "-I",    "-L", "-l", "-pthread", "-isystem", "--param",
	                                     "-pedantic", "-ansi", "-w", "-q", NULL};
	static const char *const refused[] = {"-fplugin",
	                                      "-fdump",
	                                      "-fsyntax-only",
	                                      "-ffile-prefix",
	                                      "-fprofile-dir",
	                                      "-fauto-profile",
	                                      "-Wl,",
	                                      "-Wa,",
	                                      "-Wp,",
	                                      "-wrapper",
	                                      "-fcallgraph-info",
	                                      "-fpass-plugin",
	                                      "-fopt-info",
	                                      "-fsave-optimization-record",
	                                      "-fdiagnostics",
	                                      "-frecord",
	                                      "-fstack-usage",
	                                      "-ftime-trace",
	                                      "-fcrash",
	                                      "-fmodule",
	                                      NULL};
	bool starts_well = false;
	for (size_t i = 0; starts[i]; i++)
		starts_well = starts_well || strncmp(option, starts[i], strlen(starts[i])) == 0;
	for (size_t i = 0; refused[i]; i++)
		if (strncmp(option, refused[i], strlen(refused[i])) == 0)
			return false;
	return starts_well && strcmp(option, "-o") != 0;
}

/* "-I" "folder" */
static bool takes_next(const char *option) {
	static const char *const words[] = {"-D", "-U", "-I", "-L", "-l", "-isystem", "--param", NULL};
	return is_among(option, words);
}

bool c_is_plain(const char *text) {
	while (*text && !iscntrl((unsigned char)*text))
		text++;
	return !*text;
}

static int c_options_read(const json_t *json, struct arena *arena, struct c_kernel *kernel, struct err *err) {
	json_t *array = NULL;
	bool next = false;
	if (json_object_get(json, "CompilerOptions") && js_array(json, "CompilerOptions", C_OPTIONS_MAX, &array, err))
		return -1;
	const char **options = arena_alloc(arena, json_array_size(array) + 1, sizeof *options);
	js_each (item, array) {
		const char *text = json_string_value(item);
		if (!text || strlen(text) > OPTION_LONGEST || !c_is_plain(text))
			return err_set(err, ERR_USAGE, "give one option per string",
			               "CompilerOptions[%zu] is not a valid compiler option", item_at);
		if (next ? *text == '-' || *text == '@' : !option_allowed(text))
			return err_set(err, ERR_USAGE, "options for optimization and warnings, -D, -I, -L and -l are accepted",
			               "CompilerOptions: \"%.100s\" is not accepted", text);
		next = !next && takes_next(text);
		options[item_at] = arena_strdup(arena, text);
		kernel->openmp = kernel->openmp || strcmp(text, "-fopenmp") == 0 || strncmp(text, "-fopenmp=", 9) == 0;
	}
	kernel->options = options;
	return next ? err_set(err, ERR_USAGE, NULL, "CompilerOptions: the last option lacks its argument") : 0;
}

int c_file_read(const json_t *json, const char *folder, struct arena *arena, const char **file, struct err *err) {
	const char *name;
	char whole[PATH_MAX];
	struct stat stat_of;
	if (js_string(json, "KernelFile", &name, err))
		return -1;
	const char *path = name[0] == '/' ? name : arena_printf(arena, "%s/%s", folder, name);
	if (!realpath(path, whole) || stat(whole, &stat_of) || !S_ISREG(stat_of.st_mode))
		return err_set(err, ERR_USAGE, "it is relative to the folder of the specification",
		               "KernelFile: %.200s is not a file", path);
	if (!c_is_plain(whole) || strpbrk(whole, "\"\\"))
		return err_set(err, ERR_USAGE, "move it to a path without quotes and backslashes",
		               "KernelFile: the path %.200s cannot be included in C", whole);
	*file = arena_strdup(arena, whole);
	return 0;
}

static int arguments_read(const json_t *json, struct arena *arena, struct c_kernel *kernel, struct err *err) {
	json_t *array;
	if (js_array(json, "Arguments", C_ARGUMENTS_MAX, &array, err))
		return -1;
	kernel->argument_count = json_array_size(array);
	kernel->arguments = arena_alloc(arena, kernel->argument_count + 1, sizeof *kernel->arguments);
	for (size_t i = 0; i < kernel->argument_count; i++)
		if (c_argument_read(json_array_get(array, i), i, arena, &kernel->arguments[i], err))
			return -1;
	if (c_tolerances_read(json, kernel->arguments, kernel->argument_count, sizeof *kernel->arguments, err))
		return -1;
	static const char *const others[] = {"OutputDependsOn", "Metrics"};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (json_object_get(json, others[i]))
			return err_set(err, ERR_USAGE, "CUDA and OpenCL have it", "%s is not supported for C", others[i]);
	return c_arguments_check(kernel->arguments, kernel->argument_count, sizeof *kernel->arguments, "use smaller Sizes",
	                         err);
}

int c_kernel_read(const json_t *json, const char *folder, struct arena *arena, struct c_kernel *kernel,
                  struct err *err) {
	const char *name = NULL;
	*kernel = (struct c_kernel){.openmp = false};
	if (js_string(json, "KernelName", &name, err))
		return err_prefix(err, "KernelSpecification");
	if (!c_is_name(name))
		return err_set(err, ERR_USAGE, "name the function in KernelFile",
		               "KernelName \"%.60s\" is not a valid C function name", name);
	kernel->name = arena_strdup(arena, name);
	if (c_file_read(json, folder, arena, &kernel->file, err) || c_options_read(json, arena, kernel, err) ||
	    arguments_read(json, arena, kernel, err))
		return err_prefix(err, "KernelSpecification");
	return 0;
}
