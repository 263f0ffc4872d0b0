/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers what a worker would count, without running anything, so that a misspelt name is found before the first
 * trial. */
#ifndef WORKER_ANSWERS_IMPL_H
#define WORKER_ANSWERS_IMPL_H

#include "worker/count/counters.h"
#include "worker/kernel/device.h"
#include "worker/kernel/library.h"

/* The worker's parts that answering needs. */
struct counters_home {
	struct counters *counters;
	struct libraries *libraries;
	struct devices *devices;
};

/* {"events":[{"name","unit","source","group","rerun","reason"}],"metrics":[{"group","name","unit","formula"}],
 * "passes":{"cupti":9}}, a new
 * reference; NULL and err for a bad request. */
json_t *counters_answer(const struct counters_home *home, const json_t *json, struct err *err);
/* {"chip"?: "GH100", "prefix"?: "dram__"} -> the hardware metrics of a GPU's chip: {"chip","metrics":[..]}
 * (cupti_list in counters/cupti/cupti.h), a new reference. ERR_UNAVAILABLE without CUPTI, or if no chip is named and
 * none is installed. */
json_t *counters_metrics_answer(const json_t *json, struct err *err);

/* Describes this worker and its kernels. */
/* The answer to "describe" for these kernels; a NULL kernel ends the list. counters: NULL leaves out what can be
 * counted, because probing every source takes longer than everything else. New reference. */
json_t *describe_json(const struct kernel_entry *entries, struct counters *counters);

/* The parts of CUDA and the GPUs of this host. */
/* {"parts":[..],"devices":[..]}, and "device" if the request names one, which is opened. New reference; NULL and err
 * for a bad request, and (ERR_UNAVAILABLE) if the device cannot be opened. */
json_t *devices_answer(struct devices *devices, const json_t *request, struct err *err);
#endif
