/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Right with FAULT 0, else one of the things that go wrong; the numbers are those of faulty_worker.c. */
#include "sweetspot.cuh"

#ifndef FAULT
#define FAULT 0
#endif
#if FAULT == 3
#error this fault was asked for
#endif

/* The emulator would see that all wait if this was ss_pause; a sleep leaves the processor to other tests. */
#ifdef SWEETSPOT_EMULATED
extern "C" int usleep(unsigned microseconds);
static inline void idle() {
	usleep(10000);
}
#else
static __device__ void idle() {
}
#endif

extern "C" __global__ void twin(int *to, int n, int rounds) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	for (int r = 0; r < rounds; r++)
		to[i] = to[i] * 3 + r;
	if (FAULT == 1)
		*(volatile int *)64 = 1;
	while (FAULT == 2 && *(volatile int *)to != -1)
		idle();
	if (FAULT == 6)
		to[i]++;
}
