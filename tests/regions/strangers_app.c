/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strangers CIRCUMSTANCE [PROGRAM]: each of the programs, or that one, in a process of its own whose status and output
 * are printed. fork: as it is; exec: started anew; thread: not in the first thread, and with little stack; cancel: in a
 * thread that is to be cancelled; limits: with hardly any files; direct: in this process. */
#define _GNU_SOURCE
#include "strangers.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MOST = 10, STACK = 96 << 10 };

struct stranger {
	const char *name;
	void (*run)(void);
};

static const struct stranger strangers[] = {
#define LISTED(NAME) {#NAME, NAME},
	STRANGERS_CODE(LISTED) STRANGERS_FELT(LISTED)};

void say(const char *format, ...) {
	char line[160];
	int state, before = errno;
	va_list words;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	va_start(words, format);
	int length = vsnprintf(line, sizeof line, format, words);
	va_end(words);
	if (write(STDOUT_FILENO, line, (size_t)length) < 0)
		_exit(98);
	pthread_setcancelstate(state, NULL);
	errno = before;
}

double sum(int n) {
	double all = 0;
#pragma omp parallel for reduction(+ : all)
	for (int i = 0; i < n; i++)
		all += i;
	return all;
}

static void *run(void *stranger) {
	((const struct stranger *)stranger)->run();
	return NULL;
}

static void *run_cancelled(void *stranger) {
	pthread_cancel(pthread_self());
	return run(stranger);
}

static void run_in_thread(const struct stranger *stranger, void *code(void *), size_t stack) {
	pthread_t thread;
	pthread_attr_t attributes;
	void *result = NULL;
	pthread_attr_init(&attributes);
	if (stack)
		pthread_attr_setstacksize(&attributes, stack);
	if (pthread_create(&thread, &attributes, code, (void *)stranger) == 0)
		pthread_join(thread, &result);
	say(result == PTHREAD_CANCELED ? " cancelled" : "");
}

static void run_limited(const struct stranger *stranger) {
	const struct rlimit few = {6, 6}, none = {0, 0};
	setrlimit(RLIMIT_NOFILE, &few);
	setrlimit(RLIMIT_FSIZE, &none);
	stranger->run();
}

static void circumstance(const char *name, const struct stranger *stranger) {
	if (strcmp(name, "thread") == 0)
		run_in_thread(stranger, run, STACK);
	else if (strcmp(name, "limits") == 0)
		run_limited(stranger);
	else if (strcmp(name, "exec") == 0)
		execl("/proc/self/exe", "strangers", "direct", stranger->name, NULL);
	else if (strcmp(name, "cancel") == 0)
		run_in_thread(stranger, run_cancelled, 0);
	else
		stranger->run();
}

/* LLVM's runtime leaves a file where its process does not end by itself, and the next one of that number stumbles over
 * it. */
static void tidy(pid_t process) {
	char path[64];
	snprintf(path, sizeof path, "/dev/shm/__KMP_REGISTERED_LIB_%ld_%ld", (long)process, (long)getuid());
	unlink(path);
}

static void process(const char *name, const struct stranger *stranger) {
	int ends[2], status = -1;
	char text[4096] = "";
	size_t size = 0;
	if (pipe(ends) != 0)
		return;
	pid_t child = fork();
	if (child == 0) {
		alarm(SECONDS_MOST);
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		circumstance(name, stranger);
		exit(0);
	}
	close(ends[1]);
	for (ssize_t got; size < sizeof text - 1 && (got = read(ends[0], text + size, sizeof text - 1 - size)) > 0;)
		size += (size_t)got;
	close(ends[0]);
	waitpid(child, &status, 0);
	tidy(child);
	printf("%s: %x: %.*s\n", stranger->name, (unsigned)status, (int)size, text);
	fflush(stdout);
}

#ifdef PLUGIN
#define main strangers_main
int main(int argc, char **argv);
#endif
int main(int argc, char **argv) {
	/* Threads need it to end, and some programs could not open it by then. */
	dlopen("libgcc_s.so.1", RTLD_NOW);
	for (int i = STDERR_FILENO + 1; argc == 2 && i < 256; i++)
		close(i);
	for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
		if (argc == 2)
			process(argv[1], &strangers[i]);
		else if (argc == 3 && strcmp(strangers[i].name, argv[2]) == 0)
			circumstance(argv[1], &strangers[i]);
	return 0;
}
