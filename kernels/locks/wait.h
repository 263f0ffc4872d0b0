/* SPDX-License-Identifier: BSD-3-Clause */
/* How the spinning locks wait. With more threads than CPUs the thread that is waited for may not be running: after a
 * while the CPU is offered to it. */
#ifndef KERNELS_LOCKS_WAIT_H
#define KERNELS_LOCKS_WAIT_H
#include <sched.h>
#if defined __linux__
#include <sys/syscall.h>
#endif

/* Pauses before the first offer, more than a handover takes between running threads, and between two offers. */
enum { LOCK_PATIENCE = 64, LOCK_OFFERS = 8 };

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

/* sched_yield. As a call it would take most registers from the loops around it, though it is hardly ever made. */
static inline void lock_yield(void) {
#if defined __x86_64__ && defined __linux__
	long number = SYS_sched_yield;
	__asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
#else
	sched_yield();
#endif
}

/* A turn of a spin loop; *turns starts at 0. */
static inline void lock_wait(unsigned *turns) {
	if (++*turns < LOCK_PATIENCE || *turns % LOCK_OFFERS != 0)
		lock_pause();
	else
		lock_yield();
}
#endif
