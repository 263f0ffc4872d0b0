/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One trial: a configuration measured on a problem, by whatever can run it. A runner hides what that is: the worker
 * process for kernels; others can be added beside it. */
#ifndef TUNER_TRIAL_TRIAL_H
#define TUNER_TRIAL_TRIAL_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"

/* name in JSON, and a sentence for people. The first six are the words of T4. */
#define TRIAL_STATUS(X)                                                                                                \
	X(CORRECT, "correct", "ran and was right")                                                                         \
	X(CONSTRAINTS, "constraints", "can't be run on this problem")                                                      \
	X(COMPILE, "compile", "did not compile")                                                                           \
	X(RUNTIME, "runtime", "failed while running")                                                                      \
	X(TIMEOUT, "timeout", "took too long")                                                                             \
	X(CORRECTNESS, "correctness", "gave a wrong result")                                                               \
	X(CENSORED, "censored", "was cut short: it could no longer win")

enum trial_status {
#define TRIAL_ENUM(name, word, text) TRIAL_##name,
	TRIAL_STATUS(TRIAL_ENUM)
#undef TRIAL_ENUM
		TRIAL_STATUS_COUNT
};
const char *trial_status_word(enum trial_status status);
const char *trial_status_text(enum trial_status status);
bool trial_status_find(const char *word, enum trial_status *status);

/* What a kernel's trial gives as its value, of one run. name, unit, for people */
#define TRIAL_OBJECTIVES(X)                                                                                            \
	X(TIME, "time", "s")                                                                                               \
	X(ENERGY, "energy", "J")                                                                                           \
	X(EDP, "edp", "J*s")

enum trial_objective {
#define TRIAL_OBJECTIVE_ENUM(name, word, unit) TRIAL_OBJECTIVE_##name,
	TRIAL_OBJECTIVES(TRIAL_OBJECTIVE_ENUM)
#undef TRIAL_OBJECTIVE_ENUM
		TRIAL_OBJECTIVE_COUNT
};
const char *trial_objective_word(enum trial_objective objective);
const char *trial_objective_unit(enum trial_objective objective);
bool trial_objective_find(const char *word, enum trial_objective *objective);

struct trial_request {
	const char *kernel, *library;   /* library: plug-in that the kernel is in; NULL: built in */
	const char *device;             /* "cuda:0"; NULL: the CPU */
	const json_t *problem, *config; /* objects, borrowed */
	uint64_t seed;
	int samples, warmup;
	double min_sample_s;
	double limit_s;                 /* cut short once its median can't get under this; 0: no limit */
	double timeout_s;               /* the whole trial; 0: none */
	bool whole_program;             /* a run is a process of its own: nothing to warm up or to batch */
	bool flush_l2;                  /* of a GPU, before each run */
	enum trial_objective objective; /* what the samples are of */
	bool energy;                    /* is measured, too, and is in the reply; of a GPU */
	bool series;                    /* the reply tells of each step of the last run */
	const char *const *counters;    /* NULL-terminated, or NULL */
	bool slow;                      /* some of them are counted under a simulator */
};

struct trial_result {
	enum trial_status status;
	double *samples; /* in the unit of the objective, in the order taken */
	size_t sample_count;
	double value;         /* their median; for CENSORED the limit it is over; NAN otherwise */
	double least;         /* the smallest sample, of a censored trial too; NAN: none */
	double elapsed_s;     /* the whole trial as the tuner saw it */
	double ended;         /* seconds since 1970; 0: just now */
	bool disturbed;       /* steal, involuntary switches or run delay worth flagging */
	char disturbance[96]; /* by what, where that is known */
	char message[256];
	json_t *reply; /* all that the worker said; may be NULL */
};
void trial_result_clear(struct trial_result *result);

struct runner {
	void *ctx;
	/* 0: result is filled, a failure of the trial included. -1: nothing can be run at all, or interrupted. */
	int (*run)(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err);
};

#endif
