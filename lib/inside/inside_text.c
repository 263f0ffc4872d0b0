/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/inside/format.h"

#include <stdlib.h>
#include <string.h>

void ssi_text_write(FILE *out, const char *text) {
	for (; *text; text++)
		if (*text <= ' ' || *text > '~' || strchr("%=':@~", *text))
			fprintf(out, "%%%02X", (unsigned char)*text);
		else
			fputc(*text, out);
}

static int digit(char c) {
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool ssi_text_read(const char *from, size_t size, char *to) {
	size_t used = 0;
	for (size_t i = 0; i < size; i++) {
		bool escaped = from[i] == '%';
		if (used + 1 >= INSIDE_TEXT || (escaped && (i + 2 >= size || digit(from[i + 1]) < 0 || digit(from[i + 2]) < 0)))
			return false;
		to[used++] = escaped ? (char)(16 * digit(from[i + 1]) + digit(from[i + 2])) : from[i];
		i += escaped ? 2 : 0;
	}
	to[used] = '\0';
	return true;
}

bool ssi_member_read(const char *text, size_t size, struct inside_member *member) {
	const char *equals = memchr(text, '=', size);
	if (!equals || !ssi_text_read(text, (size_t)(equals - text), member->name))
		return false;
	const char *value = equals + 1;
	size_t left = size - (size_t)(value - text);
	member->is_word = left > 0 && *value == '\'';
	if (member->is_word)
		return ssi_text_read(value + 1, left - 1, member->word);
	char *end;
	member->number = strtod(value, &end);
	member->integer = strtoll(value, NULL, 10);
	return left > 0 && end == value + left;
}
