/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices that run kernels: the word of a request, and the GPUs that this worker has opened. */
#ifndef SRC_WORKER_KERNEL_DEVICE_H
#define SRC_WORKER_KERNEL_DEVICE_H
#include "gpu/open.h"
#include "kernels/cuda.h"

enum { DEVICE_CPU = -1 };

/* "cpu", "cuda", "cuda:1" -> DEVICE_CPU, 0, 1. */
int device_read(const char *word, int *index, struct err *err);
/* The device's name in kernels' tables: "cpu", "cuda". */
const char *device_kind(int index);

struct devices;
struct devices *devices_new(void); /* opens nothing yet */
void devices_free(struct devices *devices);
/* Opens the device on first use; NULL with ERR_UNAVAILABLE on failure, and NULL for DEVICE_CPU. */
struct gpu *devices_get(struct devices *devices, int index, struct err *err);

#endif
