/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contract of a cause, and what they share. A cause knows the field's names of parameters, never a kernel's. */
#ifndef TUNER_PROBE_CAUSE_IMPL_H
#define TUNER_PROBE_CAUSE_IMPL_H
#include "tuner/diagnosis/diagnosis_probe.h"
#include "tuner/probe/probe.h"

/* An effect below this is no reason for anything. */
static const double CAUSE_LEAST = 1.1;

struct cause_test {
	json_t *problem[2], *config[2]; /* as it is, and with the intervention; new references */
	double work; /* the time of the second is divided by this: it does more work, or has fewer threads */
	double predicted, otherwise; /* the time of the first over that of the second, if it is the cause and if not */
	double apart;                /* between these: the ratio that separates both */
	double most;                 /* a larger ratio has another cause; INFINITY: none has */
	double seconds;              /* of the first in the table, in its unit */
	size_t beside;     /* processes beside the trials: they compute at the first side and read at the second */
	const char *param; /* the only parameter that differs; NULL: there are more */
	char intervention[PROBE_TEXT], why[PROBE_TEXT];
};

struct cause {
	const char *name;   /* that of its diagnosis, if there is one */
	const char *device; /* "cpu" or "cuda" */
	/* False: it is not testable here, because of test->why. What was set is freed by the caller in either case. */
	bool (*plan)(const struct probe_subject *subject, struct cause_test *test);
};

bool cause_untestable(struct cause_test *test, const char *why, ...) __attribute__((format(printf, 2, 3)));
void cause_intervene(struct cause_test *test, const char *text, ...) __attribute__((format(printf, 2, 3)));
/* Sets both predictions. sure: the effect was seen in a table; otherwise it may be smaller, but not nothing. */
void cause_predict(struct cause_test *test, double predicted, double otherwise, bool sure);

/* The parameter of a configuration that is the team's size, by its usual names; NULL: there is none. */
const char *cause_threads(const json_t *config);
double cause_team(const json_t *config); /* 1 without that parameter */
/* The fastest row of the problem with a team of that size (most 0: no limit); SIZE_MAX: none. */
size_t cause_row(const struct probe_subject *subject, double least, double most);
/* The fastest row with the largest team that fits the machine. */
size_t cause_row_full(const struct probe_subject *subject);
/* Both sides are this row, until something is changed. */
void cause_begin(const struct probe_subject *subject, size_t row, struct cause_test *test);
void cause_team_set(struct cause_test *test, int side, double team);

struct cause_words {
	const char *names; /* of the parameter */
	const char *bad;   /* values that suffer; NULL: the largest number */
	const char *good;  /* values that do not; NULL: the fastest other one that was measured */
	const char *fresh; /* one of these if none was measured; may be NULL */
	const char *what;  /* for a reason: "memory units that threads do not share" */
};
/* Plans that one value takes the place of another, in the fastest setting that has the first and several threads. */
bool cause_replace(const struct probe_subject *subject, const struct cause_words *words, struct cause_test *test);
/* Plans the same setting on another problem that was measured and has at least twice the work, or at most half of it.
 * bytes_most: of its data; INFINITY: any. */
bool cause_resize(const struct probe_subject *subject, size_t row, bool larger, double bytes_most,
                  struct cause_test *test);
#endif
