/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeats a program and its descendants on a processor that valgrind simulates. */
#ifndef WORKER_PROGRAM_SIMULATE_H
#define WORKER_PROGRAM_SIMULATE_H
#include "counters/cachegrind.h"
#include "worker/program/trial.h"
#include "worker/count/simulate.h"

/* Fills these events of the plan, all from one run after the samples. */
void program_simulate(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan,
                      const size_t *events, size_t count, struct counting *counting);

struct program_simulated {
	double values[CACHEGRIND_EVENTS]; /* sums over all processes */
	int processes;
	char model[SIMULATION_MODEL];
};

/* Reads PROGRAM_SIMULATE_OUT.* and PROGRAM_SIMULATE_LOG.* in a folder, at least one of the first and one of the
 * second for each process. False and the reason if a part is missing. */
bool program_simulate_read(const char *folder, struct program_simulated *out, char reason[2 * COUNTER_REASON]);
/* A failure that valgrind's messages report; NULL: none known. */
const char *program_simulate_trouble(const char *folder);
#define PROGRAM_SIMULATE_OUT "out"
#define PROGRAM_SIMULATE_LOG "log"

#endif
