/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option --counters of run, compare and sweep. */
#include "base/json/js.h"
#include "src/cmd/run/run_impl.h"
#include "src/show/counters.h"

enum { SAMPLES = 3 };
static const double SAMPLE_SECONDS = 4e-3, TIMEOUT_FACTOR_OF_SLOW = 30;

/* `all` extends counting to the trials of a search. These commands do not search, so it means `auto` here. */
static void counters_all(struct counters_words *words) {
	if (counters_words_remove(words, "all") && words->count == 0) {
		words->names[words->count++] = "auto";
		words->names[words->count] = NULL;
	}
}

/* Checks the names before the kernel runs. */
static int counters_check(struct manual *manual, const struct counters_words *words, struct err *err) {
	const struct counters_subject subject = {
		.kernel = manual->kernel->name, .library = manual->kernel->library, .device = app_device(manual->app)};
	js_auto json_t *answer =
		words->count ? counters_ask(manual->app, &subject, words->names, &manual->slow, err) : NULL;
	int failed = words->count && !answer ? -1 : 0;
	if (manual->slow)
		counters_slow_warn(manual->app);
	return failed;
}

int manual_counters(struct manual *manual, const struct opt_args *args, struct counters_words *words, struct err *err) {
	if (counters_words_read(args, words, err))
		return -1;
	counters_all(words);
	return counters_check(manual, words, err);
}

int manual_count(struct manual *manual, const struct counters_words *words, const json_t *problem, const json_t *config,
                 struct trial_result *result, struct err *err) {
	struct trial_request request = manual_request(manual, config);
	request.problem = problem;
	request.samples = SAMPLES;
	request.min_sample_s = SAMPLE_SECONDS;
	request.counters = words->names;
	request.slow = manual->slow;
	if (manual->slow)
		request.timeout_s *= TIMEOUT_FACTOR_OF_SLOW;
	return manual->runner.run(manual->runner.ctx, &request, result, err);
}
