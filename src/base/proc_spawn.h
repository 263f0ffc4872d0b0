/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside proc: from a specification to a running program. */
#ifndef BASE_PROC_SPAWN_H
#define BASE_PROC_SPAWN_H
#include <sys/types.h>

#include "src/base/proc.h"

/* The child's environment: an array for the caller to free, of strings that belong to environ and to `set`. */
char **proc_environment(const char *const *unset, const char *const *set);
/* Returns the child's id, or -1 and err. ends: the parent's non-blocking ends of stdin, stdout and stderr. */
pid_t proc_spawn(const struct proc_spec *spec, int ends[3], struct err *err);

#endif
