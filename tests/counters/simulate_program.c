/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole programs under valgrind: all that they do, in all processes and once each; and honest reasons. */
#include <signal.h>
#include <sys/wait.h>

#include "base/proc/reap.h"
#include "tests/worker/program_fixture.h"

enum { ROUNDS = 20000 };
#define COUNT ",\"counters\":[\"SIMULATED\"]"
/* Only the run under valgrind has its libraries preloaded. */
#define TURN "case $LD_PRELOAD in *vgpreload*) %s;; esac\"]"

static json_t *app_ask(struct fixture *f, const char *what, int rounds) {
	char app[PATH_MAX];
	snprintf(app, sizeof app, "%.*s/tests/counters/simulate_app",
	         (int)(strlen(f->app) - strlen("/tests/worker/program_app")), f->app);
	return client_ask(f->client, APP "\"%s\",\"%d\"]" COUNT "}", f->home, app, what, rounds);
}

static const char *reason_of(json_t *answer) {
	return text_of(json_array_get(path_get(answer, "counters"), 0), "reason");
}

/* NAN where one of them is not simulated or is below 0. */
static double value_of(json_t *answer, const char *name) {
	json_t *event;
	size_t i;
	double found = NAN;
	json_array_foreach(path_get(answer, "counters"), i, event) {
		if (strcmp(text_of(event, "status"), "simulated") != 0 || !(number_of(event, "value") >= 0)) {
			printf("# %s: %s\n", text_of(event, "name"), text_of(event, "reason"));
			return NAN;
		}
		if (strcmp(text_of(event, "name"), name) == 0)
			found = number_of(event, "value");
	}
	return found;
}

static double count(struct fixture *f, const char *what, int rounds) {
	json_t *answer = app_ask(f, what, rounds);
	double value = value_of(answer, "sim_instructions");
	json_decref(answer);
	return value;
}

static bool near(double value, double want) {
	bool good = fabs(value - want) <= 0.01 * want;
	if (!good)
		printf("# %g instead of %g\n", value, want);
	return good;
}

/* Returns the instructions of one process that works, because each simulation takes half a second. */
static double check_reply(struct fixture *f) {
	json_t *answer = app_ask(f, "one", ROUNDS);
	double one = value_of(answer, "sim_instructions");
	ok(value_of(answer, "sim_data_reads") >= ROUNDS && value_of(answer, "sim_branches") >= ROUNDS,
	   "loads and branches of the loop are there");
	ok(strstr(reason_of(answer), "whole program") && strstr(reason_of(answer), "one at a time"), "%s",
	   reason_of(answer));
	ok(number_of(answer, "counting.simulation.slowdown") > 1 && number_of(answer, "counting.simulation.seconds") > 0 &&
	       number_of(answer, "counting.simulation.elapsed_s") >= number_of(answer, "counting.simulation.seconds") &&
	       strstr(text_of(answer, "counting.simulation.model"), "LL"),
	   "the answer has the cost of the simulation, and the model");
	ok(number_of(answer, "counting.runs") == 0 && json_array_size(path_get(answer, "samples")) == 1 &&
	       strcmp(text_of(answer, "status"), "correct") == 0,
	   "a simulated run is neither a sample nor counted");
	bool ratio = false;
	json_t *metric;
	size_t i;
	json_array_foreach(path_get(answer, "counting.metrics"), i, metric) ratio =
		ratio || (strcmp(text_of(metric, "name"), "l1d_miss_ratio") == 0 && number_of(metric, "value") < 0.5);
	ok(ratio, "a metric over it has a value");
	json_decref(answer);
	return one;
}

/* none: without any work */
static void check_work(struct fixture *f, double none, double one) {
	double two = count(f, "one", 2 * ROUNDS);
	ok(one - none >= 3 * ROUNDS && near(two - none, 2 * (one - none)), "twice the work, twice the instructions");
	ok(count(f, "one", ROUNDS) == one, "the same work gives the same count to the last digit (%g)", one);
	double idle = count(f, "three", 0);
	ok(near(count(f, "three", ROUNDS) - idle, 3 * (one - none)), "two children do as much as their parent");
	ok(near(count(f, "before", ROUNDS) - idle, one - none), "work before a fork is not counted in each process");
}

/* true is run by an exec, of a script and of a child. */
static void check_shell(struct fixture *f, double none) {
	json_t *answer = client_ask(f->client, RUN "\"true; /bin/true; exec /bin/true\"],\"hash\":true" COUNT "}", f->home);
	double value = value_of(answer, "sim_instructions");
	ok(value > none, "a shell's commands are counted (%g)", value);
	ok(strstr(reason_of(answer), "in 2 processes"), "%s", reason_of(answer));
	json_decref(answer);
	answer = client_ask(f->client, RUN "\"echo 7.5 >&2\"],\"hash\":true,\"metric\":\"^(.*)$\"" COUNT "}", f->home);
	json_t *metric = json_array_get(path_get(answer, "metrics"), 0);
	ok(value_of(answer, "sim_instructions") > 0 && json_is_number(metric) && json_number_value(metric) == 7.5,
	   "valgrind says nothing where the program speaks");
	json_decref(answer);
}

/* The trial is correct, without counts, and why. Takes the answer. */
static void absent(json_t *answer, const char *word, const char *what) {
	json_t *counters = path_get(answer, "counters"), *event;
	bool good = strcmp(text_of(answer, "status"), "correct") == 0 && json_array_size(counters) > 5 &&
	            !path_get(answer, "counting.simulation") && !path_get(answer, "message");
	size_t i;
	json_array_foreach(counters, i, event) {
		good = good && strcmp(text_of(event, "status"), "unavailable") == 0 && json_is_null(path_get(event, "value")) &&
		       strstr(text_of(event, "reason"), word);
	}
	if (!ok(good, "%s", what))
		printf("# %s %s: %s\n", text_of(answer, "status"), text_of(answer, "message"), reason_of(answer));
	json_decref(answer);
}

static void check_failures(struct fixture *f) {
	absent(client_ask(f->client, RUN "\"" TURN COUNT "}", f->home, "exit 3"), "exit status 3",
	       "it fails under valgrind");
	absent(client_ask(f->client, RUN "\"" TURN COUNT "}", f->home, "kill -ILL $$"), "AVX-512",
	       "by an instruction that valgrind does not know");
	absent(client_ask(f->client, RUN "\"" TURN ",\"hash\":true" COUNT "}", f->home, "echo other"),
	       "differs between runs", "it says something else");
	absent(app_ask(f, "kill", 0), "killed", "a child is killed, and its counts with it");
	absent(app_ask(f, "bare", ROUNDS), "hides", "a fork that valgrind is not told of");
	absent(client_ask(f->client, RUN "\"cp /bin/true setuid; chmod 4755 setuid; ./setuid; rm setuid\"]" COUNT "}",
	                  f->home),
	       "setuid", "a setuid program would have its rights taken");
	ok(no_scratch(f), "nothing is left in the worker's TMPDIR");
}

static void restart(struct fixture *f, const char *name, const char *value) {
	client_stop(f->client);
	setenv(name, value, 1);
	f->client = client_start("sweetspot-worker", 0);
}

/* Instead of valgrind: $out and $log are its files. */
static void fake(struct fixture *f, const char *lines, const char *word, const char *what) {
	char *path = mem_printf("%s/fake/valgrind", f->home);
	FILE *file = fopen(path, "w");
	if (file) {
		fprintf(file,
		        "#!/bin/sh\nfor a; do case $a in --log-file=*) log=${a#*=}; log=${log%%.%%p};;\n"
		        "--callgrind-out-file=*) out=${a#*=}; out=${out%%.%%p};; esac; done\n%s\n",
		        lines);
		fclose(file);
		chmod(path, 0755);
		absent(client_ask(f->client, RUN "\"true\"]" COUNT "}", f->home), word, what);
	}
	free(path);
}

static void check_fakes(struct fixture *f) {
	char *path = mem_strdup(getenv("PATH")), *folder = mem_printf("%s/fake", f->home);
	char *longer = mem_printf("%s:%s", folder, path);
	restart(f, "SWEETSPOT_CACHEGRIND", "--LL=1,1,1");
	absent(client_ask(f->client, RUN "\"true\"]" COUNT "}", f->home), "valgrind", "caches that valgrind refuses");
	unsetenv("SWEETSPOT_CACHEGRIND");
	mkdir(folder, 0700);
	restart(f, "PATH", longer);
	fake(f, "exit 0", "no files", "no files");
	fake(f, "head -c 100000 /dev/urandom >$out.1; echo >$log.1", "cannot be read", "files of anything");
	fake(f, "ln -s /dev/zero $out.1; echo >$log.1", "cannot be read", "a file without end");
	fake(f, "mkfifo $out.1; echo >$log.1", "cannot be read", "a pipe");
	fake(f, "echo >$log.1", "left no counts", "a process without a file");
	fake(f, "ln -s /dev/zero $log.1", "messages", "messages without end");
	fake(f, "echo 'valgrind: Unrecognised instruction at 0x1.' >$log.1; kill -ILL $$", "AVX-512", "its own words");
	char *file = mem_printf("%s/valgrind", folder);
	restart(f, "PATH", folder);
	unlink(file);
	absent(client_ask(f->client, RUN "\":\"]" COUNT "}", f->home), "valgrind is not in PATH", "no valgrind");
	restart(f, "PATH", path);
	free(file);
	free(longer);
	free(folder);
	free(path);
}

static bool appears(const char *path) {
	for (int i = 0; i < 6000; i++) {
		if (access(path, F_OK) == 0)
			return true;
		usleep(10000);
	}
	return false;
}

/* It is killed while valgrind runs the program, which has children that have got away. */
static void check_killed(struct fixture *f, int signal) {
	char *lock = file_path(f, "lock"), *ready = mem_printf("%s/ready", f->home);
	char *turn = mem_printf("exec '%s' leave '%s' deaf", f->app, lock);
	char *line = mem_printf(RUN "\"" TURN COUNT "}\n", f->home, turn);
	ok(reap_adopt() == 0, "orphans come to this process");
	unlink(ready);
	client_send(f->client, line, strlen(line));
	ok(appears(ready) && !unlocked(lock), "a program runs under valgrind");
	if (signal)
		kill(client_pid(f->client), signal);
	client_stop(f->client);
	ok((!signal || reap_strays(30, NULL) == 0) && unlocked(lock), "after its worker %s nothing runs",
	   signal ? "was killed" : "is left");
	f->client = client_start("sweetspot-worker", 0);
	answers(client_ask(f->client, RUN "\"true\"]}", f->home), "correct", "", "the next worker");
	ok(no_scratch(f), "the next worker has nothing to clean, or cleans it");
	free(line);
	free(turn);
	free(lock);
	free(ready);
}

int main(void) {
	struct fixture f;
	fixture_open(&f);
	json_t *answer = client_ask(f.client, "{\"op\":\"counters\",\"program\":true,\"counters\":[\"SIMULATED\"]}");
	json_t *event = json_array_get(path_get(answer, "events"), 0);
	if (json_is_null(path_get(event, "source"))) {
		tap_skip("simulated programs", text_of(event, "reason"));
	} else {
		ok(json_is_true(path_get(event, "rerun")), "the probe warns that it is slow");
		double one = check_reply(&f), none = count(&f, "one", 0);
		check_work(&f, none, one);
		check_shell(&f, none);
		check_failures(&f);
		check_killed(&f, 0);
		check_killed(&f, SIGKILL);
		check_fakes(&f);
	}
	json_decref(answer);
	fixture_close(&f);
	return tap_done();
}
