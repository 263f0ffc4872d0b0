/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVRTC's calls (NVIDIA, "NVRTC", 13.0), for a compiler of the CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/emulator/nvrtc/program.h"

#define NVRTC_EXPORT __attribute__((visibility("default")))
#define NVRTC_ERRORS(X)                                                                                                \
	X(SUCCESS, 0)                                                                                                      \
	X(ERROR_OUT_OF_MEMORY, 1)                                                                                          \
	X(ERROR_PROGRAM_CREATION_FAILURE, 2)                                                                               \
	X(ERROR_INVALID_INPUT, 3)                                                                                          \
	X(ERROR_INVALID_PROGRAM, 4)                                                                                        \
	X(ERROR_INVALID_OPTION, 5)                                                                                         \
	X(ERROR_COMPILATION, 6)                                                                                            \
	X(ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION, 8)                                                                  \
	X(ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION, 9) X(ERROR_NAME_EXPRESSION_NOT_VALID, 10)
enum {
#define X(name, value) NVRTC_##name = value,
	NVRTC_ERRORS(X)
#undef X
};

NVRTC_EXPORT const char *nvrtcGetErrorString(int result) {
	switch (result) {
#define X(name, value)                                                                                                 \
	case value:                                                                                                        \
		return "NVRTC_" #name;
		NVRTC_ERRORS(X)
#undef X
	default:
		return "NVRTC_ERROR unknown";
	}
}

/* The minor number is made from the device header, because code compiled with another one does not work. */
NVRTC_EXPORT int nvrtcVersion(int *major, int *minor) {
	unsigned hash = 2166136261u; /* FNV-1a */
	for (const char *at = EMULATOR_STAMP; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619u;
	*major = 99;
	*minor = (int)(hash % 1000000);
	return NVRTC_SUCCESS;
}

static const int archs[] = {75, 80, 86, 89, 90, 100};

NVRTC_EXPORT int nvrtcGetNumSupportedArchs(int *count) {
	*count = (int)(sizeof archs / sizeof *archs);
	return NVRTC_SUCCESS;
}

NVRTC_EXPORT int nvrtcGetSupportedArchs(int *out) {
	memcpy(out, archs, sizeof archs);
	return NVRTC_SUCCESS;
}

NVRTC_EXPORT int nvrtcDestroyProgram(struct program **out) {
	struct program *program = *out;
	if (!program)
		return NVRTC_ERROR_INVALID_PROGRAM;
	for (int i = 0; i < program->headers; i++) {
		free(program->header_texts[i]);
		free(program->header_names[i]);
	}
	for (int i = 0; i < program->expression_count; i++)
		free(program->expressions[i]);
	free(program->header_texts);
	free(program->header_names);
	free(program->name);
	text_free(&program->source);
	text_free(&program->log);
	text_free(&program->cubin);
	free(program);
	*out = NULL;
	return NVRTC_SUCCESS;
}

/* Only below the folder of the program. */
static bool name_is_safe(const char *name) {
	return *name && *name != '/' && !strstr(name, "..") && strlen(name) < 150;
}

NVRTC_EXPORT int nvrtcCreateProgram(struct program **out, const char *source, const char *name, int headers,
                                    const char *const *texts, const char *const *names) {
	if (!out || !source || headers < 0 || (headers > 0 && (!texts || !names)))
		return NVRTC_ERROR_INVALID_INPUT;
	struct program *program = calloc(1, sizeof *program);
	const char *file = name && strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	if (!program)
		return NVRTC_ERROR_OUT_OF_MEMORY;
	program->name = strdup(file && name_is_safe(file) ? file : "default_program");
	program->header_texts = calloc((size_t)headers + 1, sizeof(char *));
	program->header_names = calloc((size_t)headers + 1, sizeof(char *));
	bool fine = program->name && program->header_texts && program->header_names &&
	            text_add(&program->source, source, strlen(source));
	for (; fine && program->headers < headers; program->headers++) {
		fine = name_is_safe(names[program->headers]);
		program->header_texts[program->headers] = strdup(texts[program->headers]);
		program->header_names[program->headers] = strdup(names[program->headers]);
	}
	*out = program;
	if (!fine)
		nvrtcDestroyProgram(out);
	return fine ? NVRTC_SUCCESS : NVRTC_ERROR_PROGRAM_CREATION_FAILURE;
}

NVRTC_EXPORT int nvrtcAddNameExpression(struct program *program, const char *expression) {
	if (program->compiled)
		return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
	if (program->expression_count == EXPRESSIONS_MAX)
		return NVRTC_ERROR_OUT_OF_MEMORY;
	program->expressions[program->expression_count++] = strdup(expression);
	return NVRTC_SUCCESS;
}

NVRTC_EXPORT int nvrtcGetLoweredName(struct program *program, const char *expression, const char **name) {
	if (!program->compiled)
		return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
	for (int i = 0; i < program->expression_count; i++)
		if (strcmp(program->expressions[i], expression) == 0) {
			*name = program->lowered[i];
			return NVRTC_SUCCESS;
		}
	return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

/* Options that only change a GPU's code: NVRTC's, or Clang's, which hiprtc has. */
static const char *const known[] = {
#ifdef EMULATED_HIP
	"--std", "-std", "--offload-arch", "-O2", "-O3", "-ffast-math", "-munsafe-fp-atomics", "-w",
#else
	"-arch",
	"--gpu-architecture",
	"--include-path",
	"--std",
	"-std",
	"--ptxas-options",
	"-Xptxas",
	"--use_fast_math",
	"-use_fast_math",
	"--fmad",
	"-fmad",
	"--maxrregcount",
	"-maxrregcount",
	"--extra-device-vectorization",
	"-default-device",
	"--device-as-default-execution-space",
	"-lineinfo",
	"--generate-line-info",
	"--restrict",
	"-restrict",
	"--split-compile",
	"-w",
	"--disable-warnings",
	"--diag-suppress",
	"-diag-suppress",
	"--no-display-error-number",
	"-dopt",
	"--ftz",
	"-ftz",
	"--prec-div",
	"-prec-div",
	"--prec-sqrt",
	"-prec-sqrt",
	"--relocatable-device-code",
	"-rdc",
	"--no-source-include",
	"-no-source-include",
	"--minimal",
	"-minimal",
	"--no-cache",
	"-no-cache",
	"-G",
	"--device-debug",
#endif
	NULL};

/* Those that change the meaning are passed to the compiler. */
static bool take_option(const char *option, const char **kept, int *count) {
	if (strncmp(option, "-D", 2) == 0 || strncmp(option, "-U", 2) == 0 || strncmp(option, "-I", 2) == 0) {
		kept[(*count)++] = option;
		return true;
	}
	for (size_t i = 0; known[i]; i++) {
		size_t size = strlen(known[i]);
		if (strncmp(option, known[i], size) == 0 && (!option[size] || option[size] == '='))
			return true;
	}
	return false;
}

NVRTC_EXPORT int nvrtcCompileProgram(struct program *program, int count, const char *const *options) {
	const char **kept = calloc((size_t)(count > 0 ? count : 0) + 1, sizeof *kept);
	int kept_count = 0, result = kept ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
	text_free(&program->log);
	text_free(&program->cubin);
	for (int i = 0; i < count && result == NVRTC_SUCCESS; i++)
		if (!take_option(options[i], kept, &kept_count)) {
			text_print(&program->log, "nvrtc: error: unrecognized option %.200s found\n", options[i]);
			result = NVRTC_ERROR_INVALID_OPTION;
		}
	if (result == NVRTC_SUCCESS && !compile(program, kept, kept_count))
		result = NVRTC_ERROR_COMPILATION;
	program->compiled = true;
	free(kept);
	return result;
}

static int size_of(const struct text *text, size_t *size) {
	*size = text->size + 1; /* with the NUL */
	return NVRTC_SUCCESS;
}

NVRTC_EXPORT int nvrtcGetProgramLogSize(struct program *program, size_t *size) {
	return size_of(&program->log, size);
}

NVRTC_EXPORT int nvrtcGetProgramLog(struct program *program, char *log) {
	memcpy(log, program->log.bytes ? program->log.bytes : "", program->log.size + 1);
	return NVRTC_SUCCESS;
}

NVRTC_EXPORT int nvrtcGetCUBINSize(struct program *program, size_t *size) {
	*size = program->cubin.size;
	return NVRTC_SUCCESS;
}

NVRTC_EXPORT int nvrtcGetCUBIN(struct program *program, char *cubin) {
	if (program->cubin.size)
		memcpy(cubin, program->cubin.bytes, program->cubin.size);
	return program->cubin.size ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_PROGRAM;
}

static const char no_ptx[] = "// the emulator does not make PTX\n";

NVRTC_EXPORT int nvrtcGetPTXSize(struct program *program, size_t *size) {
	*size = sizeof no_ptx;
	return program->compiled ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_PROGRAM;
}

NVRTC_EXPORT int nvrtcGetPTX(struct program *program, char *ptx) {
	memcpy(ptx, no_ptx, sizeof no_ptx);
	return program->compiled ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_PROGRAM;
}
