/* SPDX-License-Identifier: BSD-3-Clause */
/* AMD's GPUs by HIP: finding and opening them. All else is in gpu/open.h. */
#ifndef GPU_HIP_OPEN_H
#define GPU_HIP_OPEN_H
#include "gpu/open.h"

/* Whether there are any, otherwise the reason and the remedy. */
void gpu_hip_part(struct gpu_part *part);
/* As gpu_probe. */
bool gpu_hip_probe(int index, struct gpu_facts *facts);

/* "hip", "hip:1" -> 0, 1; ERR_USAGE for anything else. */
int gpu_hip_index(const char *device, int *index, struct err *err);
struct gpu *gpu_hip_open(int index, struct err *err); /* as gpu_open */
#endif
