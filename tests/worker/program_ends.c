/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that fail, hang, flood, hide and run away: each is a typed result, and nothing of them is left. Deadlines
 * end a test that would hang; nothing is measured. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/proc/reap.h"
#include "base/sys.h"
#include "tests/worker/program_fixture.h"

static void nap(void) {
	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* Within a minute. */
static bool becomes_free(const char *path) {
	for (int i = 0; i < 6000 && !unlocked(path); i++)
		nap();
	return unlocked(path);
}

static bool appears(const char *path) {
	for (int i = 0; i < 6000 && access(path, F_OK) != 0; i++)
		nap();
	return access(path, F_OK) == 0;
}

static void check_status(struct fixture *f) {
	answers(client_ask(f->client, RUN "\"echo first >&2; echo last words >&2; echo >&2; exit 3\"]}", f->home),
	        "runtime", "exit status 3: last words", "the status and the last words of a program");
	answers(client_ask(f->client, RUN "\"printf 'start\\n---\\nreason\\n\\nadvice\\n---\\n' >&2; exit 3\"]}", f->home),
	        "runtime", "exit status 3: reason", "the first line of words that are framed by lines of dashes");
	answers(client_ask(f->client, RUN "\"exit 139\"]}", f->home), "runtime", "128 + SIGSEGV", "a shell's 139");
	answers(client_ask(f->client, APP "\"crash\"]}", f->home, f->app), "runtime",
	        "killed by SIGSEGV (segmentation fault): about to crash", "a crash, which dumps no core");
	answers(client_ask(f->client, "{\"op\":\"program\",\"cwd\":\"/\",\"argv\":[\"./no-such-program\"]}"), "runtime",
	        "cannot run ./no-such-program: No such file", "a program that does not exist is a failure");
	answers(client_ask(f->client, "{\"op\":\"program\",\"argv\":[\"/\"]}"), "runtime", "cannot run /: Permission",
	        "a folder cannot be run as a program");
	answers(client_ask(f->client, "{\"op\":\"program\",\"argv\":[\"true\"],\"cwd\":\"/no/folder\"}"), "runtime",
	        "cannot enter the folder /no/folder", "a folder that isn't there");
	answers(client_ask(f->client, RUN "\"true\"],\"input\":\"no.dat\"}", f->home), "runtime", "no.dat: No such file",
	        "an input that isn't there");
	answers(client_ask(f->client, RUN "\"true\"],\"input\":\"/\"}", f->home), "runtime", "Is a directory",
	        "an input that is a folder");
}

static void check_timeout(struct fixture *f) {
	answers(client_ask(f->client, RUN "\"sleep 1000\"],\"timeout_s\":0.2}", f->home), "timeout", "0.2 s",
	        "a program that hangs is stopped");
	answers(client_ask(f->client, RUN "\"trap '' TERM; while :; do sleep 1000; done\"],\"timeout_s\":0.2}", f->home),
	        "timeout", "0.2 s", "a program that hangs and ignores SIGTERM is stopped");
	answers(client_ask(f->client,
	                   RUN "\"trap 'echo saved >saved; exit 0' TERM; while :; do sleep 0.01; done\"],"
	                       "\"timeout_s\":0.2}",
	                   f->home),
	        "timeout", "", "a program that hangs and tidies up on SIGTERM is stopped");
	char *path = mem_printf("%s/saved", f->home);
	ok(access(path, F_OK) == 0, "a program has the time to tidy up on SIGTERM");
	free(path);
	answers(client_ask(f->client, RUN "\"sleep 1000\"],\"left_s\":0.2,\"timeout_s\":1000}", f->home), "timeout",
	        "timed out after 0.", "all runs together have an end, too");
	answers(client_ask(f->client, RUN "\"sleep 1000\"],\"left_s\":0.2}", f->home), "timeout", "timed out after 0.",
	        "the end of all runs holds without a limit for one run");
	answers(client_ask(f->client, RUN "\"true\"],\"before\":\"sleep 1000\",\"left_s\":0.2}", f->home), "timeout",
	        "before the run: timed out after 0.", "the end of all runs ends a command before a run");
	answers(client_ask(f->client, RUN "\"true\"],\"verify\":\"sleep 1000\",\"left_s\":0.2}", f->home), "timeout",
	        "verify: timed out after 0.", "the end of all runs ends a command that verifies");
	answers(client_ask(f->client, RUN "\"true\"],\"before\":\"sleep 1000\",\"side_s\":0.2}", f->home), "runtime",
	        "before the run: timed out after 0.2 s", "a command before a run has a limit of its own");
	answers(client_ask(f->client, RUN "\"true\"],\"verify\":\"sleep 1000\",\"side_s\":0.2,\"left_s\":1000}", f->home),
	        "correctness", "verify: timed out after 0.2 s",
	        "a command that verifies and exceeds its limit rejects the output");
	answers(client_ask(f->client, RUN "\"kill -STOP $$\"],\"timeout_s\":0.2}", f->home), "timeout", "",
	        "a program that stops itself times out");
}

static void check_flood(struct fixture *f, const char *where) {
	answers(client_ask(f->client, APP "\"flood\",\"%s\"],\"timeout_s\":0.3,\"hash\":true,\"metric\":\"y=([0-9])\"}",
	                   f->home, f->app, where),
	        "timeout", "", where);
}

/* The largest resident set of the worker so far, in bytes. */
static double worker_peak(struct fixture *f) {
	char path[64], line[256];
	double peak = NAN;
	snprintf(path, sizeof path, "/proc/%d/status", client_pid(f->client));
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "VmHWM: %lf", &peak) == 1)
			peak *= 1024;
	if (file)
		fclose(file);
	return peak;
}

static void check_floods(struct fixture *f) {
	double before = worker_peak(f);
	check_flood(f, "out");
	check_flood(f, "err");
	check_flood(f, "both");
	check_flood(f, "line");
	double grown = worker_peak(f) - before;
#if defined(__SANITIZE_ADDRESS__)
	double most = 200e6;
#else
	double most = 8e6 + SYS_OUTPUT_HELD;
#endif
	ok(grown < most, "the worker's memory stays bounded (%g bytes more)", grown);
}

static void check_strays(struct fixture *f) {
	char *lock = file_path(f, "lock");
	json_t *answer = client_ask(f->client, APP "\"leave\",\"%s\"],\"samples\":3}", f->home, f->app, lock);
	ok(unlocked(lock), "a program's leftovers have ended when the answer comes");
	ok(json_array_size(path_get(answer, "samples")) == 3, "a program's leftovers do not fail it");
	json_decref(answer);
	answers(client_ask(f->client, APP "\"leave\",\"%s\",\"stay\"],\"timeout_s\":1}", f->home, f->app, lock), "timeout",
	        "", "a whole tree that hangs");
	ok(unlocked(lock), "a whole tree that hangs is gone at its timeout");
	answers(client_ask(f->client, APP "\"leave\",\"%s\",\"deaf\"],\"timeout_s\":1}", f->home, f->app, lock), "timeout",
	        "", "a whole tree that ignores SIGTERM is stopped");
	ok(unlocked(lock), "a whole tree that ignores SIGTERM is gone at its timeout");
	answers(client_ask(f->client, RUN "\"true\"],\"before\":\"'%s' leave '%s'\",\"verify\":\"'%s' leave '%s'\"}",
	                   f->home, f->app, lock, f->app, lock),
	        "correct", "", "commands around a run may leave processes");
	ok(unlocked(lock), "what commands around a run left has ended");
	free(lock);
}

static void check_runaway(struct fixture *f) {
	char *lock = file_path(f, "lock");
	json_t *answer = client_ask(f->client, APP "\"run-away\",\"%s\"]}", f->home, f->app, lock);
	ok(answer && unlocked(lock), "processes that run away are caught");
	json_decref(answer);
	answer = client_ask(f->client, APP "\"multiply\",\"%s\"],\"timeout_s\":0.3}", f->home, f->app, lock);
	ok(answer && unlocked(lock), "sixty that each start others in sessions of their own, too");
	json_decref(answer);
	free(lock);
}

static void check_group(struct fixture *f) {
	int pid = client_pid(f->client);
	answers(client_ask(f->client, RUN "\"kill -KILL 0\"]}", f->home), "runtime", "SIGKILL", "kill 0 ends the program");
	answers(client_ask(f->client, RUN "\"kill -TERM 0; sleep 100\"]}", f->home), "runtime", "SIGTERM",
	        "whatever signal");
	ok(kill(pid, 0) == 0 && pid == client_pid(f->client), "kill 0 of a program does not end the worker");
}

static void check_file(struct fixture *f) {
	answers(client_ask(f->client, APP "\"grow\",\"big\"],\"file_limit\":3000000}", f->home, f->app), "runtime",
	        "grew over the limit of 3000000 bytes", "a file without end is stopped");
	struct stat there = {.st_size = 0};
	char *path = mem_printf("%s/big", f->home);
	ok(stat(path, &there) == 0 && there.st_size > 2900000 && there.st_size <= 3000000, "at the limit");
	unlink(path);
	free(path);
	answers(client_ask(f->client, RUN "\"'%s' grow big; exit $?\"],\"file_limit\":3000000}", f->home, f->app),
	        "runtime", "grew over the limit", "inside a shell, too");
	json_t *answer = client_ask(f->client, RUN "\"ulimit -f; ulimit -c\"],\"verify\":\"cat >limits\"}", f->home);
	json_decref(answer);
	path = file_path(f, "limits");
	FILE *file = fopen(path, "r");
	char line[80] = "";
	ok(file && fgets(line, sizeof line, file) && strtod(line, NULL) > 0,
	   "a limit on files is there without being asked for");
	ok(file && fgets(line, sizeof line, file) && strcmp(line, "0\n") == 0, "a program may not leave a core");
	if (file)
		fclose(file);
	free(path);
}

static void check_censored(struct fixture *f) {
	json_t *answer = client_ask(f->client, RUN "\"sleep 0.02\"],\"samples\":5,\"limit_s\":0.001}", f->home);
	is_text(text_of(answer, "status"), "censored", "a program that can't win is cut short");
	ok(json_array_size(path_get(answer, "samples")) == 3, "after the sample that decides it");
	json_decref(answer);
	answer = client_ask(f->client, RUN "\"sleep 1000\"],\"samples\":5,\"cut_s\":0.1,\"timeout_s\":30}", f->home);
	is_text(text_of(answer, "status"), "censored", "a program that goes on for too long is not waited for");
	ok(json_array_size(path_get(answer, "samples")) == 0 && *text_of(answer, "message"),
	   "a program that is cut does not give a sample");
	json_decref(answer);
	answers(client_ask(f->client, RUN "\"sleep 1000\"],\"cut_s\":30,\"timeout_s\":0.2}", f->home), "timeout", "",
	        "a timeout that comes first is one");
	answers(client_ask(f->client, RUN "\"sleep 0.02; echo 7\"],\"limit_s\":0.001,\"metric\":\"[0-9]+\"}", f->home),
	        "correct", "", "time is not limited if a metric counts");
}

static void check_litter(struct fixture *f) {
	answers(client_ask(f->client, APP "\"litter\"]}", f->home, f->app), "correct", "", "a folder full");
	ok(no_scratch(f), "a folder full of leftover files is removed");
	ok(access("/bin/sh", X_OK) == 0, "the targets of links in leftover files stay");
}

static void send_request(struct fixture *f, const char *line) {
	client_send(f->client, line, strlen(line));
	client_send(f->client, "\n", 1);
}

/* End of input: the worker gives up at once, although the program would go on. */
static void check_abandoned(struct fixture *f) {
	char *lock = file_path(f, "lock"), *ready = mem_printf("%s/ready", f->home);
	char *line = mem_printf(APP "\"leave\",\"%s\",\"deaf\"]}", f->home, f->app, lock);
	unlink(ready);
	send_request(f, line);
	send_request(f, line); /* which must not be begun */
	ok(appears(ready), "a program runs");
	unlink(ready);
	int status = client_stop(f->client);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the end of input ends the worker in order");
	ok(unlocked(lock) && no_scratch(f) && access(ready, F_OK) != 0,
	   "the end of the worker leaves neither processes nor scratch");
	f->client = client_start("sweetspot-worker", 0);
	free(line);
	free(lock);
	free(ready);
}

/* The tuner's last resort: it kills the worker, whose programs then come here. */
static void check_killed(struct fixture *f) {
	char *lock = file_path(f, "lock"), *ready = mem_printf("%s/ready", f->home);
	char *line = mem_printf(APP "\"leave\",\"%s\",\"deaf\"]}", f->home, f->app, lock);
	ok(reap_adopt() == 0, "orphans come to this process");
	unlink(ready);
	send_request(f, line);
	ok(appears(ready) && !unlocked(lock), "a program runs");
	kill(client_pid(f->client), SIGKILL);
	client_stop(f->client);
	ok(reap_strays(30, NULL) == 0 && unlocked(lock), "a program whose worker was killed is killed by the parent");
	ok(!no_scratch(f), "a killed worker's scratch can't be gone");
	f->client = client_start("sweetspot-worker", 0);
	answers(client_ask(f->client, RUN "\"true\"]}", f->home), "correct", "", "the next worker works");
	ok(no_scratch(f), "the next worker removes the scratch of a killed one");
	free(line);
	free(lock);
	free(ready);
}

/* The tuner is killed, so only the worker is left to clean up. */
static void check_orphaned(struct fixture *f) {
	char *lock = file_path(f, "lock"), *ready = mem_printf("%s/ready", f->home);
	char *line = mem_printf(APP "\"leave\",\"%s\",\"deaf\"]}", f->home, f->app, lock);
	unlink(ready);
	pid_t pid = fork();
	if (pid == 0) {
		f->client = client_start("sweetspot-worker", 0);
		send_request(f, line);
		for (;;)
			pause();
	}
	ok(pid > 0 && appears(ready), "a program runs for another tuner");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ok(becomes_free(lock), "a worker whose tuner is killed ends its program");
	bool gone = false;
	for (int i = 0; i < 6000 && !(gone = no_scratch(f)); i++)
		nap();
	ok(gone, "a worker whose tuner is killed removes its scratch");
	free(line);
	free(lock);
	free(ready);
}

int main(void) {
	struct fixture f;
	fixture_open(&f);
	check_status(&f);
	check_timeout(&f);
	check_floods(&f);
	check_strays(&f);
	check_runaway(&f);
	check_group(&f);
	check_file(&f);
	check_censored(&f);
	check_litter(&f);
	ok(no_scratch(&f), "nothing is left in the worker's TMPDIR");
	check_abandoned(&f);
	check_orphaned(&f);
	check_killed(&f);
	fixture_close(&f);
	return tap_done();
}
