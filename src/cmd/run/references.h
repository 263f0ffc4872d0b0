/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a configuration is held against: the same with one thread, and the serial code. */
#ifndef SRC_CMD_RUN_REFERENCES_H
#define SRC_CMD_RUN_REFERENCES_H
#include <stdio.h>

#include "src/cmd/run/manual.h"

/* {"one_thread":{"config","status","median","speedup","efficiency"},"serial":{"config","status","median","speedup"}}:
 * measured here, with few samples. Members that make no sense for this kernel are absent; median and speedup are null
 * where the reference itself failed or took too long. config: complete, median: what it took. New reference; NULL with
 * err where nothing can be measured any more. */
json_t *references_measure(struct manual *hand, const json_t *config, double median, struct err *err);
void references_print(const json_t *references, FILE *out);

#endif
