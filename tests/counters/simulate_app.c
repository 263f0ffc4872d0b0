/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Known work in one process or several: simulate_app WORK ROUNDS. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(long rounds) {
	volatile long sum = 0;
	for (long i = 0; i < rounds; i++)
		sum = sum + i;
	return sum < 0;
}

/* Work without calls of the C library. */
static pid_t fork_bare(void) {
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L);
}

/* Each of two children does it, too, or nothing. */
static int family(long rounds, long rounds_of_child, pid_t (*start)(void)) {
	int failed = work(rounds), status;
	for (int i = 0; i < 2; i++) {
		pid_t pid = start();
		if (pid == 0)
			_exit(work(rounds_of_child));
		failed |= pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
	}
	return failed;
}

/* The child has begun when it is killed. */
static int kill_child(void) {
	int ready[2], status;
	char byte = 'r';
	if (pipe(ready) < 0)
		return 1;
	pid_t pid = fork();
	if (pid == 0) {
		while (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	int failed = pid < 0 || read(ready[0], &byte, 1) != 1;
	return failed || kill(pid, SIGKILL) < 0 || waitpid(pid, &status, 0) != pid;
}

int main(int argc, char **argv) {
	const char *what = argc == 3 ? argv[1] : "";
	long rounds = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	if (strcmp(what, "one") == 0)
		return work(rounds);
	if (strcmp(what, "three") == 0)
		return family(rounds, rounds, fork);
	if (strcmp(what, "before") == 0)
		return family(rounds, 0, fork);
	if (strcmp(what, "bare") == 0)
		return family(rounds, 0, fork_bare);
	return strcmp(what, "kill") == 0 ? kill_child() : 2;
}
