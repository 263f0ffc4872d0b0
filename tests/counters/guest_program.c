/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guest_program N: it and a child of it each run the guest's loop N times. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest_loop.h"

int main(int argc, char **argv) {
	long n = argc > 1 ? atol(argv[1]) : 1;
	pid_t child = fork();
	long left = guest_loop(n);
	if (child == 0)
		_exit((int)left);
	return (int)left || child < 0 || waitpid(child, NULL, 0) != child;
}
