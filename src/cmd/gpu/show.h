/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a program's work on GPUs. work: the member "gpu_work" of a document. */
#ifndef SRC_CMD_GPU_SHOW_H
#define SRC_CMD_GPU_SHOW_H
#include <jansson.h>

#include "src/ui/ui.h"

/* functions: rows with "counted", "launches" and "metrics" or "counters". */
void gpu_counts_print(struct ui *ui, const json_t *functions);
void gpu_work_print(struct ui *ui, const json_t *work);

#endif
