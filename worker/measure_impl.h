/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a kernel's state: verification first, warm-up, then samples. */
#ifndef WORKER_MEASURE_IMPL_H
#define WORKER_MEASURE_IMPL_H
#include "worker/count/noise.h"
#include "worker/request_impl.h"
#include "worker/kernel/state.h"

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
const char *outcome_word(enum outcome outcome);
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
	struct noise noise;       /* over the samples */
	struct gpu_health health; /* the GPU's, just after the last sample */
};

void measure_state(struct arena *arena, struct state *state, const struct request *request, const struct team *team,
                   struct measurement *out);
#endif
