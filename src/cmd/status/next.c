/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suggestions for the next command: the first rules that apply give the one or two that are shown. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/status/state.h"
#include "tuner/fleet/words.h"
#include "tuner/program/program.h"

enum { NEXT_MAX = 2, OLD_DAYS = 90 };

struct next {
	json_t *list;
	const char *store; /* quoted for a shell, or NULL */
};

/* Takes ownership of `command`. */
static void next_add(struct next *next, char *command, const char *why) {
	if (json_array_size(next->list) < NEXT_MAX)
		json_array_append_new(next->list, json_pack("{s:s,s:s}", "command", command, "why", why));
	free(command);
}

/* Adds the option --store if the user gave it. */
static char *in_store(const struct next *next, const char *command) {
	return next->store ? mem_printf("%s --store %s", command, next->store) : mem_strdup(command);
}

static void next_plain(struct next *next, const char *command, const char *why) {
	next_add(next, in_store(next, command), why);
}

static void kernel_add(struct next *next, const char *before, const json_t *entry, const char *why) {
	char *word = program_quote(js_string_or(entry, "kernel", "?")), *command = mem_printf("%s %s", before, word);
	const char *device = js_string_or(entry, "device", "cpu");
	char *whole = strcmp(device, "cpu") != 0 ? mem_printf("%s --device %s", command, device) : mem_strdup(command);
	next_plain(next, whole, why);
	free(whole);
	free(command);
	free(word);
}

/* Quotes each word of `line` anew and puts `begin` in front, because a store may come from somebody else, and the user
 * will type what is shown. NULL if the line is more than a list of words for a shell. The caller frees it. */
static char *words_again(const char *line, const char *begin) {
	struct err ignored = {0};
	char **words = words_split(line, &ignored);
	char *again = words ? program_join((const char *const *)words, true) : NULL, *whole = NULL;
	if (again && *again)
		whole = mem_printf("%s %s", begin, again);
	free(again);
	words_free(words);
	return whole;
}

/* Suggests the same `sweetspot tune` command with --resume. */
static void unfinished_next(struct next *next, const json_t *state) {
	static const char begin[] = "sweetspot tune ";
	const json_t *search = json_array_get(json_object_get(state, "unfinished"), 0);
	const char *command = js_string_or(search, "command", "");
	if (!search || strncmp(command, begin, sizeof begin - 1) != 0 || json_is_true(json_object_get(state, "measuring")))
		return;
	bool has = strstr(command, " --resume") != NULL;
	char *again = words_again(command + sizeof begin - 1, has ? "sweetspot tune" : "sweetspot tune --resume");
	if (again)
		next_add(next, again, "continues the interrupted search");
}

/* Finds the first entry in that state. */
static const json_t *tuned_find(const json_t *state, const char *word) {
	size_t i;
	json_t *entry;
	json_array_foreach(json_object_get(state, "tuned"), i, entry) {
		if (strcmp(js_string_or(entry, "state", ""), word) == 0)
			return entry;
	}
	return NULL;
}

static void again_next(struct next *next, const json_t *entry, const char *why) {
	if (!entry)
		return;
	if (!js_bool_or(entry, "program", false)) {
		kernel_add(next, "sweetspot tune", entry, why);
		return;
	}
	static const char begin[] = "sweetspot tune ";
	const char *command = js_string_or(entry, "command", "");
	bool known = strncmp(command, begin, sizeof begin - 1) == 0;
	char *again = known ? words_again(command + sizeof begin - 1, "sweetspot tune") : NULL;
	if (again)
		next_add(next, again, why);
}

static bool has_command(const char *name) {
	for (const struct cmd *const *cmd = cmd_registry; *cmd; cmd++)
		if (strcmp((*cmd)->name, name) == 0)
			return true;
	return false;
}

static void good_next(struct next *next, const json_t *state) {
	const json_t *entry = tuned_find(state, "current");
	if (!entry)
		return;
	kernel_add(next, "sweetspot explain", entry, "explains why its best configuration wins");
	if (has_command("report"))
		next_plain(next, "sweetspot report -o report.html", "shows all results on one page");
	else
		next_plain(next, "sweetspot export --format env", "writes the settings for programs and job scripts");
}

static void ceilings_next(struct next *next, const json_t *state) {
	const json_t *ceilings = json_object_get(state, "ceilings");
	if (!js_bool_or(ceilings, "measured", false))
		next_add(next, mem_strdup("sweetspot machine --ceilings"),
		         "measures the limits of this machine, in half a minute");
	else if (js_real_or(ceilings, "age_s", 0) > OLD_DAYS * 86400.0)
		next_add(next, mem_strdup("sweetspot machine --ceilings"), "its ceilings were measured long ago");
}

static void first_next(struct next *next) {
	next_plain(next, "sweetspot tune --openmp -- ./app in.dat",
	           "finds and proves the best settings for your own program");
	next_plain(next, "sweetspot tune fw --budget 30s", "does the same for a built-in kernel");
}

void state_next(json_t *state, const char *store) {
	char *quoted = store ? program_quote(store) : NULL;
	struct next next = {.list = json_array(), .store = quoted};
	const char *word = js_string_or(json_object_get(state, "store"), "state", "");
	if (strcmp(word, "unusable") == 0) {
		next_add(&next, mem_strdup("sweetspot doctor"), "checks for other problems");
	} else {
		unfinished_next(&next, state);
		again_next(&next, tuned_find(state, "stale"), "it has changed since it was tuned");
		again_next(&next, tuned_find(state, "other build"), "it was tuned with another compiler or other flags");
		if (!json_array_size(json_object_get(state, "tuned")) && !json_array_size(next.list))
			first_next(&next);
		ceilings_next(&next, state);
		good_next(&next, state);
	}
	json_object_set_new(state, "next", next.list);
	free(quoted);
}
