/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeats a program and its descendants on a processor that valgrind simulates. */
#ifndef WORKER_PROGRAM_SIMULATE_IMPL_H
#define WORKER_PROGRAM_SIMULATE_IMPL_H
#include "worker/program/runner_trial_impl.h"
#include "worker/count/simulate.h"

struct program_simulated {
	double values[CACHEGRIND_EVENTS]; /* sums over all processes */
	int processes;
	char model[SIMULATION_MODEL];
};

#define PROGRAM_SIMULATE_OUT "out"
#define PROGRAM_SIMULATE_LOG "log"
#endif
