/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One trial: a configuration measured on a problem. A runner hides how that is done: kernels run in the worker process,
 * whole programs and replays have runners of their own (doc/adr/0001-process-boundary.md). */
#ifndef TUNER_TRIAL_TRIAL_H
#define TUNER_TRIAL_TRIAL_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/* The word in JSON and a phrase for people. The first six words are those of the T4 format. */
#define TRIAL_STATUS(X)                                                                                                \
	X(CORRECT, "correct", "ran correctly")                                                                             \
	X(CONSTRAINTS, "constraints", "cannot run on this problem")                                                        \
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
json_t *trial_failures_json(const uint64_t counts[TRIAL_STATUS_COUNT]); /* {"compile": 0, ..}, without the correct */

/* The quantity that the value of a trial stands for, per run: word and unit. */
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
const char *trial_metric_unit(const char *metric); /* of a program; "s" for NULL, "" if it is not known */
/* The unit of an objective as it is stored, by its word or as "minimize METRIC"; "" if it is not known. */
const char *trial_unit(const char *objective);
bool trial_objective_find(const char *word, enum trial_objective *objective);

struct trial_request {
	const char *kernel, *library;   /* library: the plug-in with this kernel; NULL: built in */
	const char *device;             /* "cuda:0"; NULL: the CPU */
	const json_t *problem, *config; /* borrowed objects */
	uint64_t seed;
	int samples, warmup;
	double min_sample_s;
	double limit_s;                 /* the trial is cut short once its median cannot get below this; 0: no limit */
	double settles_s;               /* a kernel's run that takes as long needs one sample only; 0: none does */
	double cut_s;                   /* a run that takes longer is ended, whatever else that costs; 0: none is */
	double timeout_s;               /* for the whole trial; 0: none */
	double left_s;                  /* until the budget ends: nothing that a trial needs may take longer; 0: no end */
	bool whole_program;             /* each run is a process of its own: neither warmed up nor batched */
	bool flush_l2;                  /* empty the GPU cache before each run */
	enum trial_objective objective; /* the quantity that is sampled */
	bool energy;                    /* measure the energy of the GPU as well and put it into the reply */
	bool watch;                     /* of a program: report what it does on GPUs, in a run of its own */
	bool prepare;                   /* of a kernel: only open the device and the input, whose code is being built */
	bool trusted;                   /* of a kernel: do not verify it, even in a new worker */
	bool check;                     /* of a kernel: verify it even if this configuration was verified before */
	bool show;                      /* of a program: keep the end of its stdout for the case that it fails */
	bool series;                    /* report every step of the last run */
	const char *const *counters;    /* NULL-terminated, or NULL */
	bool slow;                      /* some of them need a simulator */
};

struct trial_result {
	enum trial_status status;
	double *samples; /* in the unit of the objective, in the order of the runs */
	size_t sample_count;
	double value;         /* the median; CENSORED: the limit that it exceeds; else NAN */
	double least;         /* the smallest sample, also of a censored trial; NAN: none */
	double elapsed_s;     /* the whole trial, on the clock of the tuner */
	double ended;         /* seconds since 1970; 0: just now */
	bool lost;            /* the worker itself ended or made no sense, which need not be the configuration's fault */
	bool disturbed;       /* steal, involuntary switches or run delay above the noise */
	char disturbance[96]; /* the cause, if known */
	char message[256];
	json_t *reply; /* the worker's complete answer; may be NULL */
};
void trial_result_clear(struct trial_result *result);
/* Sets a failure without samples. What the result held before is not freed. */
void trial_result_fail(struct trial_result *result, enum trial_status status, const char *message);

struct runner {
	void *ctx;
	/* Returns 0 with the result filled in, also if the trial failed; -1 if nothing can be run at all, or if
	 * interrupted. */
	int (*run)(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err);
};

/* The counters of a trial, in the form that `run --json` and `tune --json` print. */
/* The counters that were requested. */
struct trial_counters {
	const char *const *asked; /* groups, events, sources; NULL: nothing is counted */
	bool every;               /* count in the trials of the search as well */
	bool optional;            /* a default, not a request: unknown values are left out */
	bool slow;                /* some of them need a simulator */
	bool watch;               /* they count the kernels that a program runs on a GPU */
};

/* Adds "counters", "metrics", "counting" and, where the reply has them, "simulation" and "regions". Whatever the worker
 * sent, each row then has a name and a status, and its value is a number, or null with a reason. Adds nothing if
 * nothing was requested. */
void trial_counters_add(json_t *to, const struct trial_result *result);
/* The number of rows that have a value. */
size_t trial_counters_known(const json_t *rows);
/* "MEM, rusage"; caller frees. */
char *trial_counters_words(const char *const *asked);
#endif
