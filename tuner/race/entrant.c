/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/race/entrant_impl.h"

#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/sys.h"

enum { IN_A_ROW_MAX = 3, AWAY_MAX = 20, TRIALS_FAIR = 12 };

#define SAMPLE_MIN_S    1e-3  /* shorter work is repeated until a sample takes this long */
#define WARMUP_UNDER_S  20e-3 /* repeating a longer run costs more than its cold caches do */
#define PLAUSIBLE_MAX_S 1e9

void race_entrant_clear(struct race_entrant *entrant) {
	free(entrant->samples);
	*entrant = (struct race_entrant){0};
}

static bool samples_plausible(const struct trial_result *result, double max) {
	if (result->samples == NULL || result->sample_count == 0)
		return false;
	for (size_t i = 0; i < result->sample_count; i++)
		if (!isfinite(result->samples[i]) || result->samples[i] <= 0 || result->samples[i] > max)
			return false;
	return true;
}

/* Runners are not trusted: an impossible status or sample becomes a failure with a type and a message. */
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

static void race_entrant_keep(struct race_entrant *entrant, double seconds) {
	if (entrant->count == entrant->room) {
		entrant->room = entrant->room ? 2 * entrant->room : 32;
		entrant->samples = mem_grow(entrant->samples, entrant->room, sizeof *entrant->samples);
	}
	entrant->samples[entrant->count++] = seconds;
}

/* These failures would only repeat. */
static bool failure_final(enum trial_status status) {
	return status == TRIAL_CORRECTNESS || status == TRIAL_COMPILE || status == TRIAL_CONSTRAINTS;
}

static void race_entrant_fail(struct race_entrant *entrant, enum trial_status status) {
	entrant->failed = status;
	entrant->failures++;
	entrant->failures_in_a_row++;
	if (failure_final(status) || entrant->failures_in_a_row >= IN_A_ROW_MAX ||
	    (entrant->trials >= TRIALS_FAIR && 3 * entrant->failures > entrant->trials))
		entrant->lost = true;
}

struct trial_request race_entrant_request(const struct race_entrant *entrant, const struct trial_request *base) {
	struct trial_request request = *base;
	double last = entrant->count > 0 ? entrant->samples[entrant->count - 1] : 0;

	request.config = entrant->config;
	request.samples = 1;
	request.warmup = !base->whole_program && last < WARMUP_UNDER_S;
	request.min_sample_s = base->min_sample_s > SAMPLE_MIN_S ? base->min_sample_s : SAMPLE_MIN_S;
	request.limit_s = request.cut_s = entrant->bound;
	request.counters = NULL;
	return request;
}

void race_entrant_gone(struct race_entrant *entrant, bool outside) {
	if (outside ? ++entrant->away < AWAY_MAX : ++entrant->gone < IN_A_ROW_MAX)
		return;
	race_entrant_fail(entrant, TRIAL_RUNTIME);
	entrant->lost = true;
}

void race_entrant_judge(struct race_entrant *entrant, bool keep) {
	if (keep)
		entrant->judged = entrant->count;
	else
		entrant->count = entrant->judged;
}

int race_context_report(const struct race_context *context, const struct race_entrant *entrant,
                        const struct trial_result *result, struct err *err) {
	const struct race_observer *observer = context->observer;
	const char *phase = entrant->phase ? entrant->phase : context->phase;

	if (observer == NULL || observer->trial == NULL)
		return 0;
	return observer->trial(observer->ctx, phase, context->block, entrant->config, result, err) != 0 ? -1 : 0;
}

int race_entrant_record(struct race_entrant *entrant, const struct race_context *context, bool keep,
                        const struct trial_request *request, struct trial_result *result, double *seconds,
                        struct err *err) {
	bool over = entrant->bound > 0 && result->status == TRIAL_CENSORED;

	*seconds = NAN;
	/* Only seconds have an upper bound: a program may print a metric of any size. */
	result_check(result, request->whole_program ? INFINITY : PLAUSIBLE_MAX_S);
	entrant->trials++;
	entrant->gone = entrant->away = 0;
	if (result->status == TRIAL_CORRECT || over) {
		*seconds = over ? entrant->bound : result->value;
		entrant->bounded += over;
		entrant->failures_in_a_row = 0;
		if (keep)
			race_entrant_keep(entrant, *seconds);
	} else {
		race_entrant_fail(entrant, result->status);
	}
	return race_context_report(context, entrant, result, err);
}

double race_clock_now(const struct race_clock *clock) {
	return clock->now != NULL ? clock->now(clock->ctx) : sys_now();
}

bool race_clock_late(const struct race_clock *clock, double each) {
	return clock->end > 0 && race_clock_now(clock) + each > clock->end;
}

static bool clock_passed(const struct race_clock *clock, double start, int blocks, double more) {
	double each = blocks > 0 ? (race_clock_now(clock) - start) / blocks : 0;

	return race_clock_late(clock, more * each);
}

bool race_clock_over(const struct race_clock *clock, double start, int blocks) {
	return clock_passed(clock, start, blocks, 1);
}

/* The wait counts as a part of the time that a block takes on average, which may double. */
bool race_clock_spares(const struct race_clock *clock, double start, int blocks, int more) {
	return !clock_passed(clock, start, blocks, 3 * more);
}

void race_clock_limit(const struct race_clock *clock, struct trial_request *request) {
	double left;

	if (clock == NULL || !(clock->cut > 0))
		return;
	left = fmax(clock->cut - race_clock_now(clock), 1e-3);
	request->left_s = left;
	request->timeout_s = request->timeout_s > 0 ? fmin(request->timeout_s, left) : left;
}

static bool is_over(const struct race_clock *clock) {
	return clock != NULL && clock->cut > 0 && race_clock_now(clock) >= clock->cut;
}

static bool was_cut(const struct race_clock *clock, const struct trial_result *result) {
	return result->status != TRIAL_CORRECT && is_over(clock);
}

bool race_entrant_cut(struct race_entrant *entrant, const struct race_context *context,
                      const struct trial_result *result) {
	bool cut = was_cut(context->clock, result);

	entrant->cut = entrant->cut || cut;
	return cut;
}

int race_entrant_measure(struct race_entrant *entrant, const struct race_context *context, bool keep, double *seconds,
                         struct err *err) {
	struct trial_request request = race_entrant_request(entrant, context->request);
	struct trial_result result = {.value = NAN};
	int status;

	*seconds = NAN;
	if (is_over(context->clock))
		return 0;
	race_clock_limit(context->clock, &request);
	status = context->runner->run(context->runner->ctx, &request, &result, err);
	if (status == 0 && was_cut(context->clock, &result))
		entrant->cut = true;
	else if (status == 0)
		status = race_entrant_record(entrant, context, keep, &request, &result, seconds, err);
	trial_result_clear(&result);
	return status != 0 ? -1 : 0;
}
