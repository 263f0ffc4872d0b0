/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPUs of an entry's threads, from its member "binding" as topo_binding_key writes it: "[0-3]x2[4-7]x2", or "[*]x4"
 * for all CPUs. The program adds it to the entries of this machine. */
#ifndef TUNER_EXPORT_CPUS_IMPL_H
#define TUNER_EXPORT_CPUS_IMPL_H
#include <stdbool.h>

#include "base/err.h"
#include "tuner/result/result.h"

int export_cpus_check(const struct profile *profile, const char *format,
                      struct err *err); /* ERR_USAGE: an entry lacks it */
/* "0,2,4": all CPUs of the team; NULL: not bound. The caller frees it. */
char *export_cpus_all(const struct profile_entry *entry);
/* "0,2,0,2": one CPU for each thread, where threads that share a place take its CPUs in turn; NULL: not bound. The
 * caller frees it. */
char *export_cpus_each(const struct profile_entry *entry);

#endif
