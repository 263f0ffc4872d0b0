/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep as the table that `explain --from` reads (doc/tables.md). */
#ifndef SRC_CMD_RUN_SWEEP_CSV_IMPL_H
#define SRC_CMD_RUN_SWEEP_CSV_IMPL_H
#include <jansson.h>
#include <stdio.h>

/* One line for each sample; a configuration that failed has one with an empty time. machine may be NULL. */
void sweep_csv_print(const char *kernel, const char *device, const json_t *machine, const json_t *rows, FILE *out);

#endif
