/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside proc, and for callers that manage a child themselves: its pipes, and waiting. */
#ifndef SRC_BASE_PROC_PIPE_H
#define SRC_BASE_PROC_PIPE_H
#include <poll.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Close-on-exec and above 2; {-1, -1} and a return of -1 on failure. */
int proc_pipe(int pair[2]);
void proc_shut(int *fd); /* unless it is -1, which it is then */
/* read(2) returned the end: nothing more will come. */
bool proc_is_final(ssize_t got);
/* Like ppoll(2). */
int proc_poll(struct pollfd *fds, nfds_t count, double seconds);
/* Does not reap the child. True also if the child does not exist. */
bool proc_has_ended(pid_t pid);
/* Reaps the child if it has ended. A wait4(2) that denies the child, as in some sandboxes, is asked again in another
 * way. A child whose end nobody can tell counts as one that ended with exit status 255. */
bool proc_collect(pid_t pid, int *status, struct rusage *usage);

#endif
