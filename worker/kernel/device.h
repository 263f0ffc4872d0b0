/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices that run kernels: the word of a request, and the GPUs that this worker has opened. */
#ifndef WORKER_KERNEL_DEVICE_H
#define WORKER_KERNEL_DEVICE_H
#include "gpu/open.h"
#include "kernels/cuda.h"

/* OpenCL's devices come after DEVICE_OPENCL, HIP's after DEVICE_HIP. */
enum { DEVICE_CPU = -1, DEVICE_OPENCL = 1 << 16, DEVICE_HIP = 1 << 17 };

/* "cpu", "cuda", "cuda:1", "opencl", "hip" -> DEVICE_CPU, 0, 1, DEVICE_OPENCL, DEVICE_HIP. */
int device_read(const char *word, int *index, struct err *err);
/* The device's name in kernels' tables: "cpu", "cuda", "opencl", "hip". */
const char *device_kind(int index);
const char *device_kind_of(const struct gpu *gpu); /* NULL: the CPU */

struct devices;
struct devices *devices_new(void); /* opens nothing yet */
void devices_free(struct devices *devices);
/* Opens the device on first use; NULL with ERR_UNAVAILABLE on failure, and NULL for DEVICE_CPU. */
struct gpu *devices_get(struct devices *devices, int index, struct err *err);
#endif
