/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worker's answers when kernels misbehave: tests/worker/faulty.c. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tests/worker/protocol_client.h"

#define FAULTY "tests/worker/faulty-worker"
#define TRIAL(kernel, config)                                                                                          \
	"{\"op\":\"trial\",\"kernel\":\"" kernel "\",\"config\":{" config "},\"samples\":2,\"min_sample_s\":0"
#define FAULT(fault) TRIAL("faulty", "\"threads\":1,\"fault\":\"" fault "\"")

/* A failure that is an answer: the worker stays. */
static void check_failure(struct client *client, const char *request, const char *status, const char *message) {
	json_t *answer = client_ask(client, "%s", request);
	const char *got = json_string_value(path_get(answer, "status"));
	const char *text = json_string_value(path_get(answer, "message"));
	ok(got && strcmp(got, status) == 0 && text && strcmp(text, message) == 0, "%s: %s", status, message);
	if (!got || !text || strcmp(text, message) != 0)
		printf("# got %s: %s\n", got ? got : "nothing", text ? text : "no message");
	json_decref(answer);
}

static void check_failures(struct client *client) {
	check_failure(client, FAULT("wrong") "}", "correctness", "2 and 2 are 5");
	check_failure(client, FAULT("wrong") "}", "correctness", "2 and 2 are 5");
	check_failure(client, FAULT("refuse") "}", "constraints", "refused by its setup");
	check_failure(client, FAULT("fail") "}", "runtime", "failed on purpose");
	check_failure(client, FAULT("none") ",\"problem\":{\"open\":1}}", "runtime", "no such input");
	is_text(client_text(client, "status", FAULT("garbage") "}"), "runtime", "a message that is not text can be sent");
	is_text(client_text(client, "status", FAULT("wrong") ",\"verify\":false}"), "correct", "unverified if so asked");
	is_text(client_text(client, "status", FAULT("wrong") ",\"verify\":\"always\"}"), "correctness",
	        "\"always\" verifies a state that was kept");
}

/* A problem that can't be opened is the asker's fault, whatever the configuration. */
static void check_refused(struct client *client) {
	is_text(client_text(client, "error.what", FAULT("none") ",\"problem\":{\"name\":\"nothing.txt\"}}"),
	        "faulty: nothing.txt line 1: there is nothing", "a problem that is refused");
	is_text(client_text(client, "error.what", FAULT("none") ",\"problem\":{\"name\":7.5,\"open\":2}}"),
	        "the problem of kernel faulty: open is 2, but it goes from 0 to 1",
	        "a text that looks like a number is one");
	is_text(client_text(client, "status", FAULT("none") ",\"problem\":{\"name\":\"a, b = c\"}}"), "correct",
	        "a text may be anything");
}

static double figure(const json_t *answer, size_t i) {
	return json_number_value(json_object_get(json_array_get(json_object_get(answer, "figures"), i), "value"));
}

static void check_figures(struct client *client) {
	json_t *answer = client_ask(client, FAULT("none") ",\"series\":true,\"problem\":{\"name\":\"four\"}}");
	json_t *last = json_array_get(json_object_get(answer, "figures"), 3);
	ok(figure(answer, 0) >= 3 && figure(answer, 1) == 4 && figure(answer, 2) == 1, "figures of the last run");
	ok(json_is_null(json_object_get(last, "value")) && json_is_string(json_object_get(last, "name")),
	   "invalid numbers and texts are replaced");
	ok(json_array_size(path_get(answer, "figures")) == 4, "the answer has as many figures as the kernel");
	json_t *steps = json_object_get(json_array_get(json_object_get(answer, "series"), 0), "values");
	ok(json_array_size(steps) == 3, "a value for each step");
	json_decref(answer);
	answer = client_ask(client, FAULT("none") "}");
	ok(!json_object_get(answer, "series"), "no series where none was asked for");
	json_decref(answer);
	answer = client_ask(client, FAULT("garbage") "}");
	ok(json_array_size(path_get(answer, "figures")) <= 16, "a count of figures that can't be is not believed");
	json_decref(answer);
	is_text(client_text(client, "error.what", FAULT("none") ",\"series\":3}"), "'series' must be true or false",
	        "series is a switch");
}

/* stdout holds answers alone; the kernel's output is on stderr. */
static void check_print(struct client *client) {
	is_text(client_text(client, "status", FAULT("print") "}"), "correct", "a kernel that prints spoils no answer");
	is_text(client_text(client, "status", FAULT("none") "}"), "correct",
	        "the answer after a kernel that prints is correct");
	ok(strstr(client_stderr(client), "printed"), "the output of a kernel that prints is on stderr");
}

static void check_censored(struct client *client) {
	json_t *answer = client_ask(client, FAULT("slow") ",\"problem\":{\"ms\":20},\"limit_s\":0.012,\"warmup\":0}");
	const char *status = json_string_value(path_get(answer, "status"));
	size_t count = json_array_size(path_get(answer, "samples"));
	is_text(status, "censored", "a median that is bound to be over the limit ends a trial");
	ok(count <= 3, "no sample is taken after more than half of the five are over it");
	json_decref(answer);
	is_text(client_text(client, "status", FAULT("slow") ",\"problem\":{\"ms\":20},\"limit_s\":10}"), "correct",
	        "within the limit it goes on");
	answer = client_ask(client, FAULT("slow") ",\"problem\":{\"ms\":30},\"settles_s\":0.02}");
	ok(json_array_size(path_get(answer, "samples")) == 1, "a run that is long enough needs one sample");
	json_decref(answer);
	answer = client_ask(client, FAULT("slow") ",\"problem\":{\"ms\":40},\"settles_s\":0.002,\"limit_s\":0.01}");
	ok(strcmp(json_string_value(path_get(answer, "status")), "censored") == 0 &&
	       json_is_false(path_get(answer, "verified")) && json_array_size(path_get(answer, "samples")) == 1,
	   "a long run over the limit ends its trial before it is verified, and tells how long it was");
	json_decref(answer);
}

/* Ends the worker. */
static void check_cut(struct client *client) {
	json_t *answer = client_ask(client, FAULT("slow") ",\"problem\":{\"ms\":60000},\"cut_s\":0.1}");
	ok(strcmp(json_string_value(path_get(answer, "status")), "censored") == 0 &&
	       json_is_true(path_get(answer, "ending")),
	   "a run that takes too long is ended, and the worker says so");
	json_decref(answer);
}

static double calls(struct client *client, int x, const char *member) {
	json_t *answer = client_ask(client, TRIAL("calls", "\"threads\":1,\"x\":%d") "}", x);
	const char *status = json_string_value(path_get(answer, "status"));
	double value = json_number_value(path_get(answer, member));
	if (!status || strcmp(status, "correct") != 0) {
		const char *message = json_string_value(path_get(answer, "message"));
		printf("# %s: %s\n", status ? status : "no status", message ? message : "");
		value = NAN;
	}
	json_decref(answer);
	return value;
}

/* work.ops are the setups so far, work.bytes the teardowns. */
static void check_kept(struct client *client) {
	enum { KEPT = 24 };
	json_decref(client_ask(client, "{\"op\":\"drop\"}"));
	for (int i = 0; i < KEPT; i++)
		calls(client, i, "work.ops");
	ok(calls(client, 0, "work.ops") == KEPT && calls(client, 0, "work.bytes") == 0, "%d states are kept", KEPT);
	ok(calls(client, KEPT, "work.bytes") == 1, "one more drops one");
	ok(calls(client, 0, "work.ops") == KEPT + 1, "a state that was used of late is kept");
	ok(calls(client, 1, "work.ops") == KEPT + 2, "the state that was not used of late is dropped");
	json_t *answer = client_ask(client, "{\"op\":\"drop\"}");
	ok(json_integer_value(path_get(answer, "dropped")) == KEPT, "all of them are dropped");
	json_decref(answer);
	ok(calls(client, 0, "work.bytes") == KEPT + 2, "every setup had its teardown");
}

/* The input of a problem is closed after the states that use it, however many problems come and go. */
static void check_inputs(struct client *client) {
	bool good = true;
	for (int seed = 0; seed < 50; seed++) {
		const char *status = client_text(client, "status", TRIAL("calls", "\"threads\":1,\"x\":%d") ",\"seed\":%d}",
		                                 seed % 3, seed * 7 % 20);
		good = good && strcmp(status, "correct") == 0;
	}
	ok(good, "many problems in turn");
}

/* Under an address-space limit ten of these fit one at a time only. */
static void check_memory(void) {
#if defined(SS_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	tap_skip("states that do not fit together", "sanitizers need the whole address space");
#else
	struct client *client = client_start(FAULTY, UINT64_C(1) << 30);
	bool good = true;
	for (int i = 0; i < 10; i++) {
		const char *status = client_text(client, "status", TRIAL("big", "\"mb\":300,\"x\":%d") "}", i);
		good = good && strcmp(status, "correct") == 0;
	}
	ok(good, "states that do not fit together take turns");
	check_failure(client, TRIAL("big", "\"mb\":4000") "}", "runtime", "too big");
	check_failure(client, FAULT("greedy") "}", "runtime", "ate all there was");
	is_text(client_text(client, "status", TRIAL("big", "\"mb\":300") "}"), "correct",
	        "the memory of a state that was too big is free again");
	client_stop(client);
#endif
}

static void check_crash(const char *request, int signal, const char *says) {
	struct client *client = client_start(FAULTY, 0);
	client_expect_end(client, request);
	ok(strstr(client_stderr(client), says), "stderr says: %s", says);
	int status = client_stop(client);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == signal, "the status keeps the signal (%#x)", (unsigned)status);
}

static void check_exit(void) {
	struct client *client = client_start(FAULTY, 0);
	client_expect_end(client, FAULT("exit") "}");
	int status = client_stop(client);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a kernel that exits ends the worker without an answer");
}

/* A worker that never answers is killed with its whole group. */
static void check_killed(const char *request, const char *what) {
	struct client *client = client_start(FAULTY, 0);
	pid_t pid = client_pid(client);
	client_send(client, request, strlen(request));
	json_t *answer = client_answer(client, 0.5);
	ok(!answer, "%s: no answer", what);
	kill(pid, SIGKILL);
	int status = client_stop(client);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%s: it can be killed", what);
	json_decref(answer);
}

static void check_child(void) {
	struct client *client = client_start(FAULTY, 0);
	pid_t group = client_pid(client);
	is_text(client_text(client, "status", FAULT("child") "}"), "correct", "a kernel that forks");
	client_stop(client);
	for (int i = 0; i < 1000 && kill(-group, 0) == 0; i++)
		usleep(10000); /* until init has seen to it */
	ok(kill(-group, 0) == -1 && errno == ESRCH, "leaves no process behind");
}

int main(void) {
	struct client *client = client_start(FAULTY, 0);
	check_failures(client);
	check_refused(client);
	check_figures(client);
	check_print(client);
	check_censored(client);
	check_kept(client);
	check_inputs(client);
	int status = client_stop(client);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the worker survived all of it");
	check_memory();
	check_crash(FAULT("crash") "}", SIGSEGV, "SIGSEGV (segmentation fault) in kernel faulty");
	check_crash(FAULT("abort") "}", SIGABRT, "SIGABRT (aborted) in kernel faulty");
	check_exit();
	check_killed(FAULT("hang") "}\n", "a hang");
	check_killed(FAULT("noisy") "}\n", "endless output");
	check_child();
	client = client_start(FAULTY, 0);
	check_cut(client);
	client_stop(client);
	return tap_done();
}
