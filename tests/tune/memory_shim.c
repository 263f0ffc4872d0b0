/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded: one allocation of one program fails. FAIL_PROGRAM is the name of its file, FAIL_AT the number of the
 * allocation (0: none), FAIL_COUNT a file that gets their number in the end. Where hwloc makes that allocation, the
 * next one of somebody else fails: hwloc (2.9) does not check all of its own, at the start, before anything is
 * measured. */
#define _GNU_SOURCE
#include <dlfcn.h>
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

static atomic_long count, fail_at;
static int is_on;

__attribute__((constructor)) static void begin(void) {
	const char *program = getenv("FAIL_PROGRAM"), *at = getenv("FAIL_AT");
	is_on = program && strcmp(program, program_invocation_short_name) == 0;
	atomic_store(&fail_at, at ? atol(at) : 0);
}

__attribute__((destructor)) static void end(void) {
	const char *path = getenv("FAIL_COUNT");
	FILE *file = is_on && path ? fopen(path, "w") : NULL;
	if (file) {
		fprintf(file, "%ld\n", atomic_load(&count));
		fclose(file);
	}
}

static int is_of_hwloc(void *caller) {
	Dl_info info;
	return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libhwloc");
}

static int fails(void *caller) {
	long number = is_on ? atomic_fetch_add(&count, 1) + 1 : 0;
	if (number == 0 || number != atomic_load(&fail_at))
		return 0;
	if (is_of_hwloc(caller)) {
		atomic_store(&fail_at, number + 1);
		return 0;
	}
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size) {
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
