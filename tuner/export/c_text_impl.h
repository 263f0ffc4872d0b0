/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names, literals and comments that mean the same in C and C++. */
#ifndef TUNER_EXPORT_C_TEXT_IMPL_H
#define TUNER_EXPORT_C_TEXT_IMPL_H
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum c_type { C_INT, C_REAL, C_WORD };

enum c_type c_type_of(const json_t *value);
/* The name of a member, which is neither a keyword nor a macro of the compiler or a standard header, and is not in
 * `taken`. The caller frees it. */
char *c_member(const char *text, json_t *taken);
/* Writes the value as this type; value NULL: 0 or "". */
void c_literal(FILE *out, enum c_type type, const json_t *value);
void c_real(FILE *out, double value);
void c_comment(FILE *out, const char *text);

#endif
