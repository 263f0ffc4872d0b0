/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <string.h>

#include "src/base/mem.h"
#include "tuner/program.h"

static bool is_plain(const char *text) {
	return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                  "0123456789_-+=:,./@%")] == '\0';
}

char *program_quote(const char *text) {
	enum { LONGEST = 4 }; /* a quote becomes '\'' */
	if (is_plain(text))
		return mem_strdup(text);
	char *word = mem_alloc(strlen(text) + 1, LONGEST), *end = word;
	*end++ = '\'';
	for (; *text; text++)
		end = *text == '\'' ? stpcpy(end, "'\\''") : (*end = *text, end + 1);
	*end = '\'';
	return word;
}
