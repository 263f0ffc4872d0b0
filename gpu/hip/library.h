/* SPDX-License-Identifier: BSD-3-Clause */
/* HIP's libraries beneath the tables of CUDA's. */
#ifndef GPU_HIP_LIBRARY_H
#define GPU_HIP_LIBRARY_H
#include "gpu/library.h"

extern const struct driver_api hip_api;
bool hiprtc_open(struct nvrtc *nvrtc, int driver_major, struct library_why *why); /* as nvrtc_open */

#endif
