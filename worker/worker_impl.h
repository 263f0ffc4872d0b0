/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to this folder. */
#ifndef WORKER_WORKER_IMPL_H
#define WORKER_WORKER_IMPL_H

#include "base/opt.h"
#include "worker/count/counting.h"

/* Describes this worker and its kernels. */
/* The answer to "describe" for these kernels; a NULL kernel ends the list. counters: NULL leaves out what can be
 * counted, because probing every source takes longer than everything else. New reference. */
json_t *describe_json(const struct kernel_entry *entries, struct counters *counters);

/* The parts of CUDA and the GPUs of this host. */
/* {"parts":[..],"devices":[..]}, or "device" in their place if the request names one. New reference; NULL and err for a
 * bad request, and (ERR_UNAVAILABLE) if the device cannot be used. */
struct protocol;
json_t *devices_answer(struct protocol *protocol, const json_t *request, struct err *err);

/* The worker's modes: the protocol on stdin and stdout, or one operation from the command line. */

/* The whole program; returns its exit status. */
int cli_main(int argc, char **argv);

/* A manual trial: words and options of the command line instead of a request. */
extern const struct opt manual_options[];
/* args: "run", the kernel, "P=V" words. Prints the trial's line to fd `out`. 0, 1 for a failed trial, or -1 with err
 * and nothing printed. */
int manual_run(const struct opt_args *args, int out, struct err *err);

/* The worker's protocol, defined in doc/protocol.md. */
enum { PROTOCOL_VERSION = 1, PROTOCOL_LINE_MAX = 1 << 20 };

/* Parts of the worker that outlive a request. */
struct protocol {
	struct states *states;
	struct team *team;
	struct libraries *libraries;
	struct counters *counters;
	struct devices *devices;
	struct gpu_compiler *compiler; /* NULL: not needed so far */
	int input, output; /* descriptors of the requests and the answers, or -1: what takes too long cannot be ended */
	bool abandoned;    /* nobody reads answers any more */
	bool ending;       /* a device is broken, or limits were taken away: this process must end */
};
struct protocol *protocol_new(void);
/* The answer to one line with any content; never NULL. New reference. */
json_t *protocol_answer(struct protocol *protocol, const char *line, size_t size);
/* Writes one line; -1 if the reader is gone. */
int protocol_write(int fd, const json_t *answer);
/* Answers lines until the end of input; returns an exit status. */
int protocol_serve(int in, int out);

/* A checked request for a trial. */
enum { REQUEST_COUNTERS_MAX = 32 };
enum verify { VERIFY_NEVER, VERIFY_ONCE, VERIFY_ALWAYS };

struct request {
	struct call call;
	int samples, warmup;
	double min_sample_s;
	double limit_s;   /* 0: none */
	double settles_s; /* a run that takes as long needs one sample only; 0: none does */
	double cut_s;     /* a run that takes longer is ended, and the process with it; 0: none is */
	enum verify verify;
	const char *answers;   /* a file for the answers of oracles; NULL: none */
	bool series;           /* report each step of the last run */
	bool flush_l2;         /* flush the GPU's L2 cache before each run */
	bool energy;           /* measure the energy of each of the GPU's samples */
	const char **counters; /* names as requested, NULL-terminated; the request owns the texts */
};

/* Reads the members of a "trial" request; missing ones take their defaults. The arena owns the data request points
 * to. */
int request_read(struct arena *arena, struct libraries *libraries, const json_t *json, struct request *request,
                 struct err *err);

/* Runs a kernel's state: verification first, warm-up, then samples. */

/* The protocol's words for outcomes that the worker itself can determine. */
#define OUTCOMES(X)                                                                                                    \
	X(CORRECT, "correct")                                                                                              \
	X(CONSTRAINTS, "constraints")                                                                                      \
	X(COMPILE, "compile")                                                                                              \
	X(RUNTIME, "runtime")                                                                                              \
	X(CORRECTNESS, "correctness")                                                                                      \
	X(CENSORED, "censored")

enum outcome {
#define OUTCOME_ENUM(name, word) OUTCOME_##name,
	OUTCOMES(OUTCOME_ENUM)
#undef OUTCOME_ENUM
};
enum outcome outcome_of(enum ss_status status);

struct measurement {
	enum outcome outcome;
	enum ss_status status; /* the kernel's last status */
	char message[STATE_MESSAGE];
	double *samples;  /* seconds a run; in the arena */
	double *energies; /* joules a run, as many; NULL if not requested */
	size_t sample_count;
	int64_t runs; /* runs of the last batch */
	int64_t runs_sampled;
	bool verified;            /* in this trial or an earlier one of its state */
	double verify_s;          /* 0: not in this trial */
	double answer_s;          /* the part of it that a worker in place of this one need not spend again */
	struct noise noise;       /* over the samples */
	struct gpu_health health; /* the GPU's, just after the last sample */
};

void measure_state(struct arena *arena, struct state *state, const struct request *request, const struct team *team,
                   struct measurement *out);

/* One trial from request to reply. */

/* The protocol's reply without its id, failed trials included; NULL and err for a bad request. New reference. Sets
 * protocol->ending if the device is broken, because the process must end then. */
json_t *trial_run(struct protocol *protocol, const json_t *json, struct err *err);
#endif
