/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a program's work on GPUs. work: the member "gpu_work" of a document. */
#ifndef SRC_CMD_GPU_CMD_GPU_RUN_H
#define SRC_CMD_GPU_CMD_GPU_RUN_H
#include <jansson.h>

#include "src/ui/ui.h"

/* functions: rows with "counted", "launches" and "metrics" or "counters". counters: rows whose sources have names of
 * their own; NULL: none. */
void gpu_counts_print(struct ui *ui, const json_t *functions, const json_t *counters);
#endif
