/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/race/entrant.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/stats.h"

enum { ROW_MAX = 3, AWAY_MAX = 20, TRIALS_FAIR = 12 };

#define SAMPLE_MIN_S    1e-3  /* shorter work is batched up to this */
#define WARMUP_UNDER_S  20e-3 /* a longer run costs more to repeat than cold caches do */
#define PLAUSIBLE_MAX_S 1e9

void contender_clear(struct contender *contender) {
	free(contender->samples);
	*contender = (struct contender){0};
}

static bool samples_plausible(const struct trial_result *result, double max) {
	if (result->samples == NULL || result->sample_count == 0)
		return false;
	for (size_t i = 0; i < result->sample_count; i++)
		if (!isfinite(result->samples[i]) || result->samples[i] <= 0 || result->samples[i] > max)
			return false;
	return true;
}

/* A runner's word is not trusted: an impossible status or sample becomes a failure with a type and a message. */
static void result_check(struct trial_result *result, double max) {
	const char *wrong = NULL;

	if ((int)result->status < 0 || result->status >= TRIAL_STATUS_COUNT)
		wrong = "ended with an unknown status";
	else if (result->status == TRIAL_CORRECT && !samples_plausible(result, max))
		wrong = "reported no samples, or impossible ones";
	else if (result->status == TRIAL_CORRECT)
		result->value = stats_median(result->samples, result->sample_count);
	if (wrong == NULL)
		return;
	result->status = TRIAL_RUNTIME;
	result->sample_count = 0;
	result->value = NAN;
	snprintf(result->message, sizeof result->message, "%s", wrong);
}

static void contender_keep(struct contender *contender, double seconds) {
	if (contender->count == contender->room) {
		contender->room = contender->room ? 2 * contender->room : 32;
		contender->samples = mem_grow(contender->samples, contender->room, sizeof *contender->samples);
	}
	contender->samples[contender->count++] = seconds;
}

/* What can't come right by trying again. */
static bool failure_final(enum trial_status status) {
	return status == TRIAL_CORRECTNESS || status == TRIAL_COMPILE || status == TRIAL_CONSTRAINTS;
}

static void contender_fail(struct contender *contender, enum trial_status status) {
	contender->failed = status;
	contender->failures++;
	contender->failed_in_row++;
	if (failure_final(status) || contender->failed_in_row >= ROW_MAX ||
	    (contender->trials >= TRIALS_FAIR && 3 * contender->failures > contender->trials))
		contender->lost = true;
}

struct trial_request contender_request(const struct contender *contender, const struct trial_request *base) {
	struct trial_request request = *base;
	double last = contender->count > 0 ? contender->samples[contender->count - 1] : 0;

	request.config = contender->config;
	request.samples = 1;
	request.warmup = !base->whole_program && last < WARMUP_UNDER_S;
	request.min_sample_s = base->min_sample_s > SAMPLE_MIN_S ? base->min_sample_s : SAMPLE_MIN_S;
	request.limit_s = 0;
	request.counters = NULL;
	return request;
}

void contender_gone(struct contender *contender, bool outside) {
	if (outside ? ++contender->away < AWAY_MAX : ++contender->gone < ROW_MAX)
		return;
	contender_fail(contender, TRIAL_RUNTIME);
	contender->lost = true;
}

int contest_show(const struct contest *contest, const json_t *config, const struct trial_result *result,
                 struct err *err) {
	const struct race_observer *observer = contest->observer;

	if (observer == NULL || observer->trial == NULL)
		return 0;
	return observer->trial(observer->ctx, contest->phase, contest->block, config, result, err) != 0 ? -1 : 0;
}

int contender_take(struct contender *contender, const struct contest *contest, bool keep,
                   const struct trial_request *request, struct trial_result *result, double *seconds, struct err *err) {
	*seconds = NAN;
	/* What a program prints may be any number. */
	result_check(result, request->whole_program ? INFINITY : PLAUSIBLE_MAX_S);
	contender->trials++;
	contender->gone = contender->away = 0;
	if (result->status == TRIAL_CORRECT) {
		*seconds = result->value;
		contender->failed_in_row = 0;
		if (keep)
			contender_keep(contender, *seconds);
	} else {
		contender_fail(contender, result->status);
	}
	return contest_show(contest, request->config, result, err);
}

int contender_measure(struct contender *contender, const struct contest *contest, bool keep, double *seconds,
                      struct err *err) {
	struct trial_request request = contender_request(contender, contest->request);
	struct trial_result result = {.value = NAN};
	int status = contest->runner->run(contest->runner->ctx, &request, &result, err);

	*seconds = NAN;
	if (status == 0)
		status = contender_take(contender, contest, keep, &request, &result, seconds, err);
	trial_result_clear(&result);
	return status != 0 ? -1 : 0;
}
