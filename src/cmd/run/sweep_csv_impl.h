/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep as the table that `explain --from` reads (doc/tables.md). */
#pragma once
#include <jansson.h>
#include <stdio.h>

/* One line for each sample; a configuration that failed has one with an empty time. machine may be NULL. */
void sweep_csv_print(const char *kernel, const char *device, const json_t *machine, const json_t *rows, FILE *out);
