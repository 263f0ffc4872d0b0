/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines that a program prints for each run, "threads: 4 time: 1.23 s", are a table in other clothes. */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

enum { LINES_MOST = 2000, TOKENS_MOST = 40, LINES_LEAST = 3, BLOCK_MOST = 6 };

struct token {
	const char *text, *key, *unit; /* key: what stands before '=' or ':'; unit: what is glued to a number */
	bool number;
};
struct said { /* a line */
	struct token token[TOKENS_MOST];
	size_t count, line;
	char kinds[TOKENS_MOST + 1];
	const char *section; /* the comment above */
};
struct saying {
	struct arena *arena;
	struct said *lines;
	size_t count, room, all, sections;
	bool piped;
};

static bool is_end(char c) {
	return !c || strchr(" \t\r\n,;=:()[]", c);
}

/* Reads a number and the unit behind it without a blank, "1.23s" or "28.5[ms]", or a word. */
static const char *token_read(struct saying *saying, const char *at, struct token *token) {
	size_t length = strspn(at, "+-.") <= 1 ? strspn(at, "+-.") : 0, digits = 0;
	while (isdigit((unsigned char)at[length + digits]) ||
	       (digits && at[length + digits] && strchr(".,", at[length + digits]) &&
	        (at[length + digits] == '.' || isdigit((unsigned char)at[length + digits + 1]))))
		digits++;
	*token = (struct token){.key = "", .unit = ""};
	if (digits && isdigit((unsigned char)at[length])) {
		length += digits;
		if (strchr("eE", at[length]) && at[length] && strspn(at + length + 1, "+-0123456789"))
			length += 1 + strspn(at + length + 1, "+-0123456789");
		size_t unit = length + (at[length] == '['), end = unit;
		while (!is_end(at[end]))
			end++;
		token->number = !strpbrk(arena_printf(saying->arena, "%.*s", (int)(end - unit), at + unit), "0123456789");
		if (token->number) {
			while (length > 1 && at[length - 1] == '.')
				length--;
			token->text = arena_printf(saying->arena, "%.*s", (int)length, at);
			token->unit = arena_printf(saying->arena, "%.*s", (int)(end - unit), at + unit);
			return at + end + (at[end] == ']');
		}
	}
	for (length = 0; !is_end(at[length]);)
		length++;
	double seconds;
	token->text = arena_printf(saying->arena, "%.*s", (int)length, at);
	token->number = table_clock(token->text, &seconds); /* "0m1.2s" */
	return at + length;
}

/* Is a word a unit, or the name of something that one chooses? */
static bool is_unit(const char *word) {
	struct table_name name;
	table_name_read(word, &name);
	return *word && name.measure != MEASURE_NONE && !*name.base;
}

static bool is_named(const char *word) {
	return table_is_parameter(word) || table_is_problem(word);
}

/* "time: 4.2": the words since the last number or comma become the key of what follows, but not the word that belongs
 * to this number: "4 workers: 1.2 s". */
static void key_take(struct saying *saying, struct said *said, size_t from, struct token *token) {
	const char *key = "", *word = said->token[from].text;
	if (from && from + 1 == said->count && said->token[from - 1].number && (is_unit(word) || is_named(word)))
		return;
	for (size_t i = from; i < said->count; i++)
		key = arena_printf(saying->arena, "%s%s%s", key, *key ? " " : "", said->token[i].text);
	said->count = from;
	memset(said->kinds + from, 0, sizeof said->kinds - from);
	token->key = key;
}

static void line_read(struct saying *saying, struct said *said, const char *line) {
	size_t from = 0;
	bool keyed = false;
	for (const char *at = line; *at && said->count < TOKENS_MOST;) {
		size_t gap = strspn(at, " \t\r,;=:()[]");
		for (size_t i = 0; i < gap; i++) {
			bool ends = strchr(",;\t])", at[i]);
			keyed = strchr("=:", at[i]) ? said->count > from : keyed && !ends;
			from = ends ? said->count : from;
		}
		at += gap;
		if (!*at)
			break;
		struct token token;
		at = token_read(saying, at, &token);
		if (keyed)
			key_take(saying, said, from, &token);
		keyed = false;
		said->kinds[said->count] = token.number ? 'n' : 'w';
		said->token[said->count++] = token;
		from = token.number || *token.key ? said->count : from;
	}
}

/* The date and the time of day at the beginning of a line of a log. */
static size_t stamp_length(const char *line) {
	size_t length = 0, token;
	while ((token = strspn(line + length, "0123456789-/:.,TZ[]"))) {
		size_t marks = 0;
		for (size_t i = 0; i < token; i++)
			marks += strchr("-/:", line[length + i]) != NULL;
		if (marks < 2 || !strchr(" \t", line[length + token]))
			break;
		length += token + strspn(line + length + token, " \t");
	}
	return length;
}

static void saying_read(struct saying *saying, const char *text, size_t size) {
	char *copy = arena_printf(saying->arena, "%.*s", (int)size, text), *rest = copy;
	const char *section = "";
	size_t number = 0;
	for (char *line = strsep(&rest, "\n"); line && saying->count < LINES_MOST; line = strsep(&rest, "\n")) {
		number++;
		line += strspn(line, " \t\r");
		line += *line && strchr("+*-", *line) && line[1] == ' ' ? 2 : 0;
		line += stamp_length(line);
		saying->piped = saying->piped || strpbrk(line, "|&{<\"");
		if (!*line)
			continue;
		if (*line == '#') {
			section = line + strspn(line, "# ");
			saying->sections += saying->count > 0;
			continue;
		}
		saying->lines = mem_room(saying->lines, saying->count, &saying->room, sizeof *saying->lines);
		struct said *said = &saying->lines[saying->count++];
		*said = (struct said){.line = number, .section = section};
		line_read(saying, said, line);
	}
}

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

/* The unit of a number, glued to it or behind it. */
static const char *unit_of(const struct said *said, size_t at) {
	const struct token *token = &said->token[at];
	bool behind = !*token->unit && at + 1 < said->count && said->kinds[at + 1] == 'w' && !*said->token[at + 1].key;
	const char *unit = behind ? said->token[at + 1].text : token->unit;
	return is_unit(unit) ? unit : "";
}

/* Numbers of the lines, from 1 on, are not chosen. */
static bool is_counted(const struct saying *saying) {
	size_t i = 0;
	while (i < saying->count && strtoul(saying->lines[i].token[0].text, NULL, 10) == i + 1)
		i++;
	return i == saying->count;
}

/* The name of a number: the key before it, "time" by its unit, or the word behind or before it. NULL: nobody knows.
 */
static const char *name_of(const struct saying *saying, size_t at) {
	const struct said *said = &saying->lines[0];
	const char *unit = unit_of(said, at);
	struct table_name name;
	const char *behind = at + 1 < said->count && said->kinds[at + 1] == 'w' ? said->token[at + 1].text : "";
	const char *before = at && said->kinds[at - 1] == 'w' ? said->token[at - 1].text : "";
	char plain[TABLE_NAME];
	snprintf(plain, sizeof plain, "%.*s", (int)strcspn(behind, ".!"), behind);
	table_name_read(unit, &name);
	const char *key = said->token[at].key, *last = strrchr(key, ' ');
	if (*key)
		return last && is_named(last + 1) ? last + 1 : key;
	double seconds;
	if (table_clock(said->token[at].text, &seconds))
		return "time";
	if (*unit)
		return name.measure == MEASURE_TIME ? "time" : "rate";
	bool first = at == 0 && said->count > 1 && !is_counted(saying);
	return is_named(plain) ? arena_strdup(saying->arena, plain) : is_named(before) ? before : first ? "value" : NULL;
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
		if (!token_varies(saying, i) || (!number && i && said->kinds[i - 1] == 'n' && is_unit(said->token[i].text)))
			continue;
		const char *name = number ? name_of(saying, i) : *said->token[i].key ? said->token[i].key : "version";
		if (!name || (!number && columns->words++))
			return false;
		for (size_t k = 0; k < columns->count; k++)
			if (strcmp(columns->name[k], name) == 0)
				return false;
		columns->measured += number && (*unit_of(said, i) || table_is_measurement(name));
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
			const char *unit = said->token[columns->at[k]].number ? unit_of(said, columns->at[k]) : "";
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
