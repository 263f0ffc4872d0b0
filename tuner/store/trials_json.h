/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trials of a search as the document that exporters read. */
#ifndef TUNER_STORE_TRIALS_JSON_H
#define TUNER_STORE_TRIALS_JSON_H
#include <jansson.h>
#include <stdint.h>

#include "tuner/store/store.h"

/* The trials of a search, one for each configuration with the samples of all its trials: [{"config", "status",
 * "samples", "started", "elapsed_s", "setup_s", "verify_s", "message", "counters": [{"name", "value", "unit"}]}]. Runs
 * that were made to be counted, and what was cut short before it gave a sample, add no samples. New reference; NULL and
 * err. */
json_t *store_trials_json(struct store *store, int64_t search, struct err *err);

#endif
