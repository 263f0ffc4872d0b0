/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/kernel/word.h"

#include <errno.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/text.h"
#include "worker/kernel/lines.h"

const char *const *word_split(struct arena *arena, const char *list, size_t *count) {
	char *text = arena_strdup(arena, list ? list : "");
	size_t commas = 0;
	for (const char *c = text; *c; c++)
		commas += *c == ',';
	const char **words = arena_alloc(arena, commas + 2, sizeof *words);
	*count = 0;
	for (char *save = NULL, *w = strtok_r(text, ", ", &save); w; w = strtok_r(NULL, ", ", &save))
		words[(*count)++] = w;
	return words;
}

int word_unknown(const char *word, const char *const *known, size_t count, const char *what, struct err *err) {
	const char *near = near_word(word, known, count);
	char all[400] = "";
	err_set(err, ERR_USAGE, count ? NULL : "there are none", "%s", what);
	if (near) {
		err_hint(err, "did you mean \"%s\"?", near);
	} else if (count) {
		for (size_t i = 0, used = 0; i < count && used < sizeof all; i++)
			used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", known[i]);
		err_hint(err, "there are: %s", all);
	}
	return -1;
}

int word_check_keys(const json_t *object, const char *const *known, size_t count, struct err *err) {
	js_members (key, json, object) {
		size_t i = 0;
		while (i < count && strcmp(known[i], key) != 0)
			i++;
		if (i == count) {
			char what[160];
			snprintf(what, sizeof what, "a request has no member \"%.100s\"", key);
			return word_unknown(key, known, count, what, err);
		}
	}
	return 0;
}

void word_clean(char *text, size_t size) {
	text[size - 1] = '\0';
	text_clean(text, false);
}

json_t *word_or_null(const char *text) {
	return text && text[0] ? json_string(text) : json_null();
}

json_t *word_clean_json(const char *text) {
	mem_auto char *copy = mem_strdup(text);
	word_clean(copy, strlen(copy) + 1);
	return word_or_null(copy);
}

struct lines {
	int fd;
	size_t limit;
	char *buffer;
	size_t capacity, used, taken; /* the last line took `taken` bytes at the start */
	bool end;
};

struct lines *lines_new(int fd, size_t limit) {
	struct lines *lines = mem_alloc(1, sizeof *lines);
	lines->fd = fd;
	lines->limit = limit;
	lines->capacity = 4096;
	lines->buffer = mem_alloc(lines->capacity, 1);
	return lines;
}

void lines_free(struct lines *lines) {
	if (lines) {
		free(lines->buffer);
		free(lines);
	}
}

static void lines_fill(struct lines *lines) {
	ssize_t got;
	if (lines->used == lines->capacity) {
		lines->capacity *= 2;
		lines->buffer = mem_grow(lines->buffer, lines->capacity, 1);
	}
	do {
		got = read(lines->fd, lines->buffer + lines->used, lines->capacity - lines->used);
	} while (got < 0 && errno == EINTR);
	lines->end = got <= 0;
	lines->used += got > 0 ? (size_t)got : 0;
}

static void lines_shift(struct lines *lines) {
	lines->used -= lines->taken;
	memmove(lines->buffer, lines->buffer + lines->taken, lines->used);
	lines->taken = 0;
}

enum lines_got lines_next(struct lines *lines, const char **line, size_t *size) {
	bool too_long = false;
	size_t seen = 0;
	lines_shift(lines);
	for (;;) {
		char *newline = memchr(lines->buffer + seen, '\n', lines->used - seen);
		*line = lines->buffer;
		*size = newline ? (size_t)(newline - lines->buffer) : lines->used;
		too_long = too_long || *size > lines->limit;
		if (newline || lines->end) {
			lines->taken = *size + (newline ? 1 : 0);
			break;
		}
		seen = lines->used;
		if (too_long)
			lines->used = seen = 0;
		lines_fill(lines);
	}
	if (too_long)
		return LINES_LONG;
	return lines->taken > 0 ? LINES_LINE : LINES_END;
}
