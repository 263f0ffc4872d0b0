/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One configuration in a duel or a race: what it measured and how it failed. What runners report is checked here. */
#ifndef TUNER_RACE_ENTRANT_H
#define TUNER_RACE_ENTRANT_H
#include "tuner/race/race.h"

struct race_entrant {
	const json_t *config;
	double *samples; /* seconds, of the trials that worked */
	size_t count, room;
	int trials, failures, failures_in_a_row;
	enum trial_status failed; /* the last failure, TRIAL_CORRECT: none */
	bool lost;                /* failed for good */
	int gone, away;           /* lost while it ran, in a row: killed, perhaps by itself; with its node */
};

/* What all trials of one comparison share. */
struct race_context {
	struct runner *runner;
	const struct trial_request *request;
	const struct race_observer *observer; /* may be NULL */
	const char *phase;
	int block;
};

void race_entrant_clear(struct race_entrant *entrant);
/* One trial of one sample. *seconds is NAN where it failed; that includes samples that no clock can give. It has lost
 * after a wrong result, or a failure that will come again (compile, constraints), after 3 failures in a row, and when
 * more than a third of at least 12 trials failed. keep: the sample joins `samples`. -1: interrupted, or nothing can be
 * run. */
struct trial_request race_entrant_request(const struct race_entrant *entrant, const struct trial_request *base);
int race_entrant_measure(struct race_entrant *entrant, const struct race_context *context, bool keep, double *seconds,
                         struct err *err);
/* The same for a trial that was run elsewhere. result is the caller's; it may be changed. */
int race_entrant_record(struct race_entrant *entrant, const struct race_context *context, bool keep,
                        const struct trial_request *request, struct trial_result *result, double *seconds,
                        struct err *err);
/* Its worker was killed while it ran, which after 3 times in a row counts as its failure; or, outside, its node went
 * away, which does after 20: so that there is an end. */
void race_entrant_gone(struct race_entrant *entrant, bool outside);
/* Tells the observer alone. */
int race_context_report(const struct race_context *context, const json_t *config, const struct trial_result *result,
                        struct err *err);

#endif
