/* SPDX-License-Identifier: BSD-3-Clause */
/* How a run's work is gathered from records, for the files of this room and their fuzz target. */
#ifndef WORKER_GPU_WORK_IMPL_H
#define WORKER_GPU_WORK_IMPL_H
#include "worker/gpu/work.h"

/* Returns an empty collection. */
struct gpu_work *gpu_work_new(void);
/* Checks everything that is used as an index or as text, and ends the texts. */
bool gpu_record_check(struct cuda_record *raw);
/* A record that was checked, and `count` of its spans. */
void gpu_record_add(struct gpu_work *work, const struct cuda_record *raw, const struct cuda_span *spans, size_t count);
/* Once all records are there: names the functions and sorts them by time, and the spans. */
void gpu_records_end(struct gpu_work *work);
#endif
