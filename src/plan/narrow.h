/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells whether one configuration uses less of the machine than another one. */
#ifndef SRC_PLAN_NARROW_H
#define SRC_PLAN_NARROW_H

#include "topo/topo.h"

/* "processors" or "cores", of which `config` uses fewer than `than`; NULL: as many, or nobody knows. program: that of a
 * result (program_json), or NULL for a kernel. The number of threads that a program reads from its command line is
 * known only if the parameter is called so. */
const char *plan_narrower(const struct topo *topo, const json_t *program, const json_t *config, const json_t *than);
/* Adds it as "narrower" to the result of a search, of its best against its baseline. */
void plan_narrower_add(const struct topo *topo, json_t *result);
#endif
