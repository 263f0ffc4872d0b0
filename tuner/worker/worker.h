/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tuner's side of the worker: starts it, asks it, and replaces it after a failure. The worker is a process of its
 * own so that crashes, hangs and wrong results are facts about one trial (doc/adr/0001-process-boundary.md);
 * doc/protocol.md describes the exchange. */
#ifndef TUNER_WORKER_WORKER_H
#define TUNER_WORKER_WORKER_H
#include "tuner/trial/trial.h"

struct worker;

/* The end of a worker that was started through a launcher. */
struct worker_end {
	int status;            /* of the launcher's command, as in wait(2) */
	bool silent;           /* it still runs, but did not answer in time */
	const char *said;      /* the end of its stderr */
	const json_t *machine; /* its answer to "machine"; NULL: it never got that far */
};

/* Why a worker is gone if its trial is not to blame, or if nobody knows. */
struct worker_loss {
	char reason[160];
	bool outside; /* certainly not the trial: the scheduler took the node away, or the node failed */
	bool lies;    /* it reported what cannot be */
};

/* Starts the worker through another command; argv contains the executable. */
struct worker_launch {
	const char *const *argv;
	int end_signal; /* as in proc_spec */
	double end_seconds;
	double answer_seconds; /* until the worker says where it runs; 0: no limit, because it may have to queue */
	void *ctx;
	/* True, with the reason, if the end says nothing about the trial because the node was lost or the worker was
	 * killed. */
	bool (*lost)(void *ctx, const struct worker_end *end, struct worker_loss *loss);
};

struct worker_options {
	const char *path;                   /* the executable */
	const struct worker_launch *launch; /* NULL: a child of this process */
	uint64_t address_space;             /* bytes; 0: no limit */
	const volatile int *interrupt;      /* set by the Ctrl-C that gives up what runs; may be NULL */
	/* Set by the first Ctrl-C, after which nothing is waited for that takes much longer than anything before; may be
	 * NULL. */
	const volatile int *asked;
};

/* The process is started only when it is needed. */
struct worker *worker_new(const struct worker_options *options);
/* Another worker on this machine with the same options but an interrupt of its own. */
struct worker *worker_twin(const struct worker *worker, const volatile int *interrupt);
void worker_rest(struct worker *worker); /* stops the process until it is needed again */
void worker_free(struct worker *worker); /* stops the process and leaves none of its group behind */
struct runner worker_runner(struct worker *worker);
/* Returns {"parts":[..],"devices":[..]}, the CUDA installation of this machine, or "device" alone and its compiler:
 * with a device word, whose answer is kept as long as the process; ERR_UNAVAILABLE if that GPU cannot be used. brief:
 * only how many GPUs of CUDA there are, and what they are. New reference. */
json_t *worker_devices(struct worker *worker, const char *device, bool brief, struct err *err);
const char *worker_device_kind(const json_t *gpu); /* "cuda", "hip" or "opencl", of one of those devices */
/* Describes the built-in kernels, or those of the plug-in with this absolute path (ERR_USAGE if it is not a plug-in).
 * counters: what can be counted, too, which takes longer than the rest. New reference. */
json_t *worker_describe(struct worker *worker, const char *library, bool counters, struct err *err);
const volatile int *worker_interrupt(const struct worker *worker); /* as given in the options */
/* Starts the worker unless it runs, which may take as long as the queue. Returns its answer to "machine":
 * {"node","host","job","step","machine","topology"}, borrowed and checked for types; NULL on failure. Only with a
 * launch. */
const json_t *worker_machine(struct worker *worker, struct err *err);
bool worker_runs(const struct worker *worker); /* as far as known: it has not ended in an exchange */
/* Why the last exchange or start lost the worker; NULL: it was not lost. */
const struct worker_loss *worker_lost(const struct worker *worker);
unsigned worker_starts(const struct worker *worker);
unsigned worker_restarts(const struct worker *worker);

/* One question to a worker and its answer, for every runner that uses one. */
struct worker_question {
	json_t *request;     /* borrowed; its id is set here */
	const char *library; /* the plug-in that it needs; NULL: none */
	double timeout_s;    /* for the answer; 0: no limit */
	double grace_s;      /* time that a worker which must stop gets to end its own children */
	/* Fills the result from an answer without "error"; returns -1 with err if the answer makes no sense. */
	int (*use)(void *ctx, const json_t *answer, struct trial_result *result, struct err *err);
	void *ctx;
};

/* Returns 0 with the result filled in, also if the worker died, hung or lied; -1 if nothing can be run, the request was
 * refused (ERR_USAGE), or interrupted. */
int worker_exchange(struct worker *worker, const struct worker_question *question, struct trial_result *result,
                    struct err *err);

/* Read parts of an answer: status and message; the array `key` as samples, with the least of them. */
int worker_status_read(const json_t *answer, struct trial_result *result, struct err *err);
int worker_samples_read(const json_t *answer, const char *key, struct trial_result *result, struct err *err);
/* Replaces seconds by joules per run, or by their product. */
int worker_energies_read(const json_t *answer, enum trial_objective objective, struct trial_result *result,
                         struct err *err);

/* Asks a worker what it could count, without running anything. */

/* The kernel or program that would be counted. */
struct counters_subject {
	const char *kernel, *library; /* kernel NULL: only events that any thread can count */
	const char *device;           /* that it runs on; NULL: the CPU */
	bool program;                 /* count a whole program */
};

/* Returns {"events":[{"name","source","reason","rerun",..}],"metrics":[..]}, a new reference; "source" is null if
 * nothing on this machine counts the event. NULL: a word is unknown (ERR_USAGE, with the nearest one), or the worker
 * does not answer. */
json_t *worker_counters(struct worker *worker, const struct counters_subject *subject, const char *const *asked,
                        struct err *err);
/* `which`: {"chip"?,"prefix"} for the hardware metrics of a GPU chip (absent: the chip of this machine) whose names
 * begin with the prefix: {"chip","metrics":[..]}; {"cpu","papi"?,"prefix"} for the plan of a processor that is not
 * here: {"cpu","pmus","groups"} (counters/plan/plan.h). A new reference. ERR_UNAVAILABLE: CUPTI is missing, or no chip
 * was named and there is no GPU. */
json_t *worker_metrics(struct worker *worker, const json_t *which, struct err *err);
/* Counts each portable event over a loop of known work: {"rows":[..]} (counters_prove in worker/count/counting.h), a
 * new reference; NULL if the worker does not answer. */
json_t *worker_prove(struct worker *worker, struct err *err);
/* The number of events that can be counted; *slow: one of them needs a simulator. */
size_t worker_counters_usable(const json_t *answer, bool *slow);
#endif
