/* SPDX-License-Identifier: BSD-3-Clause */
/* A request's call of a kernel, checked against the kernel's tables. */
#ifndef WORKER_KERNEL_CALL_H
#define WORKER_KERNEL_CALL_H
#include <jansson.h>
#include <omp.h>

#include "kernels/registry.h"
#include "base/mem.h"
#include "worker/kernel/device.h"

struct call {
	const struct kernel_entry *entry;
	struct ss_value *problem, *config; /* complete, in the order of the kernel's tables */
	int threads;                       /* 0: all CPUs */
	const char *places, *proc_bind;
	omp_sched_t schedule;
	int chunk; /* 0: the schedule's default */
	uint64_t seed;
	int device;      /* its index, or DEVICE_CPU */
	struct gpu *gpu; /* the device with that index, opened; NULL on the CPU */
};

/* problem and config are objects or NULL; missing parameters take their initial values. Everything, words included,
 * lives in the arena. ERR_USAGE names the parameter, its values, and the nearest word. */
int call_read(struct arena *arena, const struct kernel_entry *entry, const json_t *problem, const json_t *config,
              struct call *call, struct err *err);
/* A copy that lives in another arena. */
void call_copy(struct arena *arena, const struct call *from, struct call *to);

/* Values of single parameters, checked against their rows. */

/* ERR_USAGE if the value has the wrong type, is out of bounds or is not one of the words. */
int param_read(struct arena *arena, const struct ss_param *param, const json_t *json, struct ss_value *out,
               struct err *err);
/* The initial value, which need not be inside the bounds; ERR_USAGE if the row has none. */
int param_initial(struct arena *arena, const struct ss_param *param, struct ss_value *out, struct err *err);
#endif
