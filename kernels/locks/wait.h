/* SPDX-License-Identifier: BSD-3-Clause */
/* How the spinning locks wait. With more threads than CPUs the thread that is waited for may not be running: after a
 * while the CPU is offered to it. */
#ifndef KERNELS_LOCKS_WAIT_H
#define KERNELS_LOCKS_WAIT_H
#include <sched.h>

enum { LOCK_PATIENCE = 256 }; /* pauses: a few microseconds, more than a handover takes between running threads */

/* Tells the core that this is a spin loop: it saves power and does not speculate past its end. */
static inline void lock_pause(void) {
#if defined __x86_64__ || defined __i386__
	__builtin_ia32_pause();
#elif defined __aarch64__
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* One turn of a spin loop; *turns starts at 0. */
static inline void lock_wait(unsigned *turns) {
	if (++*turns % LOCK_PATIENCE != 0)
		lock_pause();
	else
		sched_yield();
}

#endif
