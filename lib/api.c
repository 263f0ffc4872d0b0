/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "lib/marks/marks.h"
#include "lib/sweetspot.h"

static bool is_on(void) {
	return __builtin_expect(atomic_load_explicit(&ssr_state.on, memory_order_relaxed), false);
}

static const char *text_of(const char *name) {
	return name ? name : "";
}

void sweetspot_begin(const char *name) {
	if (is_on())
		ssr_begin(text_of(name), strnlen(text_of(name), MARK_NAME + 1));
}

void sweetspot_end(const char *name) {
	if (is_on())
		ssr_end(text_of(name), strnlen(text_of(name), MARK_NAME + 1));
}

/* Fortran passes text without a NUL, padded with blanks, and its length after all other arguments. These are
 * declared here because only Fortran calls them. */
__attribute__((visibility("default"))) void sweetspot_begin_(const char *name, size_t length);
__attribute__((visibility("default"))) void sweetspot_end_(const char *name, size_t length);

static size_t trimmed(const char *name, size_t length) {
	length = strnlen(name, length);
	while (length > 0 && name[length - 1] == ' ')
		length--;
	return length;
}

void sweetspot_begin_(const char *name, size_t length) {
	if (is_on())
		ssr_begin(text_of(name), trimmed(text_of(name), name ? length : 0));
}

void sweetspot_end_(const char *name, size_t length) {
	if (is_on())
		ssr_end(text_of(name), trimmed(text_of(name), name ? length : 0));
}
