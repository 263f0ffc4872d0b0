/* SPDX-License-Identifier: BSD-3-Clause */
/* Events under the names that perf(1) uses. */
#ifndef COUNTERS_PERF_NAMES_H
#define COUNTERS_PERF_NAMES_H
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

struct perf_name {
	const char *name; /* NULL: a raw event, by its number */
	__u32 type;
	__u64 config;
	bool in_kernel; /* it happens in the kernel, where user code never sees it */
	bool clock;     /* nanoseconds */
};

extern const struct perf_name perf_names[]; /* ends with a name of NULL */
/* Accepts "rHEX", too, a raw event of the CPU's own numbering; false for names that perf does not know. */
bool perf_name_find(const char *name, struct perf_name *out);

#endif
