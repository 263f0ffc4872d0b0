/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL devices as GPUs: finding and opening them. All else is in gpu/open.h. */
#ifndef GPU_OPENCL_OPEN_H
#define GPU_OPENCL_OPEN_H
#include "gpu/open.h"

/* All devices that can compile, in the order of OpenCL's platforms. */
struct gpu_opencl;
struct gpu_opencl *gpu_opencl_new(void);
void gpu_opencl_free(struct gpu_opencl *opencl);
bool gpu_opencl_facts(const struct gpu_opencl *opencl, int i, struct gpu_facts *facts); /* false beyond the last */
/* Whether there are any, otherwise the reason and the remedy. */
void gpu_opencl_part(const struct gpu_opencl *opencl, struct gpu_part *part);

/* "opencl", "opencl:1", or "opencl:" and a part of the name of a platform or device in any case -> its index.
 * ERR_UNAVAILABLE for a name that OpenCL does not have. */
int gpu_opencl_index(const char *device, int *index, struct err *err);
struct gpu *gpu_opencl_open(int index, struct err *err); /* as gpu_open */
#endif
