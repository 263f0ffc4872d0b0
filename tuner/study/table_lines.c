/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines that a program prints for each run, "threads: 4 time: 1.23 s", are a table in other clothes. */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "tuner/study/table_said_impl.h"

enum { LINES_LEAST = 3, BLOCK_MOST = 6 };
static bool is_like(const struct said *a, const struct said *b) {
	bool like = a->count && strcmp(a->kinds, b->kinds) == 0;
	for (size_t i = 0; i < a->count && like; i++)
		like = strcmp(a->token[i].key, b->token[i].key) == 0;
	return like;
}

/* "Threads: 4" above "Time: 1.2 s", again and again, is one line for each. */
static void blocks_join(struct saying *saying) {
	size_t period = 2, kept = 0;
	for (; period <= BLOCK_MOST; period++) {
		size_t i = 0;
		while (i + period < saying->count && is_like(&saying->lines[i], &saying->lines[i + period]) &&
		       strcmp(saying->lines[i].section, saying->lines[i - i % period].section) == 0)
			i++;
		if (i + period == saying->count && saying->count % period == 0 &&
		    !is_like(&saying->lines[0], &saying->lines[1]))
			break;
	}
	if (period > BLOCK_MOST || saying->count < LINES_LEAST * period)
		return;
	for (size_t i = 0; i < saying->count; i += period) {
		struct said *block = &saying->lines[kept++];
		*block = saying->lines[i];
		for (size_t k = 1; k < period; k++)
			for (size_t t = 0; t < saying->lines[i + k].count && block->count < TOKENS_MOST; t++) {
				block->kinds[block->count] = saying->lines[i + k].kinds[t];
				block->token[block->count++] = saying->lines[i + k].token[t];
			}
	}
	saying->count = kept;
}

/* "mutex: 412 ms", "spinlock: 288 ms": what stands before each number is the name of a version. */
static void keys_split(struct saying *saying) {
	bool split = saying->count >= LINES_LEAST;
	for (size_t i = 0; i < saying->count && split; i++) {
		const struct said *said = &saying->lines[i];
		split = said->count && said->count < TOKENS_MOST && said->token[0].number && *said->token[0].key;
		for (size_t k = 0; k < i && split; k++)
			split = strcmp(saying->lines[k].token[0].key, said->token[0].key) != 0;
	}
	for (size_t i = 0; i < saying->count && split; i++) {
		struct said *said = &saying->lines[i];
		memmove(said->token + 1, said->token, said->count * sizeof *said->token);
		memmove(said->kinds + 1, said->kinds, said->count);
		said->token[0] = (struct token){.text = said->token[1].key, .key = "", .unit = ""};
		said->token[1].key = "";
		said->kinds[0] = 'w';
		said->count++;
	}
}

/* Keeps the lines of the kind that most have; false unless these are nearly all, and the first one among them. */
static bool alike_keep(struct saying *saying) {
	size_t best = 0, most = 0, kept = 0;
	for (size_t i = 0; i < saying->count && i < TOKENS_MOST; i++) {
		size_t like = 0;
		for (size_t k = 0; k < saying->count; k++)
			like += is_like(&saying->lines[i], &saying->lines[k]);
		best = like > most ? i : best;
		most = like > most ? like : most;
	}
	if (most < LINES_LEAST || 4 * most < 3 * saying->count || best > 0)
		return false;
	struct said first = saying->lines[best];
	for (size_t i = 0; i < saying->count; i++)
		if (is_like(&first, &saying->lines[i]))
			saying->lines[kept++] = saying->lines[i];
	saying->count = kept;
	return true;
}

/* "1 thread" and "2 threads" have the same word. */
static bool token_varies(const struct saying *saying, size_t at) {
	const char *first = saying->lines[0].token[at].text;
	size_t i = 1, length = strlen(first) - (*first && first[strlen(first) - 1] == 's');
	for (bool same = true; i < saying->count && same; i += same) {
		const char *other = saying->lines[i].token[at].text;
		same = strcmp(other, first) == 0 ||
		       (!saying->lines[0].token[at].number && length > 1 && strncmp(other, first, length) == 0 &&
		        strlen(other) <= length + 1 && (!other[length] || other[length] == 's'));
	}
	return i < saying->count;
}

/* Numbers of the lines, from 1 on, are not chosen. */
static bool is_counted(const struct saying *saying) {
	size_t i = 0;
	while (i < saying->count && strtoul(saying->lines[i].token[0].text, NULL, 10) == i + 1)
		i++;
	return i == saying->count;
}

/* The same in the first line, where a number at the beginning may be the value. */
static const char *name_of(const struct saying *saying, size_t at) {
	const struct said *said = &saying->lines[0];
	const char *name = said_name(saying->arena, said, at);
	return !name && at == 0 && said->count > 1 && !is_counted(saying) ? "value" : name;
}

struct columns {
	size_t at[TOKENS_MOST], count, words, measured;
	const char *name[TOKENS_MOST];
};

/* Numbers with a name, and at most one word that differs; false if a number that differs has no name. */
static bool columns_find(const struct saying *saying, struct columns *columns) {
	const struct said *said = &saying->lines[0];
	for (size_t i = 0; i < said->count; i++) {
		bool number = said->kinds[i] == 'n';
		if (!token_varies(saying, i) ||
		    (!number && i && said->kinds[i - 1] == 'n' && strcmp(said_unit(said, i - 1), said->token[i].text) == 0))
			continue;
		const char *name = number ? name_of(saying, i) : *said->token[i].key ? said->token[i].key : "version";
		if (!name || (!number && columns->words++))
			return false;
		for (size_t k = 0; k < columns->count; k++)
			if (strcmp(columns->name[k], name) == 0)
				return false;
		columns->measured += number && (*said_unit(said, i) || table_is_measurement(name));
		columns->at[columns->count] = i;
		columns->name[columns->count++] = name;
	}
	return columns->measured && columns->count > 1;
}

/* The lines as a table of tabs, on the lines that they have; a comment above some of them is a section. */
static void table_write(const struct saying *saying, const struct columns *columns, FILE *out) {
	size_t line = 0;
	fprintf(out, "%s", saying->sections ? "section\t" : "");
	for (size_t k = 0; k < columns->count; k++)
		fprintf(out, "%s%s", k ? "\t" : "", columns->name[k]);
	for (size_t i = 0; i < saying->count; i++) {
		const struct said *said = &saying->lines[i];
		for (putc('\n', out), line++; line + 1 < said->line; line++)
			putc('\n', out);
		fprintf(out, "%s%s", saying->sections ? said->section : "", saying->sections ? "\t" : "");
		for (size_t k = 0; k < columns->count; k++) {
			const char *unit = said->token[columns->at[k]].number ? said_unit(said, columns->at[k]) : "";
			fprintf(out, "%s%s%s%s", k ? "\t" : "", said->token[columns->at[k]].text, *unit ? " " : "", unit);
		}
	}
	putc('\n', out);
}

char *table_lines_plain(const char *text, size_t size, size_t *plain_size) {
	struct saying saying = {.arena = arena_new()};
	struct columns columns = {.count = 0};
	char *plain = NULL;
	saying_read(&saying, text, size);
	blocks_join(&saying);
	keys_split(&saying);
	if (!saying.piped && alike_keep(&saying) && columns_find(&saying, &columns)) {
		FILE *out = open_memstream(&plain, plain_size);
		if (out) {
			table_write(&saying, &columns, out);
			fclose(out);
		}
	}
	free(saying.lines);
	arena_free(saying.arena);
	return plain;
}
