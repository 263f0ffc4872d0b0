/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Follows the token recognition of the POSIX shell (XCU 2.3) as far as quoting goes. Constructs that shells read
 * differently, or whose end only a full parser finds, leave a doubt, and then nothing can be inserted any more. */
#include <ctype.h>

#include "base/json/js.h"
#include "tuner/program/program_impl.h"

static bool is_plain(const char *text) {
	return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                  "0123456789_-+=:,./@%")] == '\0';
}

char *program_quote(const char *text) {
	enum { LONGEST = 4 }; /* a quote becomes '\'' */
	if (is_plain(text))
		return mem_strdup(text);
	char *word = mem_alloc(strlen(text) + 1, LONGEST), *end = word;
	*end++ = '\'';
	for (; *text; text++)
		end = *text == '\'' ? stpcpy(end, "'\\''") : (*end = *text, end + 1);
	*end = '\'';
	return word;
}

char *program_join(const char *const *words, bool quoted) {
	char *line = mem_strdup("");
	for (const char *const *word = words; word && *word; word++) {
		mem_auto char *quote = quoted ? program_quote(*word) : NULL;
		mem_append(&line, "%s%s", word > words ? " " : "", quote ? quote : *word);
	}
	return line;
}

char *program_env_prefix(const json_t *unset, const json_t *set) {
	char *line = mem_strdup("");
	if (json_array_size(unset) || json_object_size(set))
		mem_append(&line, "env ");
	js_each (value, unset)
		mem_append(&line, "-u %s ", json_string_value(value));
	js_members (name, value, set) {
		mem_auto char *word = program_quote(json_string_value(value));
		mem_append(&line, "%s=%s ", name, word);
	}
	return line;
}

/* Contexts: a command, '..', "..", `..`, $'..', ${..}, $((..)). */
enum { COMMAND = 'c', SINGLE = 's', DOUBLE = 'd', BACKQUOTE = 'b', ANSI = 'q', PARAMETER = 'p', ARITHMETIC = 'a' };

static const char too_deep[] = "so many nested quotes";
static const char BLANKS[] = " \t\n", ENDS[] = " \t\n;&|()<>";

static char top(const struct shell_line *line) {
	return line->stack[line->depth];
}

static void push(struct shell_line *line, char context) {
	if (line->depth + 1 == SHELL_DEPTH) {
		line->doubt = too_deep;
		return;
	}
	line->stack[++line->depth] = context;
	line->parens[line->depth] = 0;
	line->word_starts = context == COMMAND;
}

static void pop(struct shell_line *line) {
	line->depth--;
	line->word_starts = false;
}

static bool starts(const char *text, size_t size, const char *with) {
	return size >= strlen(with) && strncmp(text, with, strlen(with)) == 0;
}

/* After "$"; these and the functions below return how much they have read. */
static size_t dollar_read(struct shell_line *line, const char *text, size_t size) {
	line->word_starts = false;
	if (starts(text, size, "$((")) {
		push(line, ARITHMETIC);
		return 3;
	}
	if (starts(text, size, "$(") || starts(text, size, "${")) {
		push(line, text[1] == '(' ? COMMAND : PARAMETER);
		return 2;
	}
	if (top(line) == COMMAND && starts(text, size, "$'")) {
		line->doubt = "$'..', which shells read differently,";
		push(line, ANSI);
		return 2;
	}
	if (starts(text, size, "$$(") || starts(text, size, "$${"))
		line->doubt = "$$( or $${, which shells read differently,";
	if (size > 1 && strchr("$?!#@*-0123456789", text[1]))
		return 2;
	line->dollar = SHELL_DOLLAR;
	return 1;
}

/* Reads a construct that has the same meaning unquoted, in ".." and in ${..}; returns 0 if it is another one. */
static size_t common_read(struct shell_line *line, const char *text, size_t size) {
	switch (*text) {
	case '\\':
		line->escaped = true;
		line->word_starts = false;
		return 1;
	case '`':
		push(line, BACKQUOTE);
		return 1;
	case '$':
		return dollar_read(line, text, size);
	default:
		return 0;
	}
}

static void paren_close(struct shell_line *line) {
	if (line->parens[line->depth] > 0)
		line->parens[line->depth]--;
	else if (line->depth > 0)
		pop(line);
}

static size_t operator_read(struct shell_line *line, const char *text, size_t size) {
	if (starts(text, size, "<<<"))
		return 3;
	if (starts(text, size, "<<")) {
		line->here_document = true;
		return 2;
	}
	if (starts(text, size, "(("))
		line->doubt = "((..)), which shells read differently,";
	if (*text == '(')
		line->parens[line->depth]++;
	else if (*text == ')')
		paren_close(line);
	else if (*text == '\n' && line->here_document)
		line->doubt = "a here-document";
	return 1;
}

static size_t command_read(struct shell_line *line, const char *text, size_t size) {
	line->letters = (line->word_starts || line->letters) && *text >= 'a' && *text <= 'z';
	size_t common = common_read(line, text, size);
	line->redirects = strchr("<>", *text) || (line->redirects && strchr(" \t&|", *text));
	if (common)
		return common;
	if (strchr(ENDS, *text)) {
		line->word_starts = true; /* unless it ends $(..), which is part of a word */
		return operator_read(line, text, size);
	}
	if (*text == '\'' || *text == '"')
		push(line, *text == '"' ? DOUBLE : SINGLE);
	else if (*text == '#' && line->word_starts)
		line->comment = true;
	else if (line->word_starts && line->depth > 0 && starts(text, size, "case") && (size == 4 || text[4] == ' '))
		line->doubt = "`case` inside $(..)";
	line->word_starts = false;
	return 1;
}

static size_t parameter_read(struct shell_line *line, const char *text, size_t size) {
	size_t common = common_read(line, text, size);
	if (common)
		return common;
	if (*text == '\'' || *text == '"')
		line->doubt = "quotes inside ${..}";
	else if (*text == '}')
		pop(line);
	return 1;
}

static size_t arithmetic_read(struct shell_line *line, const char *text, size_t size) {
	size_t common = common_read(line, text, size);
	if (common)
		return common;
	bool ends = line->parens[line->depth] == 0 && starts(text, size, "))");
	if (*text == '(')
		line->parens[line->depth]++;
	else if (ends)
		pop(line);
	else if (*text == ')' && line->parens[line->depth]-- == 0)
		line->doubt = "$((..) )";
	return ends ? 2 : 1;
}

static size_t double_read(struct shell_line *line, const char *text, size_t size) {
	size_t common = common_read(line, text, size);
	if (!common && *text == '"')
		pop(line);
	return common ? common : 1;
}

/* '..', $'..' and `..`, of which only the end matters. */
static size_t closed_read(struct shell_line *line, char end, const char *text) {
	if (*text == end)
		pop(line);
	else if (*text == '\\' && end != '\'')
		line->escaped = true;
	return 1;
}

static size_t one_read(struct shell_line *line, const char *text, size_t size) {
	if (line->escaped) {
		line->escaped = false;
		return 1;
	}
	if (top(line) != SINGLE && !line->comment && starts(text, size, "\\\n")) {
		if (!strchr(BLANKS, line->last))
			line->doubt = "a backslash at the end of a line, inside a word,";
		return 2;
	}
	if (line->comment) {
		line->comment = *text != '\n';
		line->word_starts = true;
		return *text == '\n' ? operator_read(line, text, size) : 1;
	}
	switch (top(line)) {
	case SINGLE:
	case ANSI: /* in doubt anyway */
		return closed_read(line, '\'', text);
	case BACKQUOTE:
		return closed_read(line, '`', text);
	case DOUBLE:
		return double_read(line, text, size);
	case PARAMETER:
		return parameter_read(line, text, size);
	case ARITHMETIC:
		return arithmetic_read(line, text, size);
	default:
		return command_read(line, text, size);
	}
}

static void dollar_go_on(struct shell_line *line, char letter) {
	if (line->dollar == SHELL_NAME && letter == '{' && top(line) == COMMAND)
		line->doubt = "$NAME and a brace, where bash adds letters to the name,";
	line->dollar = line->dollar && (letter == '_' || isalnum((unsigned char)letter)) ? SHELL_NAME : SHELL_NO_DOLLAR;
}

void shell_read(struct shell_line *line, const char *text, size_t size) {
	while (size) {
		dollar_go_on(line, *text);
		size_t length = one_read(line, text, size);
		line->last = starts(text, size, "\\\n") ? line->last : text[length - 1];
		text += length;
		size -= length;
	}
}

static const char *why_not(const struct shell_line *line) {
	static const struct {
		char context;
		const char *words;
	} refused[] = {{BACKQUOTE, "`..`"}, {ANSI, "$'..'"}, {PARAMETER, "${..}"}};
	if (line->doubt || line->comment || line->escaped)
		return line->doubt ? line->doubt : line->comment ? "#, a comment," : "a backslash";
	if (line->dollar != SHELL_NO_DOLLAR)
		return "the name of a variable";
	if (line->depth + 1 == SHELL_DEPTH) /* the value's own quotes need a level */
		return too_deep;
	for (int i = 0; i <= line->depth; i++)
		for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
			if (line->stack[i] == refused[k].context)
				return refused[k].words;
	return NULL;
}

/* Would digits in front of it name a file descriptor? More digits may come first, and a line that goes on. */
static bool takes_number(const char *next) {
	for (next += strspn(next, "0123456789"); starts(next, strlen(next), "\\\n"); next += strspn(next, "0123456789"))
		next += 2;
	return *next && strchr("<>", *next);
}

enum shell_place shell_place(struct shell_line *line, const char *next, const char **why) {
	bool alone = line->word_starts && !line->redirects && (!*next || strchr(ENDS, *next));
	line->letters |= line->word_starts;
	line->word_starts = line->redirects = false;
	*why = why_not(line);
	line->escaped = false;
	line->dollar = SHELL_NO_DOLLAR;
	line->last = '}';
	if (*why)
		return SHELL_NOWHERE;
	switch (top(line)) {
	case SINGLE:
		return SHELL_SINGLE;
	case DOUBLE:
		return SHELL_DOUBLE;
	case ARITHMETIC:
		return SHELL_NUMBER;
	default:
		if (takes_number(next))
			return SHELL_QUOTED;
		return alone ? SHELL_WORDS : line->letters ? SHELL_LETTERS : SHELL_WORD;
	}
}

/* Where a command can begin, a shell takes these words for its own. May the value be one, or a part of one? */
static bool is_reserved(const char *value, bool part) {
	static const char *const reserved[] = {"case",     "coproc", "do", "done",   "elif", "else",  "esac", "fi",   "for",
	                                       "function", "if",     "in", "select", "then", "until", "time", "while"};
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
		if (part ? strstr(reserved[i], value) != NULL : strcmp(reserved[i], value) == 0)
			return true;
	return false;
}

/* NAME=TEXT sets a variable, and bash splits at a comma in braces. */
static bool has_meaning(const char *word) {
	return is_reserved(word, false) || strpbrk(word, "=,");
}

/* A quote becomes '\''. */
static void single_add(char **out, const char *value) {
	for (; *value; value++)
		*value == '\'' ? mem_append(out, "'\\''") : mem_append(out, "%c", *value);
}

static void quoted_add(char **out, const char *value) {
	mem_append(out, "'");
	single_add(out, value);
	mem_append(out, "'");
}

static void word_add(char **out, const char *value) {
	if (has_meaning(value)) {
		quoted_add(out, value);
		return;
	}
	mem_auto char *word = program_quote(value);
	mem_append(out, "%s", word);
}

static void words_add(char **out, const char *value) {
	bool first = true;
	for (value += strspn(value, BLANKS); *value; value += strspn(value, BLANKS)) {
		size_t length = strcspn(value, BLANKS);
		mem_auto char *part = strndup(value, length);
		mem_append(out, first ? "" : " ");
		word_add(out, part);
		value += length;
		first = false;
	}
}

static void double_add(char **out, const char *value) {
	for (; *value; value++)
		mem_append(out, strchr("\\\"$`", *value) ? "\\%c" : "%c", *value);
}

static bool number_add(char **out, const char *value) {
	const char *digits = value + (*value == '-');
	if (!*digits || digits[strspn(digits, "0123456789")])
		return false;
	mem_append(out, "%s%s", *value == '-' ? " " : "", value); /* "x--1" would be x-- */
	return true;
}

bool shell_add(char **out, enum shell_place place, const char *value) {
	switch (place) {
	case SHELL_WORD:
		word_add(out, value);
		return true;
	case SHELL_LETTERS:
		is_reserved(value, true) ? quoted_add(out, value) : word_add(out, value);
		return true;
	case SHELL_WORDS:
		words_add(out, value);
		return true;
	case SHELL_QUOTED:
		quoted_add(out, value);
		return true;
	case SHELL_SINGLE:
		single_add(out, value);
		return true;
	case SHELL_DOUBLE:
		double_add(out, value);
		return true;
	case SHELL_NUMBER:
		return number_add(out, value);
	case SHELL_NOWHERE:
		break;
	}
	return false;
}
