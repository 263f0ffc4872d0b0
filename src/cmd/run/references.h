/* SPDX-License-Identifier: GPL-3.0-or-later */
/* References for a configuration: the same with one thread, and the serial code. */
#ifndef SRC_CMD_RUN_REFERENCES_H
#define SRC_CMD_RUN_REFERENCES_H
#include <stdio.h>

#include "src/cmd/run/manual.h"

/* Measures
 * {"one_thread":{"config","status","median","speedup","efficiency"},"serial":{"config","status","median","speedup"}}
 * with few samples. Members that do not apply to this kernel are absent; median and speedup are null if the reference
 * failed or took too long. config is the complete configuration under test, and median its time. New reference; NULL
 * with err if nothing more can be measured. */
json_t *references_measure(struct manual *manual, const json_t *config, double median, struct err *err);
/* Runs a reference with few samples; one that takes 500 times `median` (at least 20 s, at most 120 s) is stopped.
 * INFINITY: the time to compare with is not known yet. */
int references_trial(const struct manual *manual, const json_t *config, double median, struct trial_result *result,
                     struct err *err);
/* The kernel's serial settings with one thread, completed. New reference. */
json_t *references_serial_config(struct manual *manual, struct err *err);
void references_print(const json_t *references, FILE *out);

#endif
