/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/program/line_name.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"

static const char blanks[] = " \t\n", ends[] = " \t\n;&|()<>";
/* These run the program that follows them, and these only prepare for the next command. */
static const char *const wrappers[] = {"env",   "time", "nice",    "exec",    "command",
                                       "nohup", "sudo", "taskset", "numactl", NULL};
static const char *const before[] = {"cd", "export", "set",  "ulimit", "umask", "source",
                                     ".",  "module", "test", "[",      NULL};

static bool is_among(const char *word, const char *const *words) {
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

/* Reads a word without its quotes; *line is behind it then. */
static char *word_read(const char **line) {
	size_t size = 0;
	char *word = mem_alloc(strlen(*line) + 1, 1), quote = '\0';
	for (; **line && (quote || !strchr(ends, **line)); ++*line) {
		if (!quote && (**line == '\'' || **line == '"'))
			quote = **line;
		else if (**line == quote)
			quote = '\0';
		else
			word[size++] = **line;
	}
	return word;
}

bool program_word_assigns(const char *word) {
	size_t length = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
	return length > 0 && word[length] == '=' && !(*word >= '0' && *word <= '9');
}

/* "-n", "5", "0-3,8": what a wrapper is told. */
static bool is_told(const char *word) {
	return *word == '-' || (*word && strspn(word, "0123456789,-:") == strlen(word));
}

const char *program_line_command(const char *line) {
	bool assigns = true;
	while (assigns) {
		line += strspn(line, blanks);
		const char *rest = line;
		char *word = word_read(&rest);
		assigns = program_word_assigns(word);
		free(word);
		line = assigns ? rest : line;
	}
	return line;
}

char *program_line_name(const char *line) {
	const char *at = line;
	char *first = NULL;
	bool wrapped = false, preparing = false;
	while (*at) {
		at += strspn(at, blanks);
		if (*at && strchr(ends, *at)) { /* the next command */
			at++;
			wrapped = preparing = false;
			continue;
		}
		char *word = word_read(&at), *slash = strrchr(word, '/'), *name = slash && slash[1] ? slash + 1 : word;
		bool skip = !*word || preparing || program_word_assigns(word) || (wrapped && is_told(word)) ||
		            strcmp(word, "{") == 0 || strcmp(word, "!") == 0;
		if (!skip && is_among(name, before))
			skip = preparing = true;
		if (!skip && is_among(name, wrappers))
			skip = wrapped = true;
		if (!first && *word)
			first = mem_strdup(name);
		if (!skip) {
			name = mem_strdup(name);
			free(first);
			free(word);
			return name;
		}
		free(word);
	}
	return first ? first : mem_strdup("");
}
