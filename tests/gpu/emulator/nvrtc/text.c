/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/emulator/nvrtc/program.h"

bool text_add(struct text *text, const char *bytes, size_t size) {
	if (text->size + size + 1 > text->room) {
		size_t room = 2 * (text->size + size) + 256;
		char *more = realloc(text->bytes, room);
		if (!more)
			return false;
		text->bytes = more;
		text->room = room;
	}
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
	text->bytes[text->size] = '\0';
	return true;
}

bool text_print(struct text *text, const char *format, ...) {
	char line[4096];
	va_list ap;
	va_start(ap, format);
	int size = vsnprintf(line, sizeof line, format, ap);
	va_end(ap);
	return size >= 0 && size < (int)sizeof line && text_add(text, line, (size_t)size);
}

bool text_read(struct text *text, const char *path) {
	char bytes[65536];
	size_t got;
	FILE *file = fopen(path, "rbe");
	if (!file)
		return false;
	while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
		text_add(text, bytes, got);
	fclose(file);
	return text->bytes;
}

void text_free(struct text *text) {
	free(text->bytes);
	*text = (struct text){.bytes = NULL};
}
