/* SPDX-License-Identifier: BSD-3-Clause */
/* Names this processor as the tables of events do. */
#ifndef COUNTERS_BACKEND_CPU_H
#define COUNTERS_BACKEND_CPU_H
#include <stddef.h>

/* "GenuineIntel-6-55" and "AuthenticAMD-25-1" (family decimal, model hexadecimal, as in perf's tables), "arm-41-d0c"
 * (implementer and part, hexadecimal), "" if unknown. Returns text. */
const char *counter_cpu(char *text, size_t size);
const char *counter_cpu_of(const char *path, char *text, size_t size); /* from a copy of /proc/cpuinfo */

#endif
