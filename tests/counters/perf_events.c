/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events of the perf backend over work that is known, each thread's own; and what does not fit into one group. */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "counters/perf/perf.h"
#include "tests/counters/perf_help.h"

enum { TEAM = 3, PAGES = 1000, SPARE = 200 /* faults outside the threads */ };

static const char *const counted[] = {"page-faults", "minor-faults", "major-faults", "task-clock", NULL};
enum { FAULTS, MINOR, MAJOR, CLOCK, COUNTED };

static double clock_now(clockid_t id) {
	struct timespec t;
	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct worker {
	pthread_t thread;
	size_t pages;
	bool good;
	double cpu, wall; /* by clocks, inside and outside the count */
	struct counter_value work[COUNTED], idle[COUNTED];
};

static void *worker_run(void *argument) {
	struct worker *w = argument;
	struct perf_test test = perf_test_new();
	const struct counter_backend *perf = test.backend;
	w->good = perf->open(test.state, &here, counted, COUNTED) == 0;
	pages_touch(PAGES); /* before the start: not counted */
	double wall = clock_now(CLOCK_MONOTONIC);
	w->good = w->good && perf->start(test.state) == 0;
	double cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
	pages_touch(w->pages);
	w->cpu = clock_now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	w->good = w->good && perf->stop(test.state) == 0;
	w->wall = clock_now(CLOCK_MONOTONIC) - wall;
	pages_touch(PAGES);
	w->good = w->good && perf->read(test.state, w->work) == 0;
	w->good =
		w->good && perf->start(test.state) == 0 && perf->stop(test.state) == 0 && perf->read(test.state, w->idle) == 0;
	perf_test_free(&test);
	return NULL;
}

static void worker_check(const struct worker *w) {
	double faults = w->work[FAULTS].value, pages = (double)w->pages;
	ok(w->good, "a thread is counted");
	ok(faults >= pages && faults <= pages + SPARE, "a thread's %g page faults are its own %zu pages", faults, w->pages);
	ok(w->work[MINOR].value + w->work[MAJOR].value == faults, "minor and major faults are all");
	ok(w->work[CLOCK].value >= 0.95 * w->cpu && w->work[CLOCK].value <= w->wall + 1e-4,
	   "a thread's time (%g s) is between its CPU time and the clock's", w->work[CLOCK].value);
	ok(w->idle[FAULTS].value <= SPARE && w->idle[CLOCK].value < w->work[CLOCK].value, "the next start counts anew");
	for (int i = 0; i < COUNTED; i++)
		if (w->work[i].status != COUNTER_COUNTED || strcmp(w->work[i].name, counted[i]) != 0)
			ok(false, "%s is counted: %s", counted[i], w->work[i].reason);
}

static void check_threads(void) {
	static struct worker team[TEAM];
	for (size_t t = 0; t < TEAM; t++) {
		team[t].pages = PAGES * (t + 1) * (t + 1);
		if (pthread_create(&team[t].thread, NULL, worker_run, &team[t]))
			printf("Bail out! no thread\n");
	}
	for (size_t t = 0; t < TEAM; t++)
		pthread_join(team[t].thread, NULL);
	for (size_t t = 0; t < TEAM; t++)
		worker_check(&team[t]);
}

/* Whatever this machine has: an event that it says can be counted is counted, any other has a reason. */
static void check_each(void) {
	for (const struct perf_name *name = perf_names; name->name; name++) {
		struct perf_test test = perf_test_new();
		struct counter_value value = {.status = COUNTER_UNAVAILABLE};
		char reason[COUNTER_REASON] = "";
		bool can = test.backend->can(name->name, &here, reason);
		bool opened = test.backend->open(test.state, &here, &name->name, 1) == 0;
		bool good = opened && test.backend->start(test.state) == 0 && test.backend->stop(test.state) == 0 &&
		            test.backend->read(test.state, &value) == 0;
		ok(can ? good && value.name == name->name
		       : reason[0] && good && value.status == COUNTER_UNAVAILABLE && isnan(value.value) &&
		             strcmp(value.reason, reason) == 0,
		   "%s: %s", name->name, can ? "can be counted" : reason);
		perf_test_free(&test);
	}
	char reason[COUNTER_REASON] = "";
	ok(!counter_find("perf")->can("cycle", &here, reason) && strstr(reason, "cycle"), "an unknown name: %s", reason);
}

/* Runs with a limit of this many more files. */
static int crowded_open(struct perf_test *test, size_t events, int more) {
	const char *names[COUNTER_OPEN_MAX];
	struct rlimit limit, tight;
	int first = dup(STDOUT_FILENO); /* the next that is free */
	close(first);
	getrlimit(RLIMIT_NOFILE, &limit);
	tight = limit;
	tight.rlim_cur = (rlim_t)(first + more);
	for (size_t i = 0; i < events; i++)
		names[i] = "page-faults";
	setrlimit(RLIMIT_NOFILE, &tight);
	int opened = test->backend->open(test->state, &here, names, events);
	setrlimit(RLIMIT_NOFILE, &limit);
	return opened;
}

static void check_crowd(void) {
	struct perf_test test = perf_test_new();
	struct counter_value value;
	int before = files_open();
	ok(crowded_open(&test, 8, 4) == -1, "more events than files can't be opened together");
	test.backend->close(test.state);
	ok(files_open() == before, "no event stays open after too many were refused");
	memset(test.state, 0, test.backend->state_size);
	ok(crowded_open(&test, 4, 8) == 0 && files_open() == before + 4, "fewer can");
	perf_test_free(&test);
	ok(files_open() == before, "events that were opened are closed");
	test = perf_test_new();
	ok(crowded_open(&test, 1, 0) == 0 && test.backend->read(test.state, &value) == 0 &&
	       value.status == COUNTER_UNAVAILABLE && strstr(value.reason, "ulimit"),
	   "a lack of files is the reason");
	perf_test_free(&test);
}

static void check_hardware(void) {
	const char *names[COUNTER_OPEN_MAX];
	char reason[COUNTER_REASON];
	struct perf_test test = perf_test_new();
	int before = files_open();
	for (size_t i = 0; i < COUNTER_OPEN_MAX; i++)
		names[i] = "branch-misses";
	if (test.backend->can("branch-misses", &here, reason)) {
		ok(test.backend->open(test.state, &here, names, COUNTER_OPEN_MAX) == -1, "no PMU counts %d events at once",
		   COUNTER_OPEN_MAX);
		test.backend->close(test.state);
		ok(files_open() == before, "no event stays open after too many of a PMU were refused");
	} else {
		tap_skip("more hardware events than the PMU has counters", reason);
	}
	perf_test_free(&test);
}

static void check_group(void) {
	struct perf_group group = {.tree = false};
	int added = 0, more;
	while (added <= COUNTER_OPEN_MAX && perf_group_add(&group, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS) == added)
		added++;
	more = perf_group_add(&group, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	ok(added == COUNTER_OPEN_MAX && more == -ENOSPC, "a group is full with %d", added);
	perf_group_start(&group);
	pages_touch(PAGES);
	ok(perf_group_stop(&group) == 0, "all of it is read at once");
	int same = 0;
	for (size_t i = 0; i < group.count; i++)
		same += perf_group_counted(&group, i).value == perf_group_counted(&group, 0).value;
	ok(same == added && perf_group_counted(&group, 0).value >= PAGES,
	   "the events of a group count the same at the same time");
	perf_group_close(&group);
	ok(perf_group_add(&group, 12345, 0) < 0 && group.count == 0, "an unknown event is refused");
	ok(perf_group_start(&group) == 0 && perf_group_stop(&group) == 0, "an empty group does nothing");
}

static pid_t run_true(void) {
	pid_t pid = fork();
	if (pid == 0) {
		pages_touch(PAGES); /* before its exec: not counted */
		execl("/bin/sh", "sh", "-c", "true", NULL);
		_exit(127);
	}
	return pid;
}

/* An event that one start sees must not be missing at the next. */
static void check_tree(void) {
	enum { ROUNDS = 30 };
	const struct counter_site site = {.threads = 1, .tree = true};
	struct perf_test test = perf_test_new();
	struct counter_value values[COUNTED];
	int status, wrong = 0, before = files_open();
	ok(test.backend->open(test.state, &site, counted, COUNTED) == 0, "processes to come can be counted");
	for (int i = 0; i < ROUNDS; i++) {
		waitpid(run_true(), &status, 0);
		wrong += test.backend->start(test.state) != 0;
		pages_touch(PAGES);
		wrong += waitpid(run_true(), &status, 0) < 0 || status != 0;
		wrong += test.backend->stop(test.state) != 0 || test.backend->read(test.state, values) != 0;
		wrong += !(values[FAULTS].value > 10 && values[FAULTS].value < PAGES && values[CLOCK].value > 0);
	}
	ok(wrong == 0, "each start counts those after it, from their exec, and not this one");
	test.backend->start(test.state);
	ok(test.backend->stop(test.state) == 0 && test.backend->read(test.state, values) == 0 &&
	       isnan(values[FAULTS].value) && values[FAULTS].reason[0],
	   "a count that was not started has a reason, not 0: %s", values[FAULTS].reason);
	perf_test_free(&test);
	ok(files_open() == before, "nothing stays open");
}

int main(void) {
	struct counter_probe probe;
	counter_find("perf")->probe(&probe);
	if (!probe.usable) {
		tap_skip("events over known work", probe.reason);
		return tap_done();
	}
	check_threads();
	check_tree();
	check_each();
	check_crowd();
	check_hardware();
	check_group();
	return tap_done();
}
