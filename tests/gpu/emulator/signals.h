/* SPDX-License-Identifier: GPL-3.0-or-later */
/* While a kernel runs a signal of the processor ends its launch, not the process. */
#ifndef TESTS_GPU_EMULATOR_SIGNALS_H
#define TESTS_GPU_EMULATOR_SIGNALS_H
#include <signal.h>

enum { SIGNALS = 4 };
struct signals {
	struct sigaction before[SIGNALS];
	stack_t stack;
};
void signals_catch(struct signals *signals);
void signals_restore(const struct signals *signals);

#endif
