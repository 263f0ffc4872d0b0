/* SPDX-License-Identifier: BSD-3-Clause */
/* A file into memory, and to its reader. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cc/cc.h"
#include "kernels/fail.h"

/* Lines and numbers of a text in memory. */

bool cc_text_blank(struct cc_text *text) {
	while (*text->at == ' ' || *text->at == '\t' || *text->at == '\r')
		text->at++;
	return text->at == text->end || *text->at == '\n';
}

bool cc_text_next(struct cc_text *text) {
	const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
	text->at = newline ? newline + 1 : text->end;
	text->line += newline != NULL;
	return text->at < text->end;
}

bool cc_text_comment(const struct cc_text *text, const char *marks) {
	return *text->at && strchr(marks, *text->at);
}

static bool is_digit(char c) {
	return c >= '0' && c <= '9';
}

/* After a number comes a blank, a new line or the end. */
static bool is_over(const struct cc_text *text) {
	return text->at == text->end || (*text->at && strchr(" \t\r\n", *text->at));
}

enum ss_status cc_text_number(struct cc_text *text, const char *what, int64_t most, int64_t *number) {
	int64_t n = 0;
	bool large = false, negative = !cc_text_blank(text) && *text->at == '-';
	const char *begin = text->at += negative;
	for (; is_digit(*text->at); text->at++)
		large |= __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *text->at - '0', &n);
	if (text->at == begin || !is_over(text))
		return cc_text_wrong(text, "%s: a whole number was expected", what);
	if (negative)
		return cc_text_wrong(text, "%s is negative", what);
	if (large || n > most)
		return cc_text_wrong(text, "%s is too large", what);
	*number = n;
	return SS_OK;
}

enum ss_status cc_text_real(struct cc_text *text, const char *what) {
	char *end = NULL;
	if (!cc_text_blank(text))
		strtod(text->at, &end);
	if (!end || end == text->at)
		return cc_text_wrong(text, "%s: a number was expected", what);
	text->at = end;
	return is_over(text) ? SS_OK : cc_text_wrong(text, "%s: a number was expected", what);
}

enum ss_status cc_text_end(struct cc_text *text) {
	return cc_text_blank(text) ? SS_OK : cc_text_wrong(text, "the line goes on where it should end");
}

enum { NAME_SHOWN = 96 };

/* The end of a long name, with question marks for bytes that cannot be printed. */
static void name_show(const char *name, char shown[NAME_SHOWN + 1]) {
	size_t size = strlen(name), skip = size > NAME_SHOWN ? size - NAME_SHOWN : 0;
	memcpy(shown, name + skip, size - skip + 1);
	if (skip)
		memcpy(shown, "...", 3);
	for (char *c = shown; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
}

static enum ss_status wrong(const struct cc_text *text, int64_t line, const char *format, va_list ap) {
	char shown[NAME_SHOWN + 1], reason[256];
	name_show(text->name, shown);
	vsnprintf(reason, sizeof reason, format, ap);
	if (line)
		return kernel_fail(text->call, SS_INVALID, "%s line %lld: %s", shown, (long long)line, reason);
	return kernel_fail(text->call, SS_INVALID, "%s: %s", shown, reason);
}

enum ss_status cc_text_wrong(const struct cc_text *text, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	wrong(text, text->line, format, ap);
	va_end(ap);
	return SS_INVALID;
}

enum ss_status cc_file_wrong(const struct cc_text *text, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	wrong(text, 0, format, ap);
	va_end(ap);
	return SS_INVALID;
}

/* The last one reads all other files. */
static const struct cc_format *const cc_formats[] = {&cc_matrix_market, &cc_metis, &cc_serialized, &cc_edge_list};
enum { FORMATS = sizeof cc_formats / sizeof *cc_formats };

static bool format_fits(const struct cc_format *format, const char *path, const char *data, size_t size) {
	size_t length = strlen(path), extension = strlen(format->extension),
		   magic = format->magic ? strlen(format->magic) : 0;
	if (magic > 0 && size >= magic && memcmp(data, format->magic, magic) == 0)
		return true;
	return length >= extension && strcmp(path + length - extension, format->extension) == 0;
}

enum ss_status cc_file_parse(const char *path, const char *data, size_t size, const struct ss_call *call,
                             struct cc_pairs *pairs) {
	struct cc_text text = {data, data + size, 1, path, size, call};
	int format = 0;
	while (format < FORMATS - 1 && !format_fits(cc_formats[format], path, data, size))
		format++;
	enum ss_status status = cc_formats[format]->read(&text, pairs);
	if (status == SS_OK && pairs->n < 1)
		return cc_file_wrong(&text, "a graph without vertices");
	if (status == SS_NOMEM)
		return kernel_fail(call, SS_NOMEM, "no memory for the edges of a file of %zu bytes", size);
	return status;
}

/* Turns the word in `graph` into a graph. */

static const struct cc_generator *const generators[] = {&cc_kmer, &cc_rgg, &cc_queen, &cc_rmat};

const struct cc_generator *cc_generator_find(const char *name) {
	for (size_t i = 0; name && i < sizeof generators / sizeof *generators; i++)
		if (strcmp(generators[i]->name, name) == 0)
			return generators[i];
	return NULL;
}
