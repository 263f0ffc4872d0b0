/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --probe: measures what would refute each cause, and keeps the verdicts in the store. */
#ifndef SRC_CMD_EXPLAIN_EXPLAIN_PROBE_IMPL_H
#define SRC_CMD_EXPLAIN_EXPLAIN_PROBE_IMPL_H
#include "src/cmd/explain/explain.h"

/* Adds "probes" (tuner/probe/probe.h) to the result of explain_result. -1 with err if it was interrupted or could not
 * begin; the result then has what is known so far. */
int explain_probe(const struct explain_view *view, double seconds, json_t *result, struct err *err);
/* Adds the verdicts of the last time, if there are any for this problem. */
void explain_probe_recall(const struct explain_view *view, json_t *result);
#endif
