/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <unistd.h>

#include "base/proc/proc.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/fleet/fleet_impl.h"

struct split {
	const char *at;
	char *word; /* the current word; NULL between words */
	size_t size, count;
	char **words;
};

static void put(struct split *split, char c) {
	split->word = mem_grow(split->word, split->size + 2, 1);
	split->word[split->size++] = c;
	split->word[split->size] = '\0';
}

/* Begins a word, which may stay empty (""). */
static void begin(struct split *split) {
	if (split->word)
		return;
	split->word = mem_alloc(1, 1);
	split->size = 0;
}

static void finish(struct split *split) {
	if (!split->word)
		return;
	split->words = mem_grow(split->words, split->count + 2, sizeof *split->words);
	split->words[split->count++] = split->word;
	split->words[split->count] = NULL;
	split->word = NULL;
}

static int refuse(char c, struct err *err) {
	return err_set(err, ERR_USAGE, "put it in quotes",
	               "'%c' must be quoted: the line is only split into words, as no shell runs it", c);
}

/* Reads the inside of double quotes; split->at is behind the opening one. */
static int quoted(struct split *split, struct err *err) {
	for (; *split->at && *split->at != '"'; split->at++) {
		if (*split->at == '$' || *split->at == '`')
			return refuse(*split->at, err);
		if (*split->at == '\\' && split->at[1] && strchr("\\\"$`\n", split->at[1]))
			split->at++;
		put(split, *split->at);
	}
	return *split->at ? 0 : err_set(err, ERR_USAGE, "close the quote", "a double quote is not closed");
}

static int literal(struct split *split, struct err *err) {
	for (; *split->at && *split->at != '\''; split->at++)
		put(split, *split->at);
	return *split->at ? 0 : err_set(err, ERR_USAGE, "close the quote", "a single quote is not closed");
}

static int step(struct split *split, struct err *err) {
	char c = *split->at++;
	if (strchr(" \t\n", c)) {
		finish(split);
		return 0;
	}
	if (strchr("$`;&|<>()", c))
		return refuse(c, err);
	begin(split);
	if (c == '"' || c == '\'') {
		int failed = c == '"' ? quoted(split, err) : literal(split, err);
		split->at += !failed;
		return failed;
	}
	if (c == '\\') {
		if (!*split->at)
			return err_set(err, ERR_USAGE, "remove it", "the line ends with a backslash");
		c = *split->at++;
	}
	put(split, c);
	return 0;
}

char **words_split(const char *line, struct err *err) {
	struct split split = {.at = line, .words = mem_alloc(1, sizeof(char *))};
	int failed = 0;
	while (*split.at && !failed)
		failed = step(&split, err);
	if (!failed) {
		finish(&split);
		return split.words;
	}
	free(split.word);
	words_free(split.words);
	return NULL;
}

void words_free(char **words) {
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}

void launched_add(struct launched *launched, const char *const *const *parts, size_t count) {
	size_t words = 0;
	mem_auto const char **command = NULL;
	for (size_t i = 0; i < count; i++)
		for (const char *const *word = parts[i]; word && *word; word++) {
			command = mem_grow(command, words + 1, sizeof *command);
			command[words++] = arena_strdup(launched->arena, *word);
		}
	const char **kept = arena_alloc(launched->arena, words + 1, sizeof *kept);
	memcpy(kept, command, words * sizeof *kept);
	launched->commands = mem_grow(launched->commands, launched->count + 1, sizeof *launched->commands);
	launched->commands[launched->count++] = kept;
}

void launched_add_all(struct launched *launched, const struct launcher_settings *settings,
                      const char *const *const *parts, size_t count) {
	do
		launched_add(launched, parts, count);
	while (launched->count < settings->nodes);
}

int launched_nodes_check(const struct launcher_settings *settings, struct err *err) {
	return settings->nodes > LAUNCH_NODES_MAX
	           ? err_set(err, ERR_USAGE, NULL, "at most %d nodes are possible", LAUNCH_NODES_MAX)
	           : 0;
}

struct launched *launcher_open(const struct launcher *launcher, const struct launcher_settings *settings,
                               struct err *err) {
	struct launched *launched = mem_alloc(1, sizeof *launched);
	launched->arena = arena_new();
	if (launcher->open(launched, settings, err) == 0)
		return launched;
	launched_free(launched);
	return NULL;
}

void launched_free(struct launched *launched) {
	if (!launched)
		return;
	arena_free(launched->arena);
	free(launched->commands);
	free(launched);
}

enum { OUTPUT_MAX = 64 << 10 };

/* Reads its output; *late: it did not end in time. */
static char *output_read(struct proc *proc, double seconds, int *late) {
	double deadline = sys_now() + seconds;
	char *text = mem_strdup(""), *line;
	size_t used = 0, size;
	enum proc_read got = PROC_EOF;
	while (used < OUTPUT_MAX && (got = proc_read(proc, deadline - sys_now(), NULL, &line, &size)) == PROC_LINE) {
		text = mem_grow(text, used + size + 2, 1);
		memcpy(text + used, line, size);
		used += size;
		text[used++] = '\n';
		text[used] = '\0';
	}
	*late = got != PROC_EOF;
	return text;
}

char *batch_command(const char *const *argv, double seconds, int *status, char *said, size_t size) {
	const struct proc_spec spec = {.argv = argv};
	struct err err = {0};
	struct proc *proc = proc_start(&spec, &err);
	int late;
	*status = -1;
	if (!proc) {
		if (said)
			snprintf(said, size, "%s", err.what);
		return mem_strdup("");
	}
	char *text = output_read(proc, seconds, &late);
	if (said)
		text_last_line(proc_stderr(proc), said, size);
	if (late && said && !*said)
		snprintf(said, size, "%s did not answer within %.3g s", argv[0], seconds);
	int ended = proc_stop(proc, late ? 0 : 1);
	*status = late ? -1 : ended;
	return text;
}

bool batch_command_found(const char *program) {
	const char *path = getenv("PATH");
	for (size_t length; path && *path; path += length + (path[length] == ':')) {
		length = strcspn(path, ":");
		mem_auto char *file = mem_printf("%.*s/%s", (int)length, path, program);
		bool found = access(file, X_OK) == 0;
		if (found)
			return true;
	}
	return false;
}

bool end_sign_find(const struct end_sign *signs, const char *text, char *reason, size_t size) {
	for (; signs->words; signs++) {
		const char *at = strstr(text, signs->words);
		if (!at)
			continue;
		at += signs->rest ? strlen(signs->words) : strlen(at);
		snprintf(reason, size, "%s%.*s", signs->reason, (int)strcspn(at, "\n"), at);
		return true;
	}
	return false;
}

/* The worker's own error tells more than what follows it: its hint, and the launcher's words about its end. */
static void never_started(const char *said, struct worker_loss *loss) {
	static const char own[] = "sweetspot-worker: error: ";
	const char *last = strrchr(said, '\n'), *error = strstr(said, own);
	while (last && last > said && !last[1])
		last = memrchr(said, '\n', (size_t)(last - said));
	snprintf(loss->reason, sizeof loss->reason, "the worker did not start: %.120s",
	         error  ? error + sizeof own - 1
	         : last ? last + 1
	                : said);
	loss->reason[strcspn(loss->reason, "\n")] = '\0';
}

bool end_lost(const struct worker_end *end, bool outside, bool killed, struct worker_loss *loss) {
	bool never = !end->machine;
	if (never && !outside && !killed)
		never_started(end->said, loss);
	loss->outside = outside || never;
	return outside || killed || never;
}
