/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tuner that is killed in any of its trials and then resumed tells its strategy exactly what an uninterrupted one
 * does: the same configurations in the same order, with the same values, deviations, seconds and counters. */
#include <signal.h>
#include <sys/wait.h>

#include "tests/tuner/tune/spy.h"

static const char *const EVERY[] = {"steps", "misses", NULL};
static const uint64_t EVALUATIONS = 16;

/* Runs from the beginning, or from the store, to the end; runs: how many the kernel made. */
static json_t *tune(const char *path, int64_t resume, int dies_at, double seconds, int *runs) {
	struct spy_kernel kernel = {.dies_at = dies_at, .counts = true};
	struct runner runner = spy_runner(&kernel);
	struct store *store = fixture_open(path);
	struct space *space = spy_space("1..64*2");
	struct tune_task task = spy_task(store, space, &runner, 1000, EVALUATIONS);
	struct err err = {0};
	json_t *result = NULL;
	task.resume = resume;
	task.counters = (struct trial_counters){.asked = EVERY, .every = true};
	if (seconds > 0)
		task.budget = (struct tune_budget){.seconds = seconds};
	if (tune_run(&task, NULL, &result, &err))
		printf("# %s\n", err.what);
	*runs = kernel.runs;
	spy_task_clear(&task);
	space_free(space);
	store_close(store);
	return result;
}

/* Runs in a child process, which dies. */
static void killed(const char *path, int64_t resume, int dies_at, double seconds) {
	int runs, status = 0;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		json_decref(tune(path, resume, dies_at, seconds, &runs));
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (!WIFSIGNALED(status))
		printf("# it should have died in run %d\n", dies_at);
}

static bool told_same(const struct spy_told *a, const struct spy_told *b) {
	return a->index == b->index && a->outcome.result == b->outcome.result && a->outcome.value == b->outcome.value &&
	       a->outcome.deviation == b->outcome.deviation && a->outcome.seconds == b->outcome.seconds &&
	       memcmp(a->counters, b->counters, sizeof a->counters) == 0;
}

static bool same(const struct spy_book *a, size_t count) {
	if (a->budget != spy_book.budget || a->seed != spy_book.seed || spy_book.count < count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!told_same(&a->told[i], &spy_book.told[i])) {
			printf("# outcome %zu: index %llu value %g deviation %g seconds %g\n", i,
			       (unsigned long long)spy_book.told[i].index, spy_book.told[i].outcome.value,
			       spy_book.told[i].outcome.deviation, spy_book.told[i].outcome.seconds);
			return false;
		}
	return true;
}

static char *store_of(const char *what, int number) {
	char name[64];
	snprintf(name, sizeof name, "%s%d.db", what, number);
	return fixture_path(name);
}

static void whole(struct spy_book *book, int *runs) {
	char *path = store_of("whole", 0);
	size_t sure = 0, counted = 0, failed = 0, censored = 0;
	json_decref(tune(path, 0, 0, 0, runs));
	*book = spy_book;
	for (size_t i = 0; i < book->count; i++) {
		const struct strategy_outcome *outcome = &book->told[i].outcome;
		sure += outcome->deviation > 0;
		counted += book->told[i].counters[0] > 0 && isnan(book->told[i].counters[1]);
		failed += outcome->result == STRATEGY_FAILURE;
		censored += outcome->result == STRATEGY_CENSORED;
	}
	ok(book->count == EVALUATIONS && book->budget == EVALUATIONS, "%zu outcomes are reported", book->count);
	ok(sure == book->count - failed - censored, "values with their deviation");
	ok(book->counter_count == 2 && counted == sure, "outcomes are reported with counters, NAN if not counted");
	ok(book->told[0].outcome.seconds > 0.01, "outcomes are reported with their seconds");
	free(path);
}

static void killed_once(const struct spy_book *book, int runs) {
	int good = 0, tried = 0;
	for (int at = 1; at <= runs; at += at < 40 ? 1 : 17) {
		char *path = store_of("once", at);
		int left;
		killed(path, 0, at, 0);
		json_t *result = tune(path, 1, 0, 0, &left);
		tried++;
		good += same(book, book->count) && js_int_or(result, "evaluations", 0) == (int64_t)EVALUATIONS;
		json_decref(result);
		free(path);
	}
	ok(good == tried, "killed in any run and resumed, it continues identically: %d of %d", good, tried);
}

static void killed_often(const struct spy_book *book) {
	char *path = store_of("often", 0);
	int left;
	killed(path, 0, 4, 0);
	for (int i = 0; i < 5; i++)
		killed(path, 1, 2 + i, 0);
	json_decref(tune(path, 1, 0, 0, &left));
	ok(same(book, book->count), "a search that is killed again and again goes on with the same sequence");
	free(path);
}

static int trials_stored(const char *path) {
	struct err err = {0};
	struct store *store = store_open(path, STORE_READ, &err);
	int64_t last = 0;
	if (store)
		store_last_trial(store, &last, &err);
	store_close(store);
	return (int)last;
}

static void measured_once(const struct spy_book *book) {
	char *one = store_of("again", 1), *two = store_of("again", 2);
	int left, runs;
	json_decref(tune(one, 0, 0, 0, &runs));
	int all = trials_stored(one);
	killed(two, 0, 12, 0);
	json_decref(tune(two, 1, 0, 0, &left));
	ok(same(book, book->count) && trials_stored(two) - 11 == left && all == runs,
	   "stored trials are neither measured nor stored again");
	free(one);
	free(two);
}

/* Strategies that look at the time of an evaluation are included, because here it follows from the configuration. */
static void every_strategy(void) {
	static struct spy_book book;
	int runs;
	for (size_t i = 0; strategy_registry[i]; i++) {
		char *one = store_of("strategy", 2 * (int)i), *two = store_of("strategy", 2 * (int)i + 1);
		spy_book.inner = strategy_registry[i];
		json_decref(tune(one, 0, 0, 0, &runs));
		book = spy_book;
		killed(two, 0, 7, 0);
		killed(two, 1, 8, 0);
		json_decref(tune(two, 1, 0, 0, &runs));
		ok(book.count == EVALUATIONS && same(&book, book.count), "%s continues identically",
		   strategy_registry[i]->name);
		free(one);
		free(two);
	}
	spy_book.inner = NULL;
}

/* With a budget in seconds the strategy is told the same number of evaluations, and the trials before the kill come
 * first. How many more fit into the time is not deterministic. */
static void of_seconds(void) {
	char *one = store_of("seconds", 1), *two = store_of("seconds", 2);
	int left;
	static struct spy_book book;
	json_decref(tune(one, 0, 0, 2.5, &left));
	book = spy_book;
	killed(two, 0, 9, 2.5);
	json_decref(tune(two, 1, 0, 2.0, &left));
	size_t both = book.count < spy_book.count ? book.count : spy_book.count;
	ok(both >= 5 && same(&book, both), "a budget in seconds: the same %zu outcomes", both);
	free(one);
	free(two);
}

int main(void) {
	static struct spy_book book;
	int runs;
	fixture_begin();
	spy_book_clear();
	whole(&book, &runs);
	killed_once(&book, runs);
	killed_often(&book);
	measured_once(&book);
	every_strategy();
	of_seconds();
	spy_book_clear();
	return fixture_end();
}
