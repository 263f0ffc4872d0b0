/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside proc, and for who minds a child himself: its pipes, and waiting. */
#ifndef SRC_BASE_PROC_PIPE_H
#define SRC_BASE_PROC_PIPE_H
#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

/* Close-on-exec and above 2; {-1, -1} and -1 where there is none to have. */
int proc_pipe(int pair[2]);
void proc_shut(int *fd); /* unless it is -1, which it is then */
/* read(2) returned the end: nothing more will come. */
bool proc_is_final(ssize_t got);
/* As ppoll(2). */
int proc_poll(struct pollfd *fds, nfds_t count, double seconds);
/* It stays to be waited for. True as well where there is no such child. */
bool proc_has_ended(pid_t pid);

#endif
