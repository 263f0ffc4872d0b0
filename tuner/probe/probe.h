/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Experiments about causes. Each cause names the intervention that would refute it and predicts its effect; both sides
 * then meet in the interleaved pairs of a duel (tuner/race). What the finals of a tune have measured already is not
 * measured again. */
#ifndef TUNER_PROBE_PROBE_H
#define TUNER_PROBE_PROBE_H
#include "tuner/race/race.h"
#include "tuner/study/study.h"

/* A finished study, and what is known about one of its problems. */
struct probe_subject {
	const struct study *study;
	size_t problem_row;     /* any row of the problem */
	const json_t *tune;     /* the newest result of `tune` for it; NULL: none */
	const json_t *findings; /* as of findings_json: their causes come first; may be NULL */
	bool program;           /* what was measured is a program, whose environment can be changed */
	bool whole;             /* its times are those of whole runs, so that their usage belongs to them */
	const json_t *regions;  /* as of probe_bench; NULL: not known */
	/* The share of its time in which one thread runs alone, and the time on cause_fewer() cores over that on all, by
	 * the threads that run at a time; NAN: not known; NULL: look. */
	const double *alone;
};

/* Interventions may set these in the environment of a program; NULL-terminated. A configuration that has a member of
 * such a name sets it. */
extern const char *const probe_variables[];

struct probe_bench {
	struct runner runner;         /* run NULL: nothing can be measured, because of `why` */
	struct runner confined;       /* the same in processes that it starts in this one's confinement; run NULL: none */
	void (*rest)(void *ctx);      /* ends these processes; may be NULL */
	struct trial_request request; /* without problem, configuration and samples */
	const char *why;
	/* Adds the parameters that a value brings along, such as the chunk of a schedule; NULL with err if it is not valid.
	 * May be NULL. New reference. */
	json_t *(*complete)(void *ctx, const json_t *problem, const json_t *config, struct err *err);
	/* regions_profile of one run; may return NULL, and be NULL. New reference. */
	json_t *(*regions)(void *ctx, const json_t *problem, const json_t *config);
	int (*begin)(void *ctx, const char *cause, double left_s, struct err *err); /* before each trial; may be NULL */
	void *ctx;
	double seconds;  /* for all causes together */
	bool in_seconds; /* the values of the study are times */
	bool own;        /* trials run on this machine: processes can run beside them */
	uint64_t seed;
	struct race_clock clock; /* only its `now` */
	struct race_watch *watch;
};

/* [{"cause","intervention","predicted","measured","ci","outcome":"confirmed"|"refuted"|"measured"|"not testable",
 * "reason","otherwise","pairs","from":"pairs"|"tune"|"record"}]: ratios of the time as it is to the time with the
 * intervention, predicted if it is the cause, and `otherwise` if it is not. "measured": the intervention has an effect
 * that nothing predicts. "record": the runs so far show that no more than the end of the interval can be gained. Those
 * that are not testable have a reason, and null for what is not known. New reference. If `begin` or the runner fails
 * (an interruption), err says so, and the other causes are "not testable" for this reason. */
json_t *probe_causes(const struct probe_subject *subject, const struct probe_bench *bench, struct err *err);
#endif
