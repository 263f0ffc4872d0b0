/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds in helpers, each of which ends when the test lets it: what is built, in which order, at the same time, and
 * what is stopped. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "tests/tap.h"
#include "tuner/build/builder.h"

enum { CONFIGS = 10 };

/* Shared with the helpers, under the mutex. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t change;
	int began[CONFIGS], ended[CONFIGS], stopped[CONFIGS], let[CONFIGS], released;
	int order[64], count, now, most;
} log_ = {.mutex = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

static char *key_of(void *ctx, const json_t *config) {
	(void)ctx;
	return mem_printf("%lld", (long long)json_integer_value(json_object_get(config, "X")));
}

static bool is_stopped(const struct worker *worker) {
	const volatile int *interrupt = worker_interrupt(worker);
	return interrupt && __atomic_load_n(interrupt, __ATOMIC_RELAXED); /* another thread sets it */
}

/* A build ends late as one that fails. 7 does not compile, 8 cannot be built at all, and a negative `let` is a build
 * that was there before. */
static int make(void *ctx, struct worker *worker, const char *key, const json_t *config, double seconds,
                struct built *built, struct err *err) {
	long long x = json_integer_value(json_object_get(config, "X"));
	(void)ctx;
	(void)key;
	double begun = sys_now();
	pthread_mutex_lock(&log_.mutex);
	log_.began[x]++;
	log_.order[log_.count++ % 64] = (int)x;
	log_.most = ++log_.now > log_.most ? log_.now : log_.most;
	pthread_cond_broadcast(&log_.change);
	bool stopped = false, late = false;
	while (!log_.let[x] && !(stopped = is_stopped(worker)) && !(late = seconds > 0 && sys_now() - begun >= seconds)) {
		pthread_mutex_unlock(&log_.mutex);
		usleep(1000);
		pthread_mutex_lock(&log_.mutex);
	}
	log_.now--;
	log_.ended[x] += !stopped;
	log_.stopped[x] += stopped;
	built->found = log_.let[x] < 0;
	pthread_mutex_unlock(&log_.mutex);
	built->status = x == 7 || late ? TRIAL_COMPILE : TRIAL_CORRECT;
	built->artefact = mem_strdup("artefact");
	if (!stopped && x != 8)
		return 0;
	free(built->artefact);
	built->artefact = NULL;
	return err_set(err, stopped ? ERR_INTERRUPTED : ERR_FAILED, NULL, "x is %lld", x);
}

static void release(void *ctx, struct built *built) {
	(void)ctx;
	log_.released += built->artefact != NULL;
	free(built->artefact);
}

static const struct build_work work = {.key = key_of, .make = make, .release = release};

static void let(int x, int how) {
	pthread_mutex_lock(&log_.mutex);
	log_.let[x] = how;
	pthread_mutex_unlock(&log_.mutex);
}

static void reset(int how) {
	pthread_mutex_lock(&log_.mutex);
	memset(log_.began, 0, sizeof log_.began);
	memset(log_.ended, 0, sizeof log_.ended);
	memset(log_.stopped, 0, sizeof log_.stopped);
	for (int i = 0; i < CONFIGS; i++)
		log_.let[i] = how;
	log_.count = log_.now = log_.most = log_.released = 0;
	pthread_mutex_unlock(&log_.mutex);
}

/* Waits until so many builds have begun. */
static void began(int count) {
	pthread_mutex_lock(&log_.mutex);
	while (log_.count < count)
		pthread_cond_wait(&log_.change, &log_.mutex);
	pthread_mutex_unlock(&log_.mutex);
}

static json_t *config(int x) {
	return json_pack("{s:i}", "X", x);
}

static void want(struct builder *builder, const int *x, size_t count) {
	json_t *configs[CONFIGS] = {NULL};
	for (size_t i = 0; i < count; i++)
		configs[i] = config(x[i]);
	builder_want(builder, (const json_t *const *)configs, count);
	for (size_t i = 0; i < count; i++)
		json_decref(configs[i]);
}

static void wait_all(struct builder *builder) {
	while (builder_wait(builder, 1))
		continue;
}

static bool has(struct builder *builder, int x) {
	json_t *one = config(x);
	bool there = builder_has(builder, one);
	json_decref(one);
	return there;
}

static const struct built *get_within(struct builder *builder, int x, double left_s, struct err *err) {
	json_t *one = config(x);
	*err = (struct err){0};
	const struct built *built = builder_get(builder, one, left_s, err);
	json_decref(one);
	return built;
}

/* The status of a build that is asked for; TRIAL_STATUS_COUNT: none, and err. */
static enum trial_status get(struct builder *builder, int x, struct err *err) {
	const struct built *built = get_within(builder, x, 0, err);
	return built ? built->status : TRIAL_STATUS_COUNT;
}

static bool gave_up(struct builder *builder, int x) {
	json_t *one = config(x);
	bool so = builder_gave_up(builder, one);
	json_decref(one);
	return so;
}

static void test_alone(struct worker *worker) {
	struct builder *builder = builder_new(&work, worker);
	struct err err;
	reset(1);
	want(builder, (int[]){1, 2}, 2);
	ok(log_.count == 0 && builder_wait(builder, 0) == 0, "nothing is built ahead without helpers");
	ok(get(builder, 3, &err) == TRIAL_CORRECT && get(builder, 3, &err) == TRIAL_CORRECT && log_.began[3] == 1,
	   "a configuration is built once when it is asked for without helpers");
	ok(get(builder, 7, &err) == TRIAL_COMPILE && get(builder, 7, &err) == TRIAL_COMPILE && log_.began[7] == 1,
	   "a failure, too");
	ok(get(builder, 8, &err) == TRIAL_STATUS_COUNT && err.code == ERR_FAILED, "what cannot be built: %s", err.what);
	get(builder, 8, &err);
	ok(log_.began[8] == 2, "a configuration that cannot be built is tried again");
	let(4, -1);
	get(builder, 4, &err);
	const struct build_figures figures = builder_figures(builder);
	ok(figures.jobs == 1 && figures.made == 2 && figures.found == 1 && figures.running == 0, "the figures");
	builder_free(builder);
	ok(log_.released == 3, "all artefacts are released");
}

static void test_ahead(struct worker *worker) {
	struct builder *builder = builder_new(&work, worker);
	struct err err = {0};
	reset(0);
	ok(builder_help(builder, 2, true, &err) == 0, "two helpers");
	want(builder, (int[]){5, 3, 5, 1, 2}, 5);
	began(2);
	ok((log_.began[5] && log_.began[3]) || log_.count > 2, "the first two are begun");
	ok(!has(builder, 5) && builder_figures(builder).running == 2, "the first two builds are under way");
	let(5, 1);
	began(3);
	ok(log_.order[2] == 1, "the next wanted build is begun");
	while (!has(builder, 5))
		builder_wait(builder, 1);
	ok(has(builder, 5) && !has(builder, 3), "one of them is there");
	want(builder, (int[]){1, 4}, 2);
	began(4);
	ok(log_.order[3] == 4 && log_.began[2] == 0, "what is not wanted any more is not begun");
	ok(log_.stopped[3] == 1, "a build that is not wanted any more is stopped");
	let(1, 1);
	let(4, 1);
	wait_all(builder);
	ok(builder_figures(builder).stopped == 1 && log_.most == 2, "never were there more than two");
	let(3, 1);
	ok(get(builder, 3, &err) == TRIAL_CORRECT && log_.began[3] == 2,
	   "a build that was stopped is built if it is asked for");
	let(7, 1);
	let(8, 1);
	want(builder, (int[]){7, 8}, 2);
	wait_all(builder);
	ok(has(builder, 7) && get(builder, 7, &err) == TRIAL_COMPILE, "a build that fails");
	ok(has(builder, 8) && get(builder, 8, &err) == TRIAL_STATUS_COUNT && err.code == ERR_FAILED,
	   "a build that cannot be made is an error");
	want(builder, (int[]){2, 6}, 2);
	began(9);
	builder_free(builder);
	ok(log_.stopped[2] == 1 && log_.stopped[6] == 1 && log_.now == 0, "the end stops what is under way");
	ok(log_.released == 5, "the end releases everything");
}

/* Ctrl-C ends waiting, not the build's helpers. */
static void test_interrupted(const char *path) {
	static int interrupt = 1;
	struct worker *worker = worker_new(&(struct worker_options){.path = path, .interrupt = &interrupt});
	struct builder *builder = builder_new(&work, worker);
	struct err err = {0};
	reset(0);
	ok(builder_help(builder, 3, false, &err) == 0, "three helpers");
	ok(get(builder, 1, &err) == TRIAL_STATUS_COUNT && err.code == ERR_INTERRUPTED, "an interruption ends waiting");
	builder_free(builder);
	worker_free(worker);
}

/* One that takes too long is given up once and for all; one that does not end in time is not. */
static void test_patience(struct worker *worker, unsigned helpers) {
	struct builder *builder = builder_new(&work, worker);
	const char *how = helpers > 1 ? "ahead" : "here";
	struct err err = {0};
	reset(0);
	ok(builder_help(builder, helpers, false, &err) == 0, "%u helpers", helpers);
	const struct built *built = get_within(builder, 1, 0.01, &err);
	ok(built && built->status == TRIAL_COMPILE && strstr(built->message, "did not end within") && !built->given_up,
	   "%s: a build that does not end in time", how);
	ok(!gave_up(builder, 1) && builder_figures(builder).given_up == 0,
	   "a build that does not end in time is not given up");
	let(1, 1);
	ok(get(builder, 1, &err) == TRIAL_CORRECT && (helpers > 1 || log_.began[1] == 2),
	   "a build that did not end in time is built if there is time");
	builder_patience(builder, 0.01);
	built = get_within(builder, 2, 1000, &err);
	ok(built && built->status == TRIAL_COMPILE && built->given_up && strstr(built->message, "--build-timeout"),
	   "%s: one that takes too long is given up", how);
	let(2, 1);
	ok(get(builder, 2, &err) == TRIAL_COMPILE && log_.began[2] == 1 && gave_up(builder, 2),
	   "a build that was given up is given up for good");
	want(builder, (int[]){3, 4}, 2);
	wait_all(builder);
	get(builder, 3, &err);
	get(builder, 4, &err);
	const struct build_figures figures = builder_figures(builder);
	ok(figures.given_up == 3 && figures.patience_s == 0.01 && figures.running == 0,
	   "builds that were given up are counted: %zu", figures.given_up);
	builder_patience(builder, INFINITY);
	let(5, 1);
	ok(get(builder, 5, &err) == TRIAL_CORRECT && !gave_up(builder, 5), "the next one is built");
	builder_free(builder);
}

int main(void) {
	const char *path = "/nonexistent/worker"; /* never started */
	struct worker *worker = worker_new(&(struct worker_options){.path = path});
	test_alone(worker);
	test_ahead(worker);
	test_interrupted(path);
	test_patience(worker, 1);
	test_patience(worker, 2);
	worker_free(worker);
	return tap_done();
}
