/* SPDX-License-Identifier: BSD-3-Clause */
/* A program and all that it starts, once more, on a processor that valgrind simulates. */
#ifndef SRC_WORKER_PROGRAM_SIMULATE_H
#define SRC_WORKER_PROGRAM_SIMULATE_H
#include "counters/cachegrind.h"
#include "src/worker/program/trial.h"
#include "src/worker/count/simulate.h"

/* Fills these events of the plan, all by one run after the samples. */
void program_simulate(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan,
                      const size_t *events, size_t count, struct counting *counting);

struct program_simulated {
	double values[CACHEGRIND_EVENTS]; /* of all processes together */
	int processes;
	char model[SIMULATION_MODEL];
};

/* From PROGRAM_SIMULATE_OUT.* and PROGRAM_SIMULATE_LOG.* in a folder, one or more of the first and one of the second
 * for each process. False and the reason where a part of the whole is missing. */
bool program_simulate_read(const char *folder, struct program_simulated *out, char reason[2 * COUNTER_REASON]);
/* What valgrind's messages say that it could not do; NULL: nothing known. */
const char *program_simulate_trouble(const char *folder);
#define PROGRAM_SIMULATE_OUT "out"
#define PROGRAM_SIMULATE_LOG "log"

#endif
