/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/kernel/crash.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
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

static void crash_write_to(int out, const char *text) {
	size_t left = strlen(text);
	while (left > 0) {
		ssize_t wrote = write(out, text, left);
		if (wrote <= 0)
			return;
		text += wrote;
		left -= (size_t)wrote;
	}
}

static void crash_write(const char *text) {
	crash_write_to(STDERR_FILENO, text);
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

static char cut_line[512];
static volatile sig_atomic_t cut_out = -1, cut_armed;

static void cut_handle(int number) {
	(void)number;
	crash_write_to(cut_out, cut_line);
	_exit(0);
}

void crash_cut_answer(int out, const char *line) {
	cut_out = line && strlen(line) < sizeof cut_line ? out : -1;
	if (cut_out >= 0)
		strcpy(cut_line, line);
}

static void timer_set(double seconds) {
	struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
	timer.it_value.tv_usec = (suseconds_t)((seconds - floor(seconds)) * 1e6);
	setitimer(ITIMER_REAL, &timer, NULL);
	cut_armed = seconds > 0;
}

void crash_cut_begin(double seconds) {
	static const double least_s = 1e-3;
	if (seconds > 0 && cut_out >= 0)
		timer_set(fmax(seconds, least_s));
}

void crash_cut_end(void) {
	if (cut_armed)
		timer_set(0);
}

void crash_watch(void) {
	stack_t stack = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack};
	struct sigaction action = {.sa_handler = crash_handle, .sa_flags = SA_RESETHAND | SA_ONSTACK};
	sigaltstack(&stack, NULL);
	struct sigaction cut = {.sa_handler = cut_handle};
	sigemptyset(&action.sa_mask);
	sigemptyset(&cut.sa_mask);
	sigaction(SIGALRM, &cut, NULL);
	for (size_t i = 0; i < sizeof crash_signals / sizeof *crash_signals; i++)
		sigaction(crash_signals[i].number, &action, NULL);
}

void crash_name(const char *kernel) {
	crash_kernel = kernel;
}
