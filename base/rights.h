/* SPDX-License-Identifier: BSD-3-Clause */
/* Privileges that decide what perf_event_open(2) allows. */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H
#include <stdbool.h>

struct rights {
	bool perfmon, sys_admin; /* effective CAP_PERFMON and CAP_SYS_ADMIN that the kernel honours for perf */
	bool seccomp;            /* a filter of system calls is installed */
};

/* Reads this process's /proc. root: "" for the machine, or a folder with a copy of its /proc/self/status and
 * /proc/self/uid_map. A capability that cannot be proven is reported as absent. */
void rights_read(struct rights *rights, const char *root);
bool rights_perf(const struct rights *rights); /* either capability: perf_event_paranoid does not apply */
#endif
