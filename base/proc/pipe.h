/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside proc, and for callers that manage a child themselves: its pipes, and waiting. */
#ifndef BASE_PROC_PIPE_H
#define BASE_PROC_PIPE_H
#include <poll.h>
#include <sys/resource.h>
#include "base/proc/proc.h"

#define PROC_EXITED(code) ((code) << 8) /* the status that wait(2) returns for it */

/* Close-on-exec and above 2; {-1, -1} and a return of -1 on failure. */
int proc_pipe(int pair[2]);
void proc_shut(int *fd); /* unless it is -1, which it is then */
/* Closes the descriptors from `first` on, now or where another program begins; false if the kernel is too old. */
bool proc_close_from(int first, bool at_exec);
/* read(2) returned the end: nothing more will come. */
bool proc_is_final(ssize_t got);
/* Like ppoll(2), except that a call that fails takes its time. */
int proc_poll(struct pollfd *fds, nfds_t count, double seconds);
/* Does not reap the child. True also if the child does not exist. */
bool proc_has_ended(pid_t pid);
/* Reaps the child if it has ended. Where wait4(2) denies the child or is forbidden, as in some sandboxes, it is asked
 * for in another way. A child whose end nobody can tell counts as one that ended with exit status 255. */
bool proc_collect(pid_t pid, int *status, struct rusage *usage);

/* From a specification to a running program: inside proc, and for callers that manage the child and its pipes
 * themselves. */
/* The child's environment: an array that the caller frees, of strings that belong to environ and to `set`. */
char **proc_environment(const char *const *unset, const char *const *set);
/* Starts a child with these descriptors, all above 2, as its stdin, stdout and stderr; they stay open here. Returns
 * its id, or -1 and err ("cannot run X: ..."), and then no child exists. */
pid_t proc_launch(const struct proc_spec *spec, char *const *environment, const int fds[3], struct err *err);
/* Returns the child's id, or -1 and err. ends: the parent's non-blocking ends of stdin, stdout and stderr. */
pid_t proc_spawn(const struct proc_spec *spec, int ends[3], struct err *err);
#endif
