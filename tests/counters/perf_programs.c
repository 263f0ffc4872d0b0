/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs counted as a whole: every thread and process of theirs, and nothing of the worker's. */
#include "tests/worker/program_fixture.h"

/* Faults of starting all that; under a sanitizer they are many. */
#define USAGE "rusage:minor-faults" /* perf has events of that name, too */

enum { PAGES = 2000, PARTS = 5 /* three threads and two processes */, SPARE = 8000 };

/* Borrowed. */
static json_t *event_of(json_t *answer, const char *name, const char *source) {
	json_t *event;
	size_t i;
	json_array_foreach(json_object_get(answer, "counters"), i, event) {
		if (strcmp(text_of(event, "name"), name) == 0 && strcmp(text_of(event, "source"), source) == 0)
			return event;
	}
	return NULL;
}

static double value_of(json_t *answer, const char *name, const char *source) {
	json_t *event = event_of(answer, name, source);
	if (json_is_null(path_get(event, "value")))
		printf("# %s: %s\n", name, text_of(event, "reason"));
	return number_of(event, "value");
}

static bool is_correct(json_t *answer) {
	if (strcmp(text_of(answer, "status"), "correct") == 0)
		return true;
	printf("# %s: %s%s\n", text_of(answer, "status"), text_of(answer, "message"), text_of(answer, "error.what"));
	return false;
}

static json_t *pages_count(struct fixture *f, int pages, const char *more) {
	return client_ask(f->client, APP "\"pages\",\"%d\"],\"counters\":[\"perf\",\"rusage\"]%s}", f->home, f->app, pages,
	                  more);
}

/* The difference of two amounts of work is what neither the start of a process nor the worker has in it. */
static void check_tree(struct fixture *f) {
	json_t *less = pages_count(f, PAGES, ""), *more = pages_count(f, 2 * PAGES, "");
	double faults = value_of(more, "page-faults", "perf"), grown = faults - value_of(less, "page-faults", "perf");
	ok(is_correct(less) && is_correct(more), "a program with threads and children is counted");
	ok(faults >= 2.0 * PARTS * PAGES && faults <= 2.0 * PARTS * PAGES + SPARE, "the page faults of all of it (%g)",
	   faults);
	ok(grown >= 0.98 * PARTS * PAGES && grown <= 1.02 * PARTS * PAGES, "grow with what all of it does (%g)", grown);
	grown = value_of(more, USAGE, USAGE) - value_of(less, USAGE, USAGE);
	ok(grown >= 0.98 * PARTS * PAGES && grown <= 1.02 * PARTS * PAGES,
	   "page faults in the kernel's accounting grow with the work, too (%g)", grown);
	ok(number_of(more, "counting.runs") == 2 && number_of(more, "counting.seconds") > 0 &&
	       number_of(more, "counting.start_stop_s") > 0,
	   "each source had a run of its own");
	ok(json_array_size(path_get(more, "samples")) == 1, "a counted run is not a sample");
	json_decref(less);
	json_decref(more);
}

static void check_before(struct fixture *f) {
	char *line = mem_printf(",\"before\":\"'%s' pages 20000\",\"verify\":\"'%s' pages 20000\"", f->app, f->app);
	json_t *answer = pages_count(f, 1, line);
	double faults = value_of(answer, "page-faults", "perf"), usage = value_of(answer, USAGE, USAGE);
	ok(is_correct(answer) && faults > 0 && faults < SPARE, "commands before and after it are not counted (%g)", faults);
	ok(usage > 0 && usage < 2 * SPARE, "usage of the commands before and after is not counted (%g)", usage);
	json_decref(answer);
	free(line);
}

static void check_time(struct fixture *f) {
	json_t *answer = client_ask(f->client, RUN "\"'%s' burn 0.1 & '%s' burn 0.1; wait\"],\"counters\":[\"perf\"]}",
	                            f->home, f->app, f->app);
	double clock = value_of(answer, "task-clock", "perf");
	ok(is_correct(answer) && clock >= 0.19 && clock < 60, "the CPU time of two processes (%g s)", clock);
	json_t *event = event_of(answer, "task-clock", "perf");
	is_text(text_of(event, "status"), "counted", "the CPU time of two processes is counted");
	ok(json_array_size(path_get(event, "per_thread")) == 0 && json_is_null(path_get(event, "imbalance")),
	   "threads are not told apart");
	json_decref(answer);
}

static void check_missing(struct fixture *f) {
	json_t *answer = client_ask(f->client, RUN "\"true\"],\"counters\":[\"fake\",\"rusage\"]}", f->home), *event;
	size_t i;
	int values = 0, silent = 0;
	json_array_foreach(path_get(answer, "counters"), i, event) {
		bool has = json_is_number(path_get(event, "value"));
		values += has;
		silent += !has && (strcmp(text_of(event, "status"), "unavailable") != 0 || !*text_of(event, "reason"));
	}
	ok(is_correct(answer) && values > 0 && silent == 0, "an event that programs cannot count has a reason");
	ok(number_of(answer, "counting.runs") == 1, "an event that programs cannot count needs no run");
	json_decref(answer);
	answer = client_ask(f->client, RUN "\"true\"]}", f->home);
	ok(!path_get(answer, "counters") && !path_get(answer, "counting"), "nothing is counted without a request");
	json_decref(answer);
	answer = client_ask(f->client, RUN "\"echo >ran\"],\"counters\":[\"perf\",\"rusag\"]}", f->home);
	char *ran = mem_printf("%s/ran", f->home);
	ok(strstr(text_of(answer, "error.what"), "rusag") && strstr(text_of(answer, "error.hint"), "rusage") &&
	       access(ran, F_OK) != 0,
	   "an unknown name is refused before anything runs");
	free(ran);
	json_decref(answer);
}

/* It behaves as long as it is timed. */
static void check_turncoat(struct fixture *f, const char *line, const char *more, const char *reason) {
	json_t *answer = client_ask(f->client,
	                            RUN "\"echo x >>turns; test $(wc -l <turns) -le 2 || { %s; }\"],"
	                                "\"samples\":2,\"counters\":[\"perf\"]%s}",
	                            f->home, line, more);
	json_t *event = path_get(answer, "counters");
	event = json_array_get(event, 0);
	ok(is_correct(answer) && json_array_size(path_get(answer, "samples")) == 2,
	   "samples stay good although the counted run fails");
	ok(json_is_null(path_get(event, "value")) && strstr(text_of(event, "reason"), reason),
	   "the failure of a counted run is the reason: %s", text_of(event, "reason"));
	ok(number_of(answer, "counting.runs") == 0 && !path_get(answer, "message"), "no run was counted");
	json_decref(answer);
	char *path = mem_printf("%s/turns", f->home);
	unlink(path);
	free(path);
}

static void check_turncoats(struct fixture *f) {
	check_turncoat(f, "exit 3", "", "exit status 3");
	check_turncoat(f, "sleep 60", ",\"timeout_s\":2", "timed out after 2 s");
	check_turncoat(f, "echo other", ",\"hash\":true", "differs between runs");
	check_turncoat(f, "kill -9 $$", ",\"cut_s\":30", "SIGKILL");
}

static int worker_files(const struct fixture *f) {
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fd", client_pid(f->client));
	DIR *dir = opendir(path);
	int count = 0;
	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static void check_leaks(struct fixture *f) {
	int before = worker_files(f);
	for (int i = 0; i < 5; i++)
		json_decref(client_ask(f->client, RUN "\"exit %d\"],\"counters\":[\"perf\",\"rusage\"]}", f->home, i % 2));
	ok(before > 0 && worker_files(f) == before, "no file is left open in the worker");
}

int main(void) {
	struct fixture f;
	fixture_open(&f);
	json_t *answer = client_ask(f.client, RUN "\"true\"],\"counters\":[\"perf\"]}", f.home);
	json_t *event = json_array_get(path_get(answer, "counters"), 0);
	if (json_is_null(path_get(event, "value"))) {
		tap_skip("programs counted as a whole", text_of(event, "reason"));
	} else {
		check_tree(&f);
		check_before(&f);
		check_time(&f);
		check_missing(&f);
		check_turncoats(&f);
		check_leaks(&f);
	}
	json_decref(answer);
	fixture_close(&f);
	return tap_done();
}
