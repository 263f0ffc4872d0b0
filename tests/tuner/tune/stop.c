/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search stops when its strategy expects too little gain, and the result says why it stopped. */
#include "tests/tuner/tune/spy.h"
#include "tuner/race/deviation.h"

static struct spy_kernel kernel;

static double now(void *ctx) {
	return 0.1 * ((const struct spy_kernel *)ctx)->runs;
}

/* Each run takes a tenth of a second where the budget is in seconds. */
static json_t *tune(double promise, double stop_gain, uint64_t evaluations, double seconds) {
	kernel = (struct spy_kernel){0};
	struct runner runner = spy_runner(&kernel);
	char *path = fixture_path("stop.db");
	struct store *store = fixture_open(path);
	struct space *space = spy_space("1..64*2");
	struct tune_task task = spy_task(store, space, &runner, 1000, evaluations);
	struct err err = {0};
	json_t *result = NULL;
	spy_book_clear();
	spy_book.promise = promise;
	task.limits.stop_gain = stop_gain;
	if (seconds > 0) {
		task.budget = (struct tune_budget){.seconds = seconds};
		task.hooks.now = now;
		task.hooks.now_ctx = &kernel;
	}
	if (tune_run(&task, NULL, &result, &err))
		printf("# %s\n", err.what);
	spy_task_clear(&task);
	space_free(space);
	store_close(store);
	free(path);
	return result;
}

static void check(double promise, double stop_gain, uint64_t evaluations, int64_t want, const char *why,
                  const char *what) {
	json_t *result = tune(promise, stop_gain, evaluations, 0);
	int64_t got = js_int_or(result, "evaluations", -1);
	ok(got == want && strcmp(js_string_or(result, "stopped", "?"), why) == 0, "%s: %lld evaluations, %s", what,
	   (long long)got, js_string_or(result, "stopped", "?"));
	json_decref(result);
}

/* 35 configurations in half a minute, with a strategy that expects nothing of any. */
static void rest(void) {
	json_t *whole = tune(0.0005, 0.01, 0, 60), *part = tune(0.0005, 0.01, 0, 12);
	ok(js_int_or(whole, "evaluations", -1) == 35 && strcmp(js_string_or(whole, "stopped", "?"), "space") == 0,
	   "a space whose rest costs little of the budget is tried whole: %lld evaluations, %s",
	   (long long)js_int_or(whole, "evaluations", -1), js_string_or(whole, "stopped", "?"));
	ok(js_int_or(part, "evaluations", -1) < 35, "one whose rest costs more is not: %lld evaluations, %s",
	   (long long)js_int_or(part, "evaluations", -1), js_string_or(part, "stopped", "?"));
	json_decref(whole);
	json_decref(part);
}

static void deviations(void) {
	const double same[] = {2, 2, 2}, near[] = {1, 1.01, 1.02}, far[] = {1, 1.1, 1.2}, odd[] = {1, 1.01, 1.02, 0.99, 9};
	ok(deviation_of_median(same, 3) == 0 && deviation_of_median(same, 1) == 0 && deviation_of_median(same, 0) == 0,
	   "equal samples, or a single one, give no deviation");
	double a = deviation_of_median(near, 3), b = deviation_of_median(far, 3);
	ok(a > 0.002 && a < 0.03 && b > 5 * a && b < 15 * a, "the deviation grows with the spread: %g, %g", a, b);
	ok(deviation_of_median(odd, 5) < 0.05, "an outlier hardly counts: %g", deviation_of_median(odd, 5));
	double mean = deviation_of_mean(1, 0.01, 1, 0.01), apart = deviation_of_mean(1, 0.01, 1.2, 0.01);
	ok(mean < 0.01 && mean > 0.005, "two medians that agree are more certain than one");
	ok(apart > 0.05, "two medians that disagree are less certain than one");
}

int main(void) {
	fixture_begin();
	check(0.0005, 0.01, 30, 12, "gain",
	      "an expected gain far below the limit stops a search ten evaluations after its best");
	check(0.002, 0.01, 30, 30, "budget", "an expected gain above a tenth of the limit does not stop a search");
	check(NAN, 0.01, 30, 30, "budget", "a strategy that does not know its gain does not stop a search");
	check(0.001, 0, 30, 30, "budget", "no gain stops a search without a limit");
	check(0.001, 0.01, 6, 6, "budget", "a small budget ends a search earlier");
	check(0.5, 0.01, 100, 35, "space", "a small space ends a search earlier");
	rest();
	deviations();
	spy_book_clear();
	return fixture_end();
}
