/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop of exactly two instructions a turn, so that the right count is known. */
#ifndef TESTS_COUNTERS_GUEST_LOOP_H
#define TESTS_COUNTERS_GUEST_LOOP_H

enum { GUEST_LOOP_INSTRUCTIONS = 2 };

#ifdef __aarch64__
/* Returns 0. */
static inline long guest_loop(long turns) {
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
	return turns;
}
#endif

#endif
