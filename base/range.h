/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_RANGE_H
#define BASE_RANGE_H
#include <regex.h>
#include <stdlib.h>
#include <string.h>

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
