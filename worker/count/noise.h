/* SPDX-License-Identifier: BSD-3-Clause */
/* Disturbances of a trial from outside, over its timed part. */
#ifndef WORKER_COUNT_NOISE_H
#define WORKER_COUNT_NOISE_H
#include "worker/kernel/team.h"

/* Counts since an arbitrary start; only differences matter. */
struct noise {
	long involuntary;   /* involuntary context switches of this process */
	double run_delay_s; /* seconds that its team was runnable without a CPU, summed over threads */
	double steal_s;     /* seconds that the hypervisor took from this machine's CPUs */
};

void noise_read(const struct team *team, struct noise *noise);
/* Seconds that the hypervisor took since the machine's start; 0: none or unknown. */
double noise_steal(void);
/* later - earlier */
struct noise noise_since(const struct noise *earlier, const struct noise *later);
#endif
