/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaves no process behind. A program started in its own session (proc_spec.session) can create descendants that a
 * group or a parent does not reach. Once this process is a subreaper, they return to it as children of a session
 * other than its own; such a child is called a stray. Children started without a session are never touched,
 * whichever thread started them. Threads that each have a child may sweep at any time, one after the other. */
#ifndef BASE_PROC_REAP_H
#define BASE_PROC_REAP_H
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* From now on orphans below this process become its children (PR_SET_CHILD_SUBREAPER). 0 or -1. */
int reap_adopt(void);
/* For the start of a program: its children, and what is in their sessions, are not strays. A shell that started a
 * server and then became this program (`server & exec sweetspot ..`, or the first process of a container) has such
 * children. */
void reap_spare(void);
/* Stops strays and everything below them, then kills them and reaps them until none are left, for about `seconds`, and
 * on a busy machine until a few tries are made. Returns how many were seen last: 0 is success. Costs one system call
 * without children, else scans of /proc. sum: receives their usage; may be NULL. */
int reap_strays(double seconds, struct rusage *sum);
/* The same with all children, for a process that is about to end. */
int reap_children(double seconds);
/* The same with the children of a process group. It reaches what SIGKILL to the group does not: a process that a
 * stopped tracer holds ends only with that tracer, which is below it if the program started it. */
int reap_group(pid_t group, double seconds);
/* "123 (sleep), 124 (sudo)": strays and what is below them, as many as fit. */
void reap_names(char *names, size_t size);
/* Calls fn with the name of each of them that has not ended, and returns their number. Costs one system call without
 * children. */
typedef void reap_living_fn(void *ctx, const char *name);
size_t reap_living(reap_living_fn *fn, void *ctx);
/* Adds times and counts; keeps the larger resident set. */
void reap_add(struct rusage *sum, const struct rusage *one);
#endif
