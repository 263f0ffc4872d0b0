/* SPDX-License-Identifier: BSD-3-Clause */
/* Text from outside made safe for terminals, JSON and markup. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Length of the UTF-8 sequence at text (1 to 4 bytes of the `size` available), 0 if it is malformed (RFC 3629). */
size_t text_utf8(const char *text, size_t size);
/* Is the UTF-8 sequence a control: C0, DEL, C1, or one that changes the direction of text? */
bool text_is_control(const char *text, size_t length);
/* Writes a character of at most three bytes as \u and its code point in four digits: \u202e. */
void text_code_point(FILE *out, const char *text, size_t length);
const char *text_base_name(const char *path); /* behind the last slash */
bool text_ends_with(const char *text, const char *end);
/* Is much of what is visible malformed UTF-8 or controls? Colours and a few words of another encoding are text. */
bool text_is_binary(const char *text, size_t size);
/* In place: control characters become spaces and malformed UTF-8 becomes '?'. lines: newlines and tabs stay. */
void text_clean(char *text, bool lines);
/* The entity that stands for a character in elements and attributes of HTML and XML; NULL if it stands for itself. */
const char *text_entity(char c);
void text_markup(FILE *out, const char *text); /* writes the text with entities */
#endif
