/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of NVRTC's calls. */
#ifndef TESTS_GPU_EMULATOR_NVRTC_PROGRAM_H
#define TESTS_GPU_EMULATOR_NVRTC_PROGRAM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPRESSIONS_MAX = 64 };

struct text {
	char *bytes; /* NUL-terminated, or NULL */
	size_t size, room;
};
bool text_add(struct text *text, const char *bytes, size_t size);
__attribute__((format(printf, 2, 3))) bool text_print(struct text *text, const char *format, ...);
bool text_read(struct text *text, const char *path); /* false: the file is empty or absent */
void text_free(struct text *text);

struct program {
	struct text source, log, cubin;
	char *name;
	int headers;
	char **header_texts, **header_names;
	char *expressions[EXPRESSIONS_MAX], lowered[EXPRESSIONS_MAX][24];
	int expression_count;
	bool compiled;
};

/* Translates preprocessed CUDA C++ to C++ for the emulator: tables of kernels are added, `extern __shared__` becomes
 * a pointer. */
bool translate(struct program *program, const struct text *from, struct text *to);
/* Runs the compiler twice. options: C++ options that matter; false: see the log. */
bool compile(struct program *program, const char *const *options, int count);

/* Objects that are kept. The key depends on the text, without the folder's name, the words, and the emulator. */
uint64_t object_key(const struct text *translated, const char *folder, const char *const *words);
bool object_find(uint64_t key, struct text *object);
void object_keep(uint64_t key, const struct text *object);

#endif
