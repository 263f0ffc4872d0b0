/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/kernel/crash.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* A signal handler can only reach a global. */
static const char *volatile crash_kernel;
static char crash_stack[16384];

static const struct {
	int number;
	const char *text;
} crash_signals[] = {
	{SIGSEGV, "SIGSEGV (segmentation fault)"}, {SIGBUS, "SIGBUS (bus error)"}, {SIGILL, "SIGILL (illegal instruction)"},
	{SIGFPE, "SIGFPE (arithmetic error)"},     {SIGABRT, "SIGABRT (aborted)"}, {SIGSYS, "SIGSYS (bad system call)"},
};

static void crash_write(const char *text) {
	size_t left = strlen(text);
	while (left > 0) {
		ssize_t wrote = write(STDERR_FILENO, text, left);
		if (wrote <= 0)
			return;
		text += wrote;
		left -= (size_t)wrote;
	}
}

/* Only async-signal-safe calls. The default action is back in force (SA_RESETHAND), so raise ends the process. */
static void crash_handle(int number) {
	const char *kernel = crash_kernel;
	crash_write("sweetspot-worker: ");
	for (size_t i = 0; i < sizeof crash_signals / sizeof *crash_signals; i++)
		if (crash_signals[i].number == number)
			crash_write(crash_signals[i].text);
	if (kernel) {
		crash_write(" in kernel ");
		crash_write(kernel);
	}
	crash_write("\n");
	raise(number);
}

void crash_watch(void) {
	stack_t stack = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack};
	struct sigaction action = {.sa_handler = crash_handle, .sa_flags = SA_RESETHAND | SA_ONSTACK};
	sigaltstack(&stack, NULL);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof crash_signals / sizeof *crash_signals; i++)
		sigaction(crash_signals[i].number, &action, NULL);
}

void crash_name(const char *kernel) {
	crash_kernel = kernel;
}
