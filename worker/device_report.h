/* SPDX-License-Identifier: BSD-3-Clause */
/* A trial's report on its GPU: clocks, temperature, compiled and launched functions. */
#ifndef WORKER_DEVICE_REPORT_H
#define WORKER_DEVICE_REPORT_H
#include <jansson.h>

#include "worker/kernel/device.h"

/* Forgets earlier launches; returns the compile time so far, for device_report. gpu may be NULL. */
double device_watch(struct gpu *gpu);
/* {"name","index","sm_mhz",..,"compile_s","kernels":[..]}; health: just after the last run; runs: of all samples, to
 * which the launches belong. New reference. */
json_t *device_report(struct gpu *gpu, const struct gpu_health *health, double compiled_s, int64_t runs);

#endif
