/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this process may do. */
#ifndef SRC_CMD_DOCTOR_RIGHTS_H
#define SRC_CMD_DOCTOR_RIGHTS_H
#include <stdbool.h>

/* Bits of capability sets, capability.h of the kernel. */
enum rights { RIGHTS_SYS_ADMIN = 21, RIGHTS_PERFMON = 38 };
bool rights_capability(enum rights right); /* in the effective set */
bool rights_filtered(void);                /* a seccomp filter is on */
bool rights_container(void);               /* docker, podman and what systemd knows as one */
/* Opens a software event of this process, user mode only, and closes it: 0, or errno. */
int rights_perf_open(void);

#endif
