/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The document about the trials of a search that exporters read. */
#ifndef TUNER_STORE_TRIALS_JSON_H
#define TUNER_STORE_TRIALS_JSON_H
#include <jansson.h>
#include <stdint.h>

#include "tuner/store/store.h"

/* The trials of a search, one for each configuration with the samples of all its trials: [{"config", "status",
 * "samples", "started", "elapsed_s", "setup_s", "verify_s", "message", "counters": [{"name", "value", "unit"}]}]. Runs
 * for counters, and trials that were cut short before their first sample, add no samples. New reference; NULL and err.
 */
json_t *store_trials_json(struct store *store, int64_t search, struct err *err);

#endif
