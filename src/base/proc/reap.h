/* SPDX-License-Identifier: BSD-3-Clause */
/* No process is left behind. A program that is started in a session of its own (proc_spec.session) can send descendants
 * where no group or parent reaches them; once this process has adopted what its descendants leave behind, they come
 * back to it as children of another session than its own, and that is what a stray is. Children that it started without
 * a session are never touched, whichever thread started them: threads that each have a child may sweep at any time, one
 * after the other. */
#ifndef SRC_BASE_PROC_REAP_H
#define SRC_BASE_PROC_REAP_H
#include <sys/resource.h>

/* From now on orphans below this process become its children (PR_SET_CHILD_SUBREAPER). 0 or -1. */
int reap_adopt(void);
/* Kills and reaps strays until there are none, for at most `seconds`. Returns how many were seen last: 0 is good. Costs
 * one system call where there is no child at all, else a scan of /proc. sum: gets what they used; may be NULL. */
int reap_strays(double seconds, struct rusage *sum);
/* Adds times and counts; the larger of the resident sets. */
void reap_add(struct rusage *sum, const struct rusage *one);

#endif
