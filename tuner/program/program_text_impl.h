/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A growing string. Initialise with {0}. */
#ifndef TUNER_PROGRAM_PROGRAM_TEXT_IMPL_H
#define TUNER_PROGRAM_PROGRAM_TEXT_IMPL_H
#include <stddef.h>

struct program_text {
	char *data;
	size_t size, room;
};

void program_text_add_part(struct program_text *text, const char *part, size_t size);
void program_text_add(struct program_text *text, const char *part);
void program_text_printf(struct program_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *program_text_detach(struct program_text *text); /* never NULL; caller frees; the text is empty afterwards */
#endif
