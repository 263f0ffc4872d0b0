/* SPDX-License-Identifier: BSD-3-Clause */
/* Text from outside made safe for terminals, JSON and markup. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 sequence at text (1 to 4 bytes of the `size` available), 0 if it is malformed (RFC 3629). */
size_t text_utf8(const char *text, size_t size);
/* Is the UTF-8 sequence a control: C0, DEL, C1, or one that changes the direction of text? */
bool text_is_control(const char *text, size_t length);
/* Writes a character of at most three bytes as \u and its code point in four digits: \u202e. */
void text_code_point(FILE *out, const char *text, size_t length);
const char *text_base_name(const char *path); /* behind the last slash */
bool text_ends_with(const char *text, const char *end);
bool text_is_among(const char *word, const char *const *words, size_t count);
#define text_is_one_of(word, list) text_is_among(word, list, sizeof(list) / sizeof *(list))
bool text_is_listed(const char *text, const char *const *list); /* the list ends with NULL, and may be NULL */
/* Writes seconds since 1970 as UTC in a format of strftime(3); false and "" for what is not a time before the year
 * 10000. */
bool text_time(double seconds, const char *format, char *text, size_t size);
/* Is much of what is visible malformed UTF-8 or controls? Colours and a few words of another encoding are text. */
bool text_is_binary(const char *text, size_t size);
/* A short text as a value: `printf("%s", ui_seconds(x).text)`. It lasts as long as the expression it stands in. */
struct shown {
	char text[96];
};
/* In place: control characters become spaces and malformed UTF-8 becomes '?'. lines: newlines and tabs stay. */
void text_clean(char *text, bool lines);
/* Copies the last line that is not empty. */
void text_last_line(const char *text, char *line, size_t size);
/* The entity that stands for a character in elements and attributes of HTML and XML; NULL if it stands for itself. */
const char *text_entity(char c);
void text_markup(FILE *out, const char *text); /* writes the text with entities */

/* The known word nearest to a mistyped one (Damerau-Levenshtein, optimal string alignment). */

/* NULL if no word is near enough to suggest. */
const char *near_word(const char *word, const char *const *known, size_t count);

/* Extended regular expressions from outside. */

/* Like regcomp(), but refuses expressions whose length, nesting or repetitions would exhaust memory or the stack.
 * false: `why` gives the reason, and nothing needs to be freed. */
bool pattern_compile(regex_t *regex, const char *expression, char *why, size_t size);
/* Returns NAME of a metric "kernel:NAME", the time of a GPU's kernel; NULL for anything else. With a sign of regular
 * expressions it is one, and without any it could match only its own text, which is not a number. */
const char *pattern_kernel(const char *metric);

/* Names of functions as their programmers wrote them. */

/* C++ by the demangler of libstdc++, where it is installed: "Grid<double>::sum", without the result and the parameters.
 * Fortran's module procedures: "solver::step". Anything else is copied. The demangler needs time and memory without
 * limits for symbols made for that, so those of a program are demangled apart (proc/apart.h). */
void demangle(const char *symbol, char *name, size_t size);
/* False: the symbol would be copied. */
bool demangle_is_needed(const char *symbol);
/* The name within what a demangler prints: "void f<int>(int) const" is f<int>. */
void demangle_trim(const char *text, char *name, size_t size);

/* regexec(3) on the part of a text from match[0].rm_so to match[0].rm_eo, as REG_STARTEND has it, which musl lacks. */
static inline int regex_range(const regex_t *regex, const char *text, size_t groups, regmatch_t *match, int flags) {
#ifdef REG_STARTEND
	return regexec(regex, text, groups, match, flags | REG_STARTEND);
#else
	regoff_t from = match[0].rm_so;
	char *part = strndup(text + from, (size_t)(match[0].rm_eo - from));
	int failed = part ? regexec(regex, part, groups, match, flags) : REG_ESPACE;
	for (size_t i = 0; i < groups && !failed; i++) {
		match[i].rm_so += match[i].rm_so < 0 ? 0 : from;
		match[i].rm_eo += match[i].rm_eo < 0 ? 0 : from;
	}
	free(part);
	return failed;
#endif
}
#endif
