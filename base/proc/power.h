/* SPDX-License-Identifier: BSD-3-Clause */
/* The power limit of a GPU by NVML, asked and set by a process of its own, because a driver may hang or crash. */
#ifndef BASE_PROC_POWER_H
#define BASE_PROC_POWER_H

/* The number of the GPU in "nvml:0"; NULL: `to` is something else. */
const char *power_gpu(const char *to);
/* watts: NULL asks for the limit. Returns it as text in watts; NULL: the reason is in *why. The caller frees both. */
char *power_limit(const char *to, const char *watts, char **why);
#endif
