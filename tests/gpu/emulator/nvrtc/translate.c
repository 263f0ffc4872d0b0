/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/gpu/emulator/nvrtc/program.h"

static bool is_word(char c) {
	return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_space(const char *at) {
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* Skips from an opening parenthesis to behind the closing one. */
static const char *skip_parentheses(const char *at) {
	int depth = 0;
	do {
		depth += (*at == '(') - (*at == ')');
	} while (*at++ && depth > 0);
	return at;
}

static size_t word_size(const char *at) {
	size_t size = 0;
	while (is_word(at[size]))
		size++;
	return size;
}

static bool word_is(const char *at, const char *word) {
	return word_size(at) == strlen(word) && strncmp(at, word, strlen(word)) == 0;
}

/* After a string or a character constant, or to the next character that begins neither. */
static const char *next(const char *at) {
	char quote = *at;
	if (is_word(*at))
		return at + word_size(at);
	if (quote != '"' && quote != '\'')
		return at + 1;
	for (at++; *at && *at != quote && *at != '\n'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

struct declared { /* __global__ ... name( */
	const char *name, *bound, *cluster;
	size_t name_size, bound_size, cluster_size;
};

/* The name is the word before the first parenthesis that is not an attribute's. */
static bool kernel_name(const char *at, struct declared *kernel) {
	*kernel = (struct declared){.name = NULL};
	for (at = skip_space(at); *at && *at != ';' && *at != '{'; at = skip_space(at)) {
		const char *word = at, *after = skip_space(at + word_size(at));
		size_t size = word_size(at);
		if (size == 0) {
			at++;
		} else if (*after != '(') {
			at = after;
		} else if (word_is(word, "__launch_bounds__")) {
			const char *end = skip_parentheses(after);
			kernel->bound = after;
			kernel->bound_size = (size_t)(end - after);
			at = end;
		} else if (word_is(word, "__cluster_dims__")) {
			const char *end = skip_parentheses(after);
			kernel->cluster = after;
			kernel->cluster_size = (size_t)(end - after);
			at = end;
		} else if (word_is(word, "__attribute__") || word_is(word, "__align__")) {
			at = skip_parentheses(after);
		} else {
			kernel->name = word;
			kernel->name_size = size;
			return true;
		}
	}
	return false;
}

/* A declaration that ends with ';' would give the table twice. */
static bool is_definition(const char *name) {
	const char *after = skip_space(skip_parentheses(skip_space(name + word_size(name))));
	return *after == '{';
}

/* Does an open brace before this place follow a list of parameters? */
static bool in_function(const char *begin, const char *at) {
	for (int depth = 0; at > begin; at--) {
		const char *before = at - 1;
		depth += at[-1] == '}' ? 1 : at[-1] == '{' ? -1 : 0;
		if (depth >= 0 || at[-1] != '{')
			continue;
		while (before > begin && isspace((unsigned char)before[-1]))
			before--;
		if (before > begin && before[-1] == ')')
			return true;
		depth = 0; /* of a namespace */
	}
	return false;
}

/* extern __shared__ [__align__(N)] T name[]; outside of functions it is an object that asks where the memory is. */
static const char *external_shared(const char *begin, const char *at, struct text *to) {
	const char *after = skip_space(at + strlen("extern"));
	if (!word_is(after, "__shared__"))
		return NULL;
	after = skip_space(after + strlen("__shared__"));
	while (word_is(after, "__align__") || word_is(after, "__attribute__") || word_is(after, "alignas"))
		after = skip_space(skip_parentheses(skip_space(after + word_size(after))));
	const char *end = strchr(after, ';'), *bracket = end ? memchr(after, '[', (size_t)(end - after)) : NULL;
	if (!bracket)
		return NULL;
	const char *name = bracket;
	while (name > after && isspace((unsigned char)name[-1]))
		name--;
	const char *name_end = name;
	while (name > after && is_word(name[-1]))
		name--;
	int type = (int)(name - after), size = (int)(name_end - name);
	if (in_function(begin, at))
		text_print(to, "%.*s *const %.*s = (%.*s *)ss_emulated_dynamic();", type, after, size, name, type, after);
	else
		text_print(to, "static const ss_dynamic<%.*s> %.*s{};", type, after, size, name);
	return end + 1;
}

/* True if `template` stands between the end of the last statement and the word at place. */
static bool in_template(const char *begin, const char *at) {
	while (at > begin && at[-1] != ';' && at[-1] != '}' && at[-1] != '{')
		if (word_is(--at, "template") && (at == begin || !is_word(at[-1])))
			return true;
	return false;
}

static void add_kernel(struct text *tables, const char *begin, const char *at) {
	struct declared kernel;
	if (in_template(begin, at) || !kernel_name(at + strlen("__global__"), &kernel) || !is_definition(kernel.name))
		return;
	text_print(tables, "SS_EMULATED_KERNEL(%.*s, %.*s, %.*s, %.*s)\n", (int)kernel.name_size, kernel.name,
	           kernel.bound ? (int)kernel.bound_size : 3, kernel.bound ? kernel.bound : "(0)",
	           kernel.cluster ? (int)kernel.cluster_size : 3, kernel.cluster ? kernel.cluster : "(0)",
	           (int)kernel.name_size, kernel.name);
}

bool translate(struct program *program, const struct text *from, struct text *to) {
	struct text tables = {.bytes = NULL};
	text_add(&tables, "\n", 1);
	for (const char *at = from->bytes; *at;) {
		const char *after = word_is(at, "extern") ? external_shared(from->bytes, at, to) : NULL;
		if (!after) {
			if (word_is(at, "__global__"))
				add_kernel(&tables, from->bytes, at);
			after = next(at);
			text_add(to, at, (size_t)(after - at));
		}
		at = after;
	}
	for (int i = 0; i < program->expression_count; i++) {
		snprintf(program->lowered[i], sizeof program->lowered[i], "expression_%d", i);
		text_print(&tables, "SS_EMULATED_KERNEL(%s, (0), (0), (%s))\n", program->lowered[i], program->expressions[i]);
	}
	text_add(&tables, "SS_EMULATED_MODULE\n", strlen("SS_EMULATED_MODULE\n"));
	bool fine = to->bytes && tables.bytes && text_add(to, tables.bytes, tables.size);
	text_free(&tables);
	return fine;
}
