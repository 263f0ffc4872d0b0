/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks every launcher of the registry: its table and its command lines; and how a line is split into words. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/tap.h"
#include "tuner/fleet/launcher.h"
#include "tuner/fleet/words.h"
#include "tuner/program/program.h"

static const char WORKER[] = "/opt/a folder/sweetspot-worker";

static bool argv_has(const char *const *argv, const char *word) {
	for (; *argv; argv++)
		if (strcmp(*argv, word) == 0)
			return true;
	return false;
}

static bool worker_last(const char *const *argv) {
	const char *last = NULL;
	for (; *argv; argv++)
		last = *argv;
	return last && strcmp(last, WORKER) == 0;
}

static void test_probe(const struct launcher *launcher) {
	struct launcher_probe probe = {0};
	launcher->probe(&probe);
	ok(probe.usable ? !*probe.reason : *probe.reason && *probe.fix, "%s: usable, or a reason and a fix: %s",
	   launcher->name, probe.reason);
}

static void test_lines(const struct launcher *launcher) {
	const struct launcher_settings settings = {.worker = WORKER, .nodes = 3};
	struct err err = {0};
	size_t nodes = 0;
	int wrong = 0;
	void *state = launcher->open(&settings, &nodes, &err);
	ok(state && nodes == 3, "%s: three nodes: %s", launcher->name, err.what);
	for (size_t i = 0; state && i < nodes; i++)
		wrong += !worker_last(launcher->argv(state, i));
	ok(wrong == 0, "%s: each line ends with the worker", launcher->name);
	if (state)
		launcher->close(state, false);
	const struct launcher_settings one = {.worker = WORKER};
	state = launcher->open(&one, &nodes, &err);
	ok(state && nodes == 1, "%s: one node by default", launcher->name);
	if (state)
		launcher->close(state, false);
}

static void test_arguments(void) {
	static const char *const words[] = {"-p", "long queue", NULL};
	const struct launcher *slurm = launcher_find("slurm"), *local = launcher_find("local");
	const struct launcher_settings settings = {.worker = WORKER, .words = words};
	struct err err = {0};
	size_t nodes;
	void *state = slurm->open(&settings, &nodes, &err);
	const char *const *argv = state ? slurm->argv(state, 0) : NULL;
	ok(argv && strcmp(argv[0], "srun") == 0 && argv_has(argv, "-p") && argv_has(argv, "long queue"),
	   "srun gets the user's words unchanged");
	ok(argv && argv_has(argv, "--exclusive") && !argv_has(argv, "-n1"), "a job has its node, and all CPUs of it");
	if (state)
		slurm->close(state, false);
	ok(!local->open(&settings, &nodes, &err) && err.code == ERR_USAGE, "local takes no arguments: %s", err.what);
}

/* Words made of everything that a shell might interpret survive quoting and splitting. */
static void test_round_trip(void) {
	static const char alphabet[] = "ab -=/'\"\\$`;&|<>()*?#~\t{}";
	struct rng rng;
	int wrong = 0;
	rng_seed(&rng, 3);
	for (int turn = 0; turn < 500; turn++) {
		char texts[4][12];
		const char *words[5] = {NULL};
		for (int i = 0; i < 4; i++) {
			size_t length = rng_below(&rng, 11);
			for (size_t k = 0; k < length; k++)
				texts[i][k] = alphabet[rng_below(&rng, sizeof alphabet - 1)];
			texts[i][length] = '\0';
			words[i] = texts[i];
		}
		struct err err = {0};
		char *line = program_join(words, true), **split = words_split(line, &err);
		size_t same = 0;
		while (split && same < 4 && split[same] && strcmp(split[same], words[same]) == 0)
			same++;
		wrong += !split || same != 4 || split[4];
		words_free(split);
		free(line);
	}
	ok(wrong == 0, "500 lines are split as a shell would: %d are not", wrong);
}

static void test_split(void) {
	static const char *const refused[] = {"$HOME", "`id`", "a;b", "a|b", "\"$x\"", "\"open", "'open", "a\\", "a>b"};
	int wrong = 0;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct err err = {0};
		char **words = words_split(refused[i], &err);
		wrong += words || err.code != ERR_USAGE || !*err.hint;
		words_free(words);
	}
	ok(wrong == 0, "text that a shell would run or expand is refused");
	struct err err = {0};
	char **words = words_split("  -p  'a b'\\''c' \"\" x\"y\\\"z\"  ", &err);
	ok(words && words[0] && strcmp(words[0], "-p") == 0 && strcmp(words[1], "a b'c") == 0 &&
	       strcmp(words[2], "") == 0 && strcmp(words[3], "xy\"z") == 0 && !words[4],
	   "quotes, backslashes and empty words");
	words_free(words);
	words = words_split(" \t ", &err);
	ok(words && !words[0], "no words");
	words_free(words);
}

int main(void) {
	unsetenv("SLURM_JOB_ID"); /* an allocation has the nodes that it has */
	for (const struct launcher *const *l = launcher_registry; *l; l++) {
		ok(*(*l)->name && *(*l)->summary && launcher_find((*l)->name) == *l, "%s has a name of its own and a summary",
		   (*l)->name);
		test_probe(*l);
		test_lines(*l);
	}
	ok(!launcher_find("nowhere"), "an unknown launcher is not found");
	test_arguments();
	test_round_trip();
	test_split();
	return tap_done();
}
