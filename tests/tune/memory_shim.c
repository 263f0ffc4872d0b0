/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded: one allocation of one program fails. FAIL_PROGRAM is the name of its file, FAIL_AT the number of the
 * allocation (0: none), FAIL_COUNT a file that gets their number in the end. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static atomic_long count;
static long fail_at;
static int is_on;

__attribute__((constructor)) static void begin(void) {
	const char *program = getenv("FAIL_PROGRAM"), *at = getenv("FAIL_AT");
	is_on = program && strcmp(program, program_invocation_short_name) == 0;
	fail_at = at ? atol(at) : 0;
}

__attribute__((destructor)) static void end(void) {
	const char *path = getenv("FAIL_COUNT");
	FILE *file = is_on && path ? fopen(path, "w") : NULL;
	if (file) {
		fprintf(file, "%ld\n", atomic_load(&count));
		fclose(file);
	}
}

static int fails(void) {
	if (!is_on || atomic_fetch_add(&count, 1) + 1 != fail_at)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size) {
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
	return fails() ? NULL : __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
	return fails() ? NULL : __libc_realloc(old, size);
}
