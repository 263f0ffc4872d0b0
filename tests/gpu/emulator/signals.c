/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/gpu/emulator/signals.h"
#include "tests/gpu/emulator/abi.h"
#include "tests/gpu/emulator/block.h"

static const int caught[SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static char handler_stack[64 << 10]; /* a fiber's own may be full */

static void handle(int number, siginfo_t *info, void *context) {
	(void)context;
	if (number == SIGFPE)
		block_fault(CUDA_ERROR_LAUNCH_FAILED, "a division by 0", NULL);
	else if (number == SIGILL)
		block_fault(CUDA_ERROR_LAUNCH_FAILED, "a trap", NULL);
	else
		block_fault(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal access", info->si_addr);
	signal(number, SIG_DFL); /* not a kernel's: the instruction is tried again, and ends the process */
}

void signals_catch(struct signals *signals) {
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
	sigemptyset(&action.sa_mask);
	sigaltstack(&stack, &signals->stack);
	for (int i = 0; i < SIGNALS; i++)
		sigaction(caught[i], &action, &signals->before[i]);
}

void signals_restore(const struct signals *signals) {
	for (int i = 0; i < SIGNALS; i++)
		sigaction(caught[i], &signals->before[i], NULL);
	sigaltstack(&signals->stack, NULL);
}
