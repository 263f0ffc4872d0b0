/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/export/c_text_impl.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/export/export_text_impl.h"

/* Keywords of C23 and C++23, macros of compilers in their GNU modes, object-like macros of the standard headers. */
static const char reserved[] =
	" alignas alignof and and_eq asm assert auto bitand bitor bool break case catch char char16_t char32_t char8_t "
	"class "
	"co_await co_return co_yield compl complex concept const const_cast consteval constexpr constinit continue "
	"decltype "
	"default delete do double dynamic_cast else enum errno explicit export extern false float for friend goto i386 if "
	"imaginary inline int linux long math_errhandling mutable namespace new noexcept noreturn not not_eq nullptr "
	"operator or "
	"or_eq private protected public register reinterpret_cast requires restrict return setjmp short signed sizeof "
	"stack_t "
	"static static_assert static_cast stderr stdin stdout struct switch template this thread_local throw true try "
	"typedef "
	"typeid typename typeof typeof_unqual union unix unsigned using va_arg va_end va_start virtual void volatile "
	"wchar_t "
	"while xor xor_eq ";

/* Names in capitals usually are macros, and names that begin with "_" belong to the implementation. */
static bool is_safe(const char *name) {
	char *word = mem_printf(" %s ", name);
	bool lower = false, known = strstr(reserved, word);
	free(word);
	for (const char *c = name; *c; c++)
		lower = lower || islower((unsigned char)*c);
	return !known && lower && isalpha((unsigned char)*name);
}

char *c_member(const char *text, json_t *taken) {
	json_t *none = json_object();
	char *plain = export_name("", text, none);
	char *name = export_name(is_safe(plain) ? "" : "p_", plain, taken);
	free(plain);
	json_decref(none);
	return name;
}

enum c_type c_type_of(const json_t *value) {
	return json_is_string(value) ? C_WORD : json_is_real(value) ? C_REAL : C_INT;
}

void c_real(FILE *out, double value) {
	char text[40];
	snprintf(text, sizeof text, "%.17g", isfinite(value) ? value : 0);
	fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void put_integer(FILE *out, json_int_t value) {
	if (value == INT64_MIN)
		fputs("(-9223372036854775807LL - 1)", out);
	else
		fprintf(out, "%" PRId64 "LL", (int64_t)value);
}

/* Octal escapes end after three digits; "?" could begin a trigraph. */
static void put_string(FILE *out, const char *text) {
	putc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (isascii(*c) && isprint(*c) && !strchr("\"\\?", *c))
			putc(*c, out);
		else
			fprintf(out, "\\%03o", *c);
	putc('"', out);
}

void c_literal(FILE *out, enum c_type type, const json_t *value) {
	if (type == C_WORD) {
		char *text = value ? export_value_text(value) : mem_strdup("");
		put_string(out, text);
		free(text);
	} else if (type == C_REAL) {
		c_real(out, json_is_true(value) ? 1 : json_number_value(value));
	} else {
		put_integer(out, json_is_true(value) ? 1 : json_integer_value(value));
	}
}

/* Asterisks could end the comment, backslashes and "?" could continue it or form a trigraph. */
void c_comment(FILE *out, const char *text) {
	fputs("/* ", out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		putc(isascii(*c) && (isalnum(*c) || strchr(" .,:;=+-_()%#/'", *c)) ? *c : '_', out);
	fputs(" */\n", out);
}
