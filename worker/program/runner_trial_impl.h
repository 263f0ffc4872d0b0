/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of one trial of a program, each judged by its end, its output and its time. */
#ifndef WORKER_PROGRAM_RUNNER_TRIAL_IMPL_H
#define WORKER_PROGRAM_RUNNER_TRIAL_IMPL_H
#include "worker/gpu/work.h"
#include "counters/rapl/meter.h"
#include "worker/program/program_impl.h"
#include "base/tree.h"

/* The surroundings of one trial's commands: folder, environment, scratch and limits. */
struct program_site {
	struct program_place place;
	struct scratch scratch;
	const char *folder; /* inside it: TMPDIR of a run */
};

/* watch: as in struct program_place. */
int program_site_open(struct arena *arena, struct program_request *request, int watch, struct program_site *site,
                      struct err *err);

enum { PROGRAM_MESSAGE = 400 };

struct program_trial {
	const struct program_request *request;
	struct program_site site;
	struct program_output output;
	struct program_run run, side; /* the program; the commands before and after it */
	struct program_procfs procfs;
	struct program_usage *usage;
	double *samples, *metrics, *joules;
	struct rapl_meter *meter; /* NULL: not wanted */
	double joules_now;        /* of the last run */
	struct gpu_watch watch;   /* of the kernel that is the metric */
	double verify_s;          /* all commands that verified */
	double side_s;            /* the longest command before or after a run */
	double until;             /* monotonic; nothing may last longer; INFINITY: no end */
	size_t count;
	char hash[SHA256_TEXT]; /* of the first run */
	json_t *evidence;       /* of all runs that ended well; NULL: not wanted */
	json_t *files;          /* that the last run has written; NULL: not wanted */
	const char *status;     /* NULL: no failure so far */
	char message[PROGRAM_MESSAGE];
	char unchecked[PROGRAM_MESSAGE]; /* why a run could not be verified; empty: all were, or none had to be */
	double bound;                    /* what the metric of a run that gave up is worse than; NAN: none did */
	double refused;                  /* a metric of 0 or below, which cannot be compared as a ratio; NAN: none */
	bool abandoned;
	bool outside;   /* somebody else may have ended a run or what belongs to it */
	double steal_s; /* since the machine's start; 0: none */
	double lost_s;  /* of a run that was cut: seconds that a hypervisor took meanwhile */
};

/* One more run that does not give a sample. */
struct program_again {
	const char *const *argv; /* NULL: the request's */
	char **environment;      /* NULL: the same as in all runs */
	double slowdown;         /* factor on the request's timeout */
	void (*start)(
		void *ctx); /* called right before the program starts, and after the whole tree has ended; in this thread */
	void (*stop)(void *ctx);
	void *ctx;
};

/* Warm-up and samples, up to the first failure. */
void program_trial_runs(struct program_trial *trial);
/* A run after them, judged the same way, but a failure does not fail the trial: false and the reason. */
bool program_trial_again(struct program_trial *trial, const struct program_again *again, char *why, size_t size);
#endif
