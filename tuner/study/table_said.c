/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words and the numbers of lines that a program prints. */
#include <ctype.h>

#include "tuner/study/table_said_impl.h"

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
	for (length = 0; !is_end(at[length]) || strncmp(at + length, "::", 2) == 0;) /* "std::mutex" */
		length += at[length] == ':' ? 2 : 1;
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
	char english[TABLE_NAME];
	table_translate(word, english);
	return table_is_parameter(english) || table_is_problem(english);
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
		if (marks < 2 || !strchr(" \t", line[length + token]) || line[length] == '-')
			break;
		length += token + strspn(line + length + token, " \t");
	}
	return length;
}

/* "**Time:**" and "```cpp" of Markdown. */
static void marks_strip(char *line) {
	char *to = line;
	for (char *at = strncmp(line, "```", 3) == 0 ? line + strlen(line) : line; *at; at++)
		if (*at != '*' && *at != '`')
			*to++ = *at;
	*to = '\0';
}

/* Leaves out the marks of a heading, "=== mutex ===" or "--- 4 threads ---", or one below a rule. */
static bool heading_take(char **line, bool *ruled) {
	static const char marks[] = "#=- \r";
	bool heading = strchr("#=", **line) || strncmp(*line, "---", 3) == 0 || *ruled;
	*line += heading ? strspn(*line, marks) : 0;
	for (size_t length = strlen(*line); heading && length && strchr(marks, (*line)[length - 1]);)
		(*line)[--length] = '\0';
	*ruled = heading && !**line;
	return heading;
}

void saying_read(struct saying *saying, const char *text, size_t size) {
	char *copy = arena_printf(saying->arena, "%.*s", (int)size, text), *rest = copy;
	const char *section = "";
	size_t number = 0;
	bool ruled = false;
	for (char *line = strsep(&rest, "\n"); line && saying->count < LINES_MOST; line = strsep(&rest, "\n")) {
		number++;
		line += strspn(line, " \t\r");
		line += *line && strchr("+*-", *line) && line[1] == ' ' ? 2 : 0;
		if (saying->log)
			marks_strip(line);
		line += stamp_length(line);
		saying->piped = saying->piped || strpbrk(line, saying->log ? "|&" : "|&{<\"");
		if (!*line)
			continue;
		bool heading = saying->log && heading_take(&line, &ruled);
		if (!*line)
			continue;
		if (*line == '#' && !heading) {
			section = line + strspn(line, "# ");
			saying->sections += saying->count > 0;
			continue;
		}
		saying->lines = mem_room(saying->lines, saying->count, &saying->room, sizeof *saying->lines);
		struct said *said = &saying->lines[saying->count++];
		*said = (struct said){.line = number, .section = heading ? line : section, .heading = heading};
		for (const char *at = line; (at = strpbrk(at, ",;\t")); at++)
			said->marks++;
		line_read(saying, said, line);
	}
}

/* The unit of a number, glued to it or behind it. */
const char *said_unit(const struct said *said, size_t at) {
	const struct token *token = &said->token[at];
	bool behind = !*token->unit && at + 1 < said->count && said->kinds[at + 1] == 'w' && !*said->token[at + 1].key;
	const char *unit = behind ? said->token[at + 1].text : token->unit;
	return is_unit(unit) ? unit : "";
}

/* The name of a number: the key before it, "time" by its unit, or the word behind or before it. NULL: nobody knows. */
const char *said_name(struct arena *arena, const struct said *said, size_t at) {
	const char *unit = said_unit(said, at);
	struct table_name name;
	const char *behind = at + 1 < said->count && said->kinds[at + 1] == 'w' ? said->token[at + 1].text : "";
	const char *before = at && said->kinds[at - 1] == 'w' ? said->token[at - 1].text : "";
	const char *plain = arena_printf(arena, "%.*s", (int)strcspn(behind, ".!"), behind);
	table_name_read(unit, &name);
	const char *key = said->token[at].key, *last = strrchr(key, ' ');
	if (*key)
		return last && is_named(last + 1) ? last + 1 : key;
	double seconds;
	if (table_clock(said->token[at].text, &seconds))
		return "time";
	if (*unit)
		return name.measure == MEASURE_TIME ? "time" : "rate";
	return is_named(plain) ? plain : is_named(before) ? before : NULL;
}
