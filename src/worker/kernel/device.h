/* SPDX-License-Identifier: BSD-3-Clause */
/* Where kernels run: the word of a request, and the GPUs that this worker has opened. */
#ifndef SRC_WORKER_KERNEL_DEVICE_H
#define SRC_WORKER_KERNEL_DEVICE_H
#include "gpu/open.h"
#include "kernels/cuda.h"

enum { DEVICE_CPU = -1 };

/* "cpu", "cuda", "cuda:1" -> DEVICE_CPU, 0, 1. */
int device_read(const char *word, int *index, struct err *err);
/* What kernels' tables call it: "cpu", "cuda". */
const char *device_kind(int index);

struct devices;
struct devices *devices_new(void); /* opens nothing yet */
void devices_free(struct devices *devices);
/* Opened when it is first asked for; NULL with ERR_UNAVAILABLE, or NULL without for DEVICE_CPU. */
struct gpu *devices_get(struct devices *devices, int index, struct err *err);

#endif
