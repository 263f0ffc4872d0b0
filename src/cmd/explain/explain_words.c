/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suggested commands contain names from a store, which cannot be trusted. Therefore no shell sees them, and only
 * commands that measure a built-in kernel are run. */
#include "base/mem.h"
#include "src/cmd/explain/explain_probe_impl.h"
#include "tuner/fleet/fleet_words.h"

enum { WORDS_MAX = 256 };

static const char *const commands[] = {"sweep", "compare", "run", "machine", NULL};
static const char *const with_value[] = {"--over",      "--counters", "--size",   "--set",  "--samples", "--pairs",
                                         "--max-pairs", "--store",    "--device", "--seed", NULL};
static const char *const without_value[] = {"--ceilings", NULL};

static bool is_among(const char *word, const char *const *list) {
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

/* NULL also for too many words; there is room for two more. */
static char **split(const char *command) {
	char **words = words_split(command, NULL);
	size_t count = 0;
	while (words && words[count])
		count++;
	if (count <= WORDS_MAX)
		return words ? mem_grow(words, count + 3, sizeof *words) : NULL;
	words_free(words);
	return NULL;
}

static bool is_setting(const char *word) {
	return *word != '-' && strchr(word, '=') && *word != '=';
}

/* Checks the arguments that follow the command and the kernel. */
static bool arguments_fit(char *const *words) {
	for (; *words; words++) {
		bool valued = is_among(*words, with_value);
		if (valued && (!words[1] || *words[1] == '-'))
			return false;
		if (!valued && !is_among(*words, without_value) && !is_setting(*words))
			return false;
		words += valued;
	}
	return true;
}

static bool is_built_in(struct app *app, const char *name) {
	const struct kernel_list *kernels = app_kernels(app, NULL);
	return kernels && kernel_list_find(kernels, name, app_device_kind(app), NULL);
}

/* Turns "run K P=V .." into "sweep K .. --over P=V", because only stored results can be explained. */
static void run_to_sweep(char **words) {
	char **setting = NULL;
	size_t count = 0;
	for (; words[count]; count++)
		if (count > 1 && is_setting(words[count]) && !is_among(words[count - 1], with_value) &&
		    (!setting || strncmp(words[count], "threads=", 8) == 0))
			setting = &words[count];
	if (!setting)
		return;
	char *over = *setting;
	memmove(setting, setting + 1, (size_t)(&words[count] - setting) * sizeof *words);
	words[count - 1] = mem_strdup("--over");
	words[count] = over;
	words[count + 1] = NULL;
	free(words[0]);
	words[0] = mem_strdup("sweep");
}

char **explain_words(struct app *app, const char *command, struct err *err) {
	char **words = split(command);
	bool good = words && words[0] && strcmp(words[0], "sweetspot") == 0 && words[1] && is_among(words[1], commands);
	bool kernel = good && strcmp(words[1], "machine") != 0;
	if (good && kernel)
		good = words[2] && is_built_in(app, words[2]) && arguments_fit(words + 3);
	else if (good)
		good = arguments_fit(words + 2);
	if (!good) {
		words_free(words);
		err_set(err, ERR_USAGE, NULL, "a probe does not run this command");
		return NULL;
	}
	free(words[0]);
	for (char **word = words; *word; word++)
		word[0] = word[1];
	if (strcmp(words[0], "run") == 0)
		run_to_sweep(words);
	return words;
}
