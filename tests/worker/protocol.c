/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The real worker through its pipes: describe, trials on the built-in kernels, counters, kept states. */
#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "tests/tap.h"
#include "tests/worker/protocol_client.h"

#define TINY "\"samples\":3,\"warmup\":0,\"min_sample_s\":0"

static double number(json_t *json, const char *path) {
	json_t *found = path_get(json, path);
	return json_is_number(found) ? json_number_value(found) : NAN;
}

static json_t *named(json_t *array, const char *name) {
	json_t *item;
	size_t i;
	json_array_foreach(array, i, item) {
		const char *text = json_string_value(json_object_get(item, "name"));
		if (text && strcmp(text, name) == 0)
			return item;
	}
	return NULL;
}

static bool all_times(json_t *samples, size_t count) {
	json_t *sample;
	size_t i;
	bool good = json_array_size(samples) == count;
	json_array_foreach(samples, i, sample) {
		good = good && json_real_value(sample) > 0 && json_real_value(sample) < 100;
	}
	return good;
}

static void check_describe(struct client *client) {
	json_t *answer = client_ask(client, "{\"op\":\"describe\",\"id\":3}");
	json_t *kernels = path_get(answer, "kernels");
	const char *runtime = json_string_value(path_get(answer, "openmp.runtime"));
	ok(number(answer, "protocol") == 1 && number(answer, "id") == 3, "describe names its protocol and repeats the id");
	ok(runtime && (strcmp(runtime, "libgomp") == 0 || strcmp(runtime, "libomp") == 0), "the OpenMP runtime is known");
	ok(number(answer, "openmp.version") >= 201511, "the OpenMP version is its date");
	ok(named(kernels, "synthetic") && named(kernels, "gol") && named(kernels, "fw"), "the built-in kernels are there");
	ok(named(path_get(named(kernels, "fw"), "params"), "block"), "a kernel has its parameters");
	ok(named(path_get(named(kernels, "fw"), "problem"), "n"), "a kernel has its problem");
	ok(json_is_true(path_get(named(path_get(answer, "counters"), "fake"), "usable")), "the fake counters are usable");
	json_t *without = client_ask(client, "{\"op\":\"describe\",\"id\":3,\"counters\":false}");
	json_object_del(answer, "counters");
	json_object_del(answer, "groups");
	json_object_del(answer, "events");
	json_object_del(answer, "groups_error");
	ok(json_object_size(answer) > 0 && json_equal(answer, without),
	   "describe without counters says the same of the rest");
	json_decref(without);
	json_decref(answer);
}

static void check_kernel(struct client *client, const char *kernel, int n, const char *config) {
	json_t *answer = client_ask(client,
	                            "{\"op\":\"trial\",\"id\":7,\"kernel\":\"%s\",\"problem\":{\"n\":%d},"
	                            "\"config\":%s,\"samples\":3,\"min_sample_s\":0.002}",
	                            kernel, n, config);
	const char *status = json_string_value(path_get(answer, "status"));
	ok(status && strcmp(status, "correct") == 0, "%s %s is correct", kernel, config);
	ok(number(answer, "id") == 7 && json_is_true(path_get(answer, "verified")),
	   "the answer has its id, and was verified");
	ok(all_times(path_get(answer, "samples"), 3), "three samples in seconds");
	ok(number(answer, "batch") >= 1 && number(answer, "elapsed_s") > 0, "batch and elapsed time");
	ok(number(answer, "work.ops") > 0, "the answer has its work");
	ok(number(answer, "noise.involuntary") >= 0 && number(answer, "noise.run_delay_s") >= 0 &&
	       number(answer, "noise.steal_s") >= 0,
	   "noise never runs backwards");
	ok(!path_get(answer, "message") && !path_get(answer, "counters"), "no message, and no counters unasked");
	json_decref(answer);
}

static void check_placement(struct client *client) {
	json_t *answer = client_ask(client, "{\"op\":\"trial\",\"kernel\":\"synthetic\",\"problem\":{\"n\":1000},"
	                                    "\"config\":{\"threads\":2,\"proc_bind\":\"primary\"}," TINY "}");
	json_t *cpus = path_get(answer, "placement.cpus");
	ok(json_is_true(path_get(answer, "placement.ok")), "threads ran where they were bound");
	ok(json_array_size(cpus) == 2 && json_equal(json_array_get(cpus, 0), json_array_get(cpus, 1)),
	   "two threads on the primary place share its CPU");
	json_decref(answer);
	answer = client_ask(client, "{\"op\":\"trial\",\"kernel\":\"synthetic\",\"problem\":{\"n\":1000},\"config\":"
	                            "{\"threads\":1,\"proc_bind\":false}," TINY "}");
	const char *asked = json_string_value(path_get(answer, "placement.asked"));
	is_text(asked, "[*]", "the thread is free again afterwards");
	json_decref(answer);
}

/* The time of each sample is at least the requested one, within the tolerance of a batch found under load. */
static void check_batch(struct client *client) {
	json_t *answer = client_ask(client, "{\"op\":\"trial\",\"kernel\":\"synthetic\",\"problem\":{\"n\":1},\"config\":"
	                                    "{\"threads\":1},\"samples\":5,\"min_sample_s\":0.004}");
	json_t *samples = path_get(answer, "samples"), *sample;
	double batch = number(answer, "batch"), shortest = INFINITY;
	size_t i;
	json_array_foreach(samples, i, sample) {
		shortest = fmin(shortest, json_real_value(sample) * batch);
	}
	ok(batch > 1 && json_array_size(samples) == 5, "short runs are batched");
	ok(shortest >= 0.0015, "a sample lasts (%g s)", shortest);
	json_decref(answer);
}

static void check_censored(struct client *client) {
	json_t *answer = client_ask(client, "{\"op\":\"trial\",\"kernel\":\"synthetic\",\"problem\":{\"n\":100000},"
	                                    "\"config\":{\"threads\":1},\"limit_s\":1e-6}");
	const char *status = json_string_value(path_get(answer, "status"));
	is_text(status, "censored", "a trial that can't win is cut short");
	ok(json_array_size(path_get(answer, "samples")) == 0 && path_get(answer, "message"),
	   "a trial that can't win has a message");
	json_decref(answer);
}

static void check_counters(struct client *client) {
	json_t *answer = client_ask(client, "{\"op\":\"trial\",\"kernel\":\"gol\",\"problem\":{\"n\":64},\"config\":"
	                                    "{\"threads\":2},\"counters\":[\"rusage\",\"fake\"]," TINY "}");
	json_t *counters = path_get(answer, "counters"), *counted = named(counters, "fake-counted");
	json_t *missing = named(counters, "fake-unavailable"), *cpu = named(counters, "cpu-time");
	ok(number(counted, "value") == 2000 && json_array_size(path_get(counted, "per_thread")) == 2,
	   "a counter is the total over the threads that are listed");
	ok(json_is_null(path_get(missing, "value")) && json_is_string(path_get(missing, "reason")),
	   "an event that was not counted is null, with its reason");
	ok(number(cpu, "value") > 0 && json_array_size(path_get(cpu, "per_thread")) == 2, "rusage counts each thread");
	json_decref(answer);
}

/* Two configurations in turn: set up once each, and verified all the time. */
static void check_alternating(struct client *client) {
	int set_up = 0, verified = 0;
	for (int i = 0; i < 20; i++) {
		json_t *answer = client_ask(client,
		                            "{\"op\":\"trial\",\"kernel\":\"fw\",\"problem\":{\"n\":48},\"config\":"
		                            "{\"threads\":%d,\"proc_bind\":\"close\"}," TINY "}",
		                            1 + i % 2);
		set_up += number(answer, "setup_s") > 0;
		verified += json_is_true(path_get(answer, "verified")) && json_is_true(path_get(answer, "placement.ok"));
		json_decref(answer);
	}
	ok(set_up == 2 && verified == 20, "alternating configurations keep their states (%d, %d)", set_up, verified);
	is_text(client_text(client, "status", "{\"op\":\"prepare\",\"kernel\":\"synthetic\"}"), "correct",
	        "an input is made ahead of its trial");
	json_t *answer = client_ask(client, "{\"op\":\"prepare\",\"kernel\":\"nothing\"}");
	ok(json_object_get(answer, "error") != NULL, "an unknown kernel is not prepared");
	json_decref(answer);
	answer = client_ask(client, "{\"op\":\"drop\"}");
	ok(number(answer, "dropped") >= 2, "drop says how many states there were");
	json_decref(answer);
	answer = client_ask(client, "{\"op\":\"drop\",\"id\":-5}");
	ok(number(answer, "dropped") == 0 && number(answer, "id") == -5, "no states are left after a drop");
	json_decref(answer);
}

static void check_refused(struct client *client) {
	is_text(client_text(client, "status", "{\"op\":\"trial\",\"kernel\":\"fw\",\"config\":{\"threads\":60000}}"),
	        "constraints", "threads far beyond the CPUs are refused as a result");
}

/* One trial by a worker of its own, with the answers of oracles in `path`: is its result right, and did the oracle run?
 */
static bool answered(const char *kernel, const char *problem, int seed, const char *path, bool *computed) {
	struct client *client = client_start("sweetspot-worker", 0);
	json_t *answer = client_ask(
		client, "{\"op\":\"trial\",\"kernel\":\"%s\",\"problem\":%s,\"seed\":%d,\"answers\":\"%s\"," TINY "}", kernel,
		problem, seed, path);
	const char *status = json_string_value(path_get(answer, "status"));
	bool right = status && strcmp(status, "correct") == 0;
	*computed = number(answer, "answer_s") > 0;
	json_decref(answer);
	client_stop(client);
	return right;
}

static void spoil(int fd, off_t at) {
	unsigned char byte = 0;
	bool done = pread(fd, &byte, 1, at) == 1;
	byte ^= 0x55;
	ok(done && pwrite(fd, &byte, 1, at) == 1, "a byte of the kept answers is another one now");
}

/* The next worker uses the answer of an earlier one's oracle, and takes nothing else for it. */
static void check_answers(const char *kernel, const char *problem, const char *other) {
	char path[64];
	bool computed, right;
	struct stat file;
	int fd = memfd_create(SYS_ANSWERS, MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
	right = answered(kernel, problem, 1, path, &computed);
	ok(right && computed, "%s is verified by its oracle where no answer is kept", kernel);
	right = answered(kernel, problem, 1, path, &computed);
	ok(right && !computed, "a second worker verifies %s without its oracle", kernel);
	right = answered(kernel, problem, 2, path, &computed);
	ok(right && computed, "another seed of %s has another answer", kernel);
	right = answered(kernel, other, 1, path, &computed);
	ok(right && computed, "another problem of %s has another answer", kernel);
	ok(fstat(fd, &file) == 0 && ftruncate(fd, file.st_size - 1) == 0, "the last answer of %s loses a byte", kernel);
	right = answered(kernel, other, 1, path, &computed);
	ok(right && computed, "an answer of %s that is cut is computed again", kernel);
	spoil(fd, 100);
	ok(!answered(kernel, problem, 1, path, &computed), "%s is compared with the bytes that were kept", kernel);
	spoil(fd, 0);
	right = answered(kernel, problem, 1, path, &computed);
	ok(right && computed, "bytes without the mark of an answer of %s are not used", kernel);
	close(fd);
	ok(answered(kernel, problem, 1, "/dev/null", &computed), "%s is right where the path is another file", kernel);
	ok(answered(kernel, problem, 1, path, &computed), "%s is right where the file has gone", kernel);
}

int main(void) {
	struct client *client = client_start("sweetspot-worker", 0);
	check_describe(client);
	check_kernel(client, "synthetic", 100, "{\"threads\":2,\"variant\":\"b\",\"x\":10,\"y\":16}");
	check_kernel(client, "gol", 64, "{\"threads\":2,\"schedule\":\"dynamic\",\"chunk\":4}");
	check_kernel(client, "fw", 100, "{\"variant\":\"tiled\",\"block\":32,\"threads\":1}");
	check_kernel(client, "fw", 100, "{}");
	check_placement(client);
	check_batch(client);
	check_censored(client);
	check_counters(client);
	check_alternating(client);
	check_refused(client);
	check_answers("fw", "{\"n\":48}", "{\"n\":49}");
	check_answers("quake", "{\"n\":32,\"steps\":4}", "{\"n\":32,\"steps\":5}");
	check_answers("gol", "{\"n\":64,\"generations\":3}", "{\"n\":64,\"generations\":4}");
	check_answers("kmeans", "{\"n\":1000}", "{\"n\":1000,\"clusters\":5}");
	int status = client_stop(client);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the end of input ends the worker");
	return tap_done();
}
