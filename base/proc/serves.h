/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_PROC_SERVES_H
#define BASE_PROC_SERVES_H
#include <stdbool.h>
#include <sys/types.h>

/* Does the process listen on a TCP port, or, as a shell that does nothing but wait for it, its only child? */
bool proc_serves(pid_t pid, int port);

/* "5432", "127.0.0.1:5432", "localhost:5432"; 0: a command */
int serves_port(const char *ready);
bool serves_answers(int port);
#endif
