/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pattern.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* regcomp() writes a{9} out nine times, and its time and memory grow with the square of the expanded length. */
enum { PATTERN_LENGTH = 1000, PATTERN_STEPS = 2000 };

static const char *after_set(const char *at) {
	at += at[1] == '^' ? 2 : 1;
	at += *at == ']';
	for (; *at && *at != ']'; at++) {
		char kind = at[1];
		if (*at == '[' && kind && strchr(".:=", kind)) {
			for (at += 2; *at && !(at[0] == kind && at[1] == ']'); at++)
				continue;
			at += *at != '\0';
		}
		if (!*at)
			break;
	}
	return at + (*at == ']');
}

static uint64_t limited(uint64_t steps) {
	return steps < UINT32_MAX ? steps : UINT32_MAX;
}

/* The largest number in the braces, 1 if there is none; moves *at behind them. */
static uint64_t repetitions(const char **at) {
	uint64_t most = 1;
	const char *c = *at + 1;
	for (; *c && *c != '}'; c++)
		if (isdigit((unsigned char)*c)) {
			char *end;
			uint64_t number = limited(strtoull(c, &end, 10));
			most = number > most ? number : most;
			c = end - 1;
		}
	*at = c + (*c == '}');
	return most;
}

/* Counts the characters and sets of the expanded expression, up to the end or the bracket that closes the group. */
static uint64_t steps(const char **at) {
	uint64_t sum = 0, last = 0;
	while (**at && **at != ')') {
		if (**at == '{') {
			last = limited(last * repetitions(at));
			continue;
		}
		sum = limited(sum + last);
		last = 1;
		if (**at == '(') {
			++*at;
			last += steps(at);
			*at += **at == ')';
		} else if (**at == '[') {
			*at = after_set(*at);
		} else {
			*at += 1 + (**at == '\\' && (*at)[1]);
		}
	}
	return limited(sum + last);
}

static bool is_too_large(const char *expression) {
	uint64_t sum = 0;
	if (strlen(expression) > PATTERN_LENGTH)
		return true;
	for (const char *at = expression; *at; at += *at == ')') /* regcomp() refuses a number above its limit itself */
		sum += steps(&at);
	return sum > PATTERN_STEPS;
}

bool pattern_compile(regex_t *regex, const char *expression, char *why, size_t size) {
	if (is_too_large(expression)) {
		snprintf(why, size, "it is too long or repeats too much");
		return false;
	}
	int code = regcomp(regex, expression, REG_EXTENDED);
	if (code != 0)
		regerror(code, regex, why, size);
	return code == 0;
}

const char *pattern_kernel(const char *metric) {
	static const char mark[] = "kernel:";
	const char *name = strncmp(metric, mark, sizeof mark - 1) == 0 ? metric + sizeof mark - 1 : "";
	return *name > ' ' && !strpbrk(name, "()[]{}.*+?|^$\\") ? name : NULL;
}
