/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/dashes.h"

#include "base/mem.h"
#include "base/proc/path.h"
#include "tuner/program/program.h"

static bool is_program(const char *word) {
	struct err none = {0};
	char *path = *word == '-' || !*word ? NULL : program_path(word, NULL, &none);
	free(path);
	return path;
}

/* `tune` without anything to tune would be refused next. */
static bool needs_openmp(int words, char *const *argv) {
	static const char *const what[] = {"--openmp", "--param", "--regions", "--spec"};
	bool tunes = words > 1 && strcmp(argv[1], "tune") == 0;
	for (int i = 2; i < words && tunes; i++)
		for (size_t k = 0; k < sizeof what / sizeof *what; k++)
			tunes = tunes && strncmp(argv[i], what[k], strlen(what[k])) != 0;
	return tunes;
}

static bool is_suggested(const struct err *err) {
	return strstr(err->what, "two dashes") || strstr(err->hint, " -- ");
}

/* Does an option of one letter with a value attached follow the program, as -blur would be? */
static bool has_attached(int words, int argc, char *const *argv, const char *first) {
	bool after = false;
	for (int i = words; i < argc; i++) {
		if (after && argv[i][0] == '-' && argv[i][1] && argv[i][1] != '-' && argv[i][2])
			return true;
		after = after || strcmp(argv[i], first) == 0;
	}
	return false;
}

/* "--threads 4": what --openmp tunes are parameters and not options. */
static bool setting_suggest(struct err *err) {
	static const char unknown[] = "unknown option --";
	const char *name = strncmp(err->what, unknown, strlen(unknown)) == 0 ? err->what + strlen(unknown) : "";
	if (!config_is_setting(name))
		return false;
	err_hint(err, "with --openmp, --set %s=V keeps a value and --range %s=A,B,.. chooses those to try", name, name);
	return true;
}

void dashes_missed(int words, int argc, char *const *argv, const char *first, struct err *err) {
	size_t length = strlen(first);
	bool plugin = length > 3 && strcmp(first + length - 3, ".so") == 0;
	if (!plugin && !is_suggested(err) && has_attached(words, argc, argv, first) && is_program(first))
		dashes_suggest(words, argc, argv, err);
}

void dashes_suggest(int words, int argc, char *const *argv, struct err *err) {
	int first = words;
	if (words > 1 && strcmp(argv[1], "compare") == 0) {
		err_hint(err, "a program and its arguments are one word: sweetspot compare './a in.dat' './b in.dat'");
		return;
	}
	if (setting_suggest(err))
		return;
	while (first < argc && strcmp(argv[first], "--") != 0 && !is_program(argv[first]))
		first++;
	if (first == argc || strcmp(argv[first], "--") == 0)
		return;
	mem_auto char *line = mem_strdup("sweetspot");
	const char *dashes = needs_openmp(first, argv) ? " --openmp --" : " --";
	for (int i = 1; i < argc; i++) {
		mem_auto char *word = program_quote(argv[i]);
		mem_append(&line, "%s %s", i == first ? dashes : "", word);
	}
	err_hint(err, "write two dashes before a program: %s", line);
}
