/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the threads of an entry run: its member "binding", as topo_binding_key writes it, "[0-3]x2[4-7]x2", "[*]x4" for
 * all CPUs. The program puts it into the entries of this machine. */
#ifndef TUNER_EXPORT_CPUS_H
#define TUNER_EXPORT_CPUS_H
#include <jansson.h>
#include <stdbool.h>

#include "src/base/err.h"

int export_cpus_check(const json_t *profile, const char *format, struct err *err); /* ERR_USAGE: an entry has none */
/* "0,2,4": all CPUs of the team. NULL: not bound. Caller frees. */
char *export_cpus_all(const json_t *entry);
/* "0,2,0,2": one for each thread, those that share a place take its CPUs in turn. NULL: not bound. Caller frees. */
char *export_cpus_each(const json_t *entry);

#endif
