/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names, literals and comments that C and C++ read alike. */
#ifndef TUNER_EXPORT_C_TEXT_H
#define TUNER_EXPORT_C_TEXT_H
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum c_type { C_INT, C_REAL, C_WORD };

enum c_type c_type_of(const json_t *value);
/* A member's name: no keyword, no macro of the compiler or of a usual header; none twice. Caller frees. */
char *c_member(const char *text, json_t *taken);
/* Of this type, whatever its own; value NULL: 0 or "". */
void c_literal(FILE *out, enum c_type type, const json_t *value);
void c_real(FILE *out, double value);
void c_comment(FILE *out, const char *text);

#endif
