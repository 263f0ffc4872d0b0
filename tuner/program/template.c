/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/program/template.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "tuner/program/program.h"
#include "tuner/program/shell.h"
#include "tuner/program/text.h"

/* The next brace that may open a name; *size is the length of its content. NULL: there is none. */
static const char *brace_find(const char *text, size_t *size) {
	while (*text) {
		size_t run = strspn(text, "{");
		if (run == 1) {
			*size = strcspn(text + 1, "{}");
			if (*size && text[1 + *size] == '}')
				return text;
		}
		text += run ? run : *text == '$' && text[1] == '{' ? 2 : 1;
	}
	return NULL;
}

static bool is_name(const char *name, const char *inside, size_t size) {
	return strlen(name) == size && memcmp(name, inside, size) == 0;
}

static const char *name_find(const struct template_names *names, const char *inside, size_t size) {
	for (size_t i = 0; i < names->count; i++)
		if (is_name(names->list[i], inside, size))
			return names->list[i];
	return NULL;
}

bool template_is_identifier(const char *text) {
	if (!*text || isdigit((unsigned char)*text))
		return false;
	for (; *text; text++)
		if (*text != '_' && !(isascii((unsigned char)*text) && isalnum((unsigned char)*text)))
			return false;
	return true;
}

/* Built-in names need a closer match than the user's own, so that programs whose own braces begin like one are not
 * refused. */
static const char *near_find(const struct template_names *names, const char *word) {
	const char *near = near_word(word, names->list, names->own);
	if (near)
		return near;
	near = near_word(word, names->list + names->own, names->count - names->own);
	return near && strlen(word) + 1 >= strlen(near) ? near : NULL;
}

static int near_check(const struct template_names *names, const char *inside, size_t size, struct err *err) {
	char *word = mem_printf("%.*s", (int)size, inside);
	const char *near = template_is_identifier(word) ? near_find(names, word) : NULL;
	if (near) {
		err_set(err, ERR_USAGE, NULL, "{%s} is not a parameter of this program", word);
		err_hint(err, "did you mean {%s}?", near);
	}
	free(word);
	return near ? -1 : 0;
}

int template_check(const char *text, const struct template_names *names, struct err *err) {
	size_t size;
	while (text && (text = brace_find(text, &size))) {
		if (!name_find(names, text + 1, size) && near_check(names, text + 1, size, err))
			return -1;
		text += size + 2;
	}
	return 0;
}

char *template_stranger(const char *text, const struct template_names *names) {
	size_t size;
	while (text && (text = brace_find(text, &size))) {
		char *word = mem_printf("%.*s", (int)size, text + 1);
		if (template_is_identifier(word) && !name_find(names, text + 1, size))
			return word;
		free(word);
		text += size + 2;
	}
	return NULL;
}

bool template_mentions(const char *text, const char *name) {
	size_t size;
	while (text && (text = brace_find(text, &size))) {
		if (is_name(name, text + 1, size))
			return true;
		text += size + 2;
	}
	return false;
}

bool template_expands(const char *text, const char *name) {
	size_t length = strlen(name);
	for (const char *c = text; c && (c = strchr(c, '$')); c++) {
		const char *start = c + 1 + (c[1] == '{');
		if (strncmp(start, name, length) == 0 && !isalnum((unsigned char)start[length]) && start[length] != '_')
			return true;
	}
	return false;
}

/* The next brace that holds a known name. */
static const char *hole_find(const char *text, const struct template_names *names, size_t *size) {
	while ((text = brace_find(text, size)) && !name_find(names, text + 1, *size))
		text += *size + 2;
	return text;
}

/* Matches greedily: on a mismatch only the last hole grows by a character. Earlier holes never need another try,
 * because the text between holes is fixed and its first occurrence leaves the most for the rest. */
bool template_fits(const char *template, const struct template_names *names, const char *text) {
	const char *after = NULL, *taken = NULL;
	size_t size = 0;
	for (const char *hole = hole_find(template, names, &size);;) {
		if (template == hole) {
			after = template += size + 2;
			taken = text;
			hole = hole_find(after, names, &size);
		} else if (*template && *template == *text) {
			template ++;
			text++;
		} else if (!*template && !*text) {
			return true;
		} else if (after && *taken) {
			template = after;
			text = ++taken;
		} else {
			return false;
		}
	}
}

static void value_add(struct program_text *out, enum shell_place place, const struct shell_line *line, const char *word,
                      bool *fits) {
	if (line)
		*fits = shell_add(out, place, word);
	else
		program_text_add(out, word);
}

/* Only values of the user's may become several words: a folder with a blank in its name is one. */
static enum shell_place place_of(struct shell_line *line, const struct template_names *names, const char *name,
                                 const char *next) {
	const char *why;
	enum shell_place place = shell_place(line, next, &why);
	for (size_t i = names->own; place == SHELL_WORDS && i < names->count; i++)
		if (names->list[i] == name)
			return SHELL_WORD;
	return place;
}

char *template_fill(const char *text, const struct template_names *names, template_value *value, const void *ctx,
                    bool shell, const char **missing) {
	struct program_text out = {0};
	struct shell_line state = SHELL_LINE, *line = shell ? &state : NULL;
	enum shell_place place = SHELL_WORD;
	size_t size;
	for (const char *hole; (hole = hole_find(text, names, &size)); text = hole + size + 2) {
		const char *name = name_find(names, hole + 1, size);
		char *word = value(ctx, name);
		bool fits = word;
		program_text_add_part(&out, text, (size_t)(hole - text));
		if (line) {
			shell_read(line, text, (size_t)(hole - text));
			place = place_of(line, names, name, hole + size + 2);
		}
		if (word)
			value_add(&out, place, line, word, &fits);
		free(word);
		if (!fits) {
			*missing = name;
			free(program_text_detach(&out));
			return NULL;
		}
	}
	program_text_add(&out, text);
	return program_text_detach(&out);
}

int template_shell_check(const char *text, const struct template_names *names, struct err *err) {
	struct shell_line line = SHELL_LINE;
	size_t size;
	for (const char *hole; text && (hole = hole_find(text, names, &size)); text = hole + size + 2) {
		const char *why;
		shell_read(&line, text, (size_t)(hole - text));
		if (shell_place(&line, hole + size + 2, &why) == SHELL_NOWHERE)
			return err_set(err, ERR_USAGE, "assign it to a variable of the shell first: X={NAME}; then use \"$X\"",
			               "{%.*s} cannot be filled in safely inside or after %s", (int)size, hole + 1, why);
	}
	return 0;
}
