/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <string.h>

#include "lib/regions.h"
#include "lib/sweetspot.h"

static bool is_on(void) {
	return __builtin_expect(atomic_load_explicit(&ssr_state.on, memory_order_relaxed), false);
}

static size_t name_length(const char *name) {
	return name ? strnlen(name, REGION_NAME + 1) : 0;
}

void sweetspot_begin(const char *name) {
	if (is_on())
		ssr_begin(name, name_length(name));
}

void sweetspot_end(const char *name) {
	if (is_on())
		ssr_end(name, name_length(name));
}

/* Fortran passes text without NUL, filled up with blanks, and its length after all other arguments. Declared here, since
 * nobody else calls them. */
__attribute__((visibility("default"))) void sweetspot_begin_(const char *name, size_t length);
__attribute__((visibility("default"))) void sweetspot_end_(const char *name, size_t length);

static size_t trimmed(const char *name, size_t length) {
	length = name ? strnlen(name, length) : 0;
	while (length > 0 && name[length - 1] == ' ')
		length--;
	return length;
}

void sweetspot_begin_(const char *name, size_t length) {
	if (is_on())
		ssr_begin(name, trimmed(name, length));
}

void sweetspot_end_(const char *name, size_t length) {
	if (is_on())
		ssr_end(name, trimmed(name, length));
}
