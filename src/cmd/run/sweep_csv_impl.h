/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep as the table that `explain --from` reads (doc/tables.md). */
#ifndef SRC_CMD_RUN_SWEEP_CSV_IMPL_H
#define SRC_CMD_RUN_SWEEP_CSV_IMPL_H
#include <jansson.h>
#include <stdio.h>
#endif
