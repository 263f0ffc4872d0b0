/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/program/program_impl.h"

static void make_room(struct program_text *text, size_t more) {
	size_t need = text->size + more + 1;
	if (need <= text->room)
		return;
	text->room = need > 2 * text->room ? need : 2 * text->room;
	text->data = mem_grow(text->data, text->room, 1);
}

void program_text_add_part(struct program_text *text, const char *part, size_t size) {
	make_room(text, size);
	memcpy(text->data + text->size, part, size);
	text->size += size;
}

void program_text_add(struct program_text *text, const char *part) {
	program_text_add_part(text, part, strlen(part));
}

void program_text_printf(struct program_text *text, const char *format, ...) {
	va_list ap, again;
	va_start(ap, format);
	va_copy(again, ap);
	int size = vsnprintf(NULL, 0, format, ap);
	if (size > 0) {
		make_room(text, (size_t)size);
		vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
		text->size += (size_t)size;
	}
	va_end(again);
	va_end(ap);
}

char *program_text_detach(struct program_text *text) {
	make_room(text, 0);
	char *data = text->data;
	data[text->size] = '\0';
	*text = (struct program_text){0};
	return data;
}
