/* SPDX-License-Identifier: BSD-3-Clause */
/* TAP for C tests: ok(condition, "what %s", ...), skip("what", "why"), and return tap_done() from main. */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count;

__attribute__((format(printf, 4, 5), unused)) static bool tap_ok(bool condition, const char *file, int line,
                                                                 const char *format, ...) {
	va_list ap;
	printf("%sok %d - ", condition ? "" : "not ", ++tap_count);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	if (!condition)
		printf("\n# at %s:%d", file, line);
	printf("\n");
	fflush(stdout);
	return condition;
}
#define ok(condition, ...) tap_ok((condition), __FILE__, __LINE__, __VA_ARGS__)
#define is_text(got, want, what)                                                                                       \
	(ok((got) && strcmp((got), (want)) == 0, "%s", (what)) ||                                                          \
	 (printf("# got  %s\n# want %s\n", (got) ? (got) : "(null)", (want)), false))

__attribute__((unused)) static void tap_skip(const char *what, const char *why) {
	printf("ok %d - %s # SKIP %s\n", ++tap_count, what, why);
}

/* The exit status tells only whether the test came to its end: a failed check is in the TAP, and a status would make an
 * error of it. */
static int tap_done(void) {
	printf("1..%d\n", tap_count);
	return 0;
}
#endif
