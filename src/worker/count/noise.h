/* SPDX-License-Identifier: BSD-3-Clause */
/* What disturbed a trial from outside, over its timed part. */
#ifndef SRC_WORKER_COUNT_NOISE_H
#define SRC_WORKER_COUNT_NOISE_H
#include "src/worker/kernel/team.h"

/* Counts since some start; a difference of two is what matters. */
struct noise {
	long involuntary;   /* context switches of this process that it did not ask for */
	double run_delay_s; /* its team was runnable and had no CPU, summed over threads */
	double steal_s;     /* the hypervisor ran something else on this machine's CPUs */
};

void noise_read(const struct team *team, struct noise *noise);
/* Seconds since the machine's start that its hypervisor ran something else; 0: none, or it is not known. */
double noise_steal(void);
/* later - earlier */
struct noise noise_since(const struct noise *earlier, const struct noise *later);

#endif
