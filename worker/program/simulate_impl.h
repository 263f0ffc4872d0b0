/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeats a program and its descendants on a processor that valgrind simulates. */
#pragma once
#include "worker/program/runner_trial_impl.h"
#include "worker/count/simulate.h"

/* Fills these events of the plan, all from one run after the samples. */
void program_simulate(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan,
                      const size_t *events, size_t count, struct counting *counting);

struct program_simulated {
	double values[CACHEGRIND_EVENTS]; /* sums over all processes */
	int processes;
	char model[SIMULATION_MODEL];
};

#define PROGRAM_SIMULATE_OUT "out"
#define PROGRAM_SIMULATE_LOG "log"
