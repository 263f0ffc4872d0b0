/* SPDX-License-Identifier: BSD-3-Clause */
/* From a specification to a running program: inside proc, and for callers that manage the child and its pipes
 * themselves. */
#ifndef BASE_PROC_SPAWN_H
#define BASE_PROC_SPAWN_H
#include <sys/types.h>

#include "base/proc/proc.h"

/* The child's environment: an array that the caller frees, of strings that belong to environ and to `set`. */
char **proc_environment(const char *const *unset, const char *const *set);
/* Starts a child with these descriptors, all above 2, as its stdin, stdout and stderr; they stay open here. Returns
 * its id, or -1 and err ("cannot run X: ..."), and then no child exists. */
pid_t proc_launch(const struct proc_spec *spec, char *const *environment, const int fds[3], struct err *err);
/* Returns the child's id, or -1 and err. ends: the parent's non-blocking ends of stdin, stdout and stderr. */
pid_t proc_spawn(const struct proc_spec *spec, int ends[3], struct err *err);

#endif
