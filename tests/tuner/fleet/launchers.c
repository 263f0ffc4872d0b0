/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks every launcher of the registry: its table and its command lines; and how a line is split into words. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/mutate.h"
#include "tuner/fleet/launcher.h"
#include "tuner/program/program.h"

static const char WORKER[] = "/opt/a folder/sweetspot-worker";

static bool argv_has(const char *const *argv, const char *word) {
	for (; *argv; argv++)
		if (strcmp(*argv, word) == 0)
			return true;
	return false;
}

/* As the last word, before its mode, or in the line that a shell of the host runs. */
static bool worker_last(const char *const *argv) {
	const char *last = NULL, *before = NULL;
	for (; *argv; argv++) {
		before = last;
		last = *argv;
	}
	return last && (strcmp(last, WORKER) == 0 || strstr(last, WORKER) ||
	                (strcmp(last, "kept") == 0 && strcmp(before, WORKER) == 0));
}

static void test_probe(const struct launcher *launcher) {
	struct launcher_probe probe = {0};
	launcher->probe(&probe);
	ok(probe.usable ? !*probe.reason : *probe.reason && *probe.fix, "%s: usable, or a reason and a fix: %s",
	   launcher->name, probe.reason);
}

static const char *const HOSTS[] = {"h1", "me@h2", "h3", NULL};

static void test_lines(const struct launcher *launcher) {
	const struct launcher_settings settings = {.worker = WORKER, .hosts = HOSTS, .nodes = 3};
	struct err err = {0};
	int wrong = 0;
	struct launched *launched = launcher_open(launcher, &settings, &err);
	ok(launched && launched->count == 3, "%s: three nodes: %s", launcher->name, err.what);
	for (size_t i = 0; launched && i < launched->count; i++)
		wrong += !worker_last(launched->commands[i]);
	ok(wrong == 0, "%s: each line ends with the worker", launcher->name);
	launched_free(launched);
	const char *const host[] = {HOSTS[0], NULL};
	const struct launcher_settings one = {.worker = WORKER, .hosts = host};
	bool known = strcmp(launcher->name, "pbs") == 0; /* the nodes of its job */
	launched = launcher_open(launcher, &one, &err);
	ok(launched && launched->count == (known ? 3 : 1), "%s: %s", launcher->name,
	   known ? "all nodes by default" : "one node by default");
	launched_free(launched);
}

static void test_arguments(void) {
	static const char *const words[] = {"-p", "long queue", NULL};
	const struct launcher *slurm = launcher_find("slurm"), *local = launcher_find("local");
	const struct launcher_settings settings = {.worker = WORKER, .words = words};
	struct err err = {0};
	struct launched *launched = launcher_open(slurm, &settings, &err);
	const char *const *argv = launched ? launched->commands[0] : NULL;
	ok(argv && strcmp(argv[0], "srun") == 0 && argv_has(argv, "-p") && argv_has(argv, "long queue"),
	   "srun gets the user's words unchanged");
	ok(argv && argv_has(argv, "--exclusive") && !argv_has(argv, "-n1"), "a job has its node, and all CPUs of it");
	launched_free(launched);
	ok(!launcher_open(local, &settings, &err) && err.code == ERR_USAGE, "local takes no arguments: %s", err.what);
}

static void test_hosts(void) {
	static const char *const words[] = {"-p", "2222", NULL};
	static const char *const bad[] = {"-oProxyCommand=x", "", "a b", "$(id)", "a;b"};
	const struct launcher *ssh = launcher_find("ssh");
	const struct launcher_settings settings = {.worker = WORKER, .hosts = HOSTS, .words = words};
	struct err err = {0};
	int wrong = 0;
	struct launched *launched = launcher_open(ssh, &settings, &err);
	const char *const *argv = launched && launched->count == 3 ? launched->commands[1] : NULL;
	ok(argv && strcmp(argv[0], "ssh") == 0 && argv_has(argv, "me@h2") && argv_has(argv, "2222"),
	   "each host has a line, with the user's words");
	launched_free(launched);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const char *const hosts[] = {bad[i], NULL};
		const struct launcher_settings one = {.worker = WORKER, .hosts = hosts};
		struct err why = {0};
		wrong += launcher_open(ssh, &one, &why) || why.code != ERR_USAGE || !*why.hint;
	}
	ok(wrong == 0, "names that are options or code are refused");
	const struct launcher_settings more = {.worker = WORKER, .hosts = HOSTS, .nodes = 4};
	ok(!launcher_open(ssh, &more, &err) && err.code == ERR_USAGE, "more nodes than hosts: %s", err.what);
}

/* The messages were printed by OpenSSH 9.2, or stand in src/cmd/job/attach.c of flux-core. */
static void test_ends(void) {
	static const struct {
		const char *launcher, *said, *reason; /* NULL: the trial is to blame */
		bool outside;
	} ends[] = {
		{"ssh", "Connection to 127.0.0.1 closed by remote host.\n", "the connection was closed", true},
		{"ssh", "client_loop: send disconnect: Broken pipe\n", "the connection broke", true},
		{"ssh", "Timeout, server n1 not responding.\n", "the host does not answer any more", true},
		{"ssh", "sweetspot-worker: SIGSEGV (segmentation fault) in kernel fw\n", NULL, false},
		{"ssh", "", NULL, false},
		{"flux", "1.2s: job.exception f1 type=cancel severity=0 by me\n", "its job was cancelled", true},
		{"flux", "1.2s: job.exception f1 type=timeout severity=0 resource allocation expired\n",
	     "its job reached its time limit", true},
		{"flux", "flux-job: task(s) Killed\n", "its worker was killed", false},
		{"flux", "flux-job: task(s) Segmentation fault\n", NULL, false},
		{"flux", "the program printed type=cancel\n", NULL, false},
	};
	json_t *machine = json_object();
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const struct worker_end end = {.said = ends[i].said, .machine = machine};
		struct worker_loss loss = {0};
		bool lost = launcher_find(ends[i].launcher)->lost(&end, &loss);
		ok(lost == (ends[i].reason != NULL) && (!lost || strcmp(loss.reason, ends[i].reason) == 0) &&
		       loss.outside == ends[i].outside,
		   "%s, %.40s: %s", ends[i].launcher, *ends[i].said ? ends[i].said : "nothing",
		   lost ? loss.reason : "the trial's own");
	}
	json_decref(machine);
	for (const struct launcher *const *l = launcher_registry; *l; l++) {
		const struct worker_end end = {.said = "x\nHost key verification failed.\n"};
		struct worker_loss loss = {0};
		ok(!(*l)->lost || ((*l)->lost(&end, &loss) && loss.outside && strstr(loss.reason, "Host key")),
		   "%s: one that never answered was not ended by a trial: %s", (*l)->name, loss.reason);
	}
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

/* The file of a job of PBS names a node once for each process. */
static bool nodefile_make(char path[]) {
	static const char text[] = "p1\np1\np2\np3\np3\n";
	int fd = mkstemp(path);
	bool made = fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1;
	return fd >= 0 && close(fd) == 0 && made && setenv("PBS_NODEFILE", path, 1) == 0;
}

/* More nodes than any cluster has: they are refused before each is compared with all others. */
static void test_many_nodes(char path[]) {
	enum { LINES = 400000 };
	const struct launcher_settings settings = {.worker = WORKER};
	struct err err = {0};
	FILE *file = fopen(path, "w");
	for (int i = 0; file && i < LINES; i++)
		fprintf(file, "n%d\n", i);
	ok(file && fclose(file) == 0, "a file of %d nodes", LINES);
	ok(!launcher_open(launcher_find("pbs"), &settings, &err) && strstr(err.what, "more than"),
	   "a file of too many nodes is refused: %s", err.what);
}

static void test_mutations(void) {
	static const char hosts[] = "\0node1\nuser@node2\nssh://node3:2222",
					  words[] = "\1-p 22 -i \"a b\" -o 'User x' a\\ b";
	static const char said[] = "\2JobId=7 JobState=NODE_FAIL Reason=NodeDown ExitCode=0:9 State=DOWN*+DRAIN";
	mutate_all(hosts, sizeof hosts - 1, "-@:/%= \n\t\"'$`[]", 3000);
	mutate_all(words, sizeof words - 1, "-\"'\\ $`;|&<>()", 3000);
	mutate_all(said, sizeof said - 1, "=* +:", 3000);
}

int main(void) {
	test_mutations();
	char nodefile[] = "/tmp/sweetspot-nodefile-XXXXXX";
	unsetenv("SLURM_JOB_ID"); /* an allocation has the nodes that it has */
	ok(nodefile_make(nodefile), "a file of nodes");
	for (const struct launcher *const *l = launcher_registry; *l; l++) {
		ok(*(*l)->name && *(*l)->summary && launcher_find((*l)->name) == *l, "%s has a name of its own and a summary",
		   (*l)->name);
		test_probe(*l);
		test_lines(*l);
	}
	ok(!launcher_find("nowhere"), "an unknown launcher is not found");
	test_arguments();
	test_hosts();
	test_ends();
	test_many_nodes(nodefile);
	unlink(nodefile);
	test_round_trip();
	test_split();
	return tap_done();
}
