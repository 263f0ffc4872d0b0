/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --counters of the comparisons by hand. */
#include <config.h>

#include "src/cmd/run/manual.h"
#include "src/show/counters_ask.h"

enum { SAMPLES = 3 };
static const double SAMPLE_SECONDS = 4e-3, TIMEOUT_FACTOR_OF_SLOW = 30;

/* As for tune, which has other trials, too. */
static void counters_all(struct counters_words *words) {
	if (counters_words_remove(words, "all") && words->count == 0) {
		words->names[words->count++] = "auto";
		words->names[words->count] = NULL;
	}
}

/* A word that nobody knows is found before the kernel runs. */
static int counters_check(struct manual *hand, const struct counters_words *words, struct err *err) {
	const struct counters_subject subject = {
		.kernel = hand->kernel->name, .library = hand->kernel->library, .device = app_device(hand->app)};
	json_t *answer = words->count ? counters_ask(hand->app, &subject, words->names, &hand->slow, err) : NULL;
	int failed = words->count && !answer ? -1 : 0;
	if (hand->slow)
		counters_slow_warn(hand->app);
	json_decref(answer);
	return failed;
}

int manual_counters(struct manual *hand, const struct opt_args *args, struct counters_words *words, struct err *err) {
	if (counters_words_read(args, words, err))
		return -1;
	counters_all(words);
	return counters_check(hand, words, err);
}

int manual_count(struct manual *hand, const struct counters_words *words, const json_t *problem, const json_t *config,
                 struct trial_result *result, struct err *err) {
	struct trial_request request = manual_request(hand, config);
	request.problem = problem;
	request.samples = SAMPLES;
	request.min_sample_s = SAMPLE_SECONDS;
	request.counters = words->names;
	request.slow = hand->slow;
	if (hand->slow)
		request.timeout_s *= TIMEOUT_FACTOR_OF_SLOW;
	return hand->runner.run(hand->runner.ctx, &request, result, err);
}
