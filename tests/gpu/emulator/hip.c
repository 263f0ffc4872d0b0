/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of the emulated HIP that are not those of CUDA under another name (hip.mk). */
#include <stddef.h>

#include "gpu/gpu_abi_impl.h"
#include "gpu/hip/hip_impl.h"
#include "tests/gpu/emulator/abi.h"

extern CUresult cuDeviceGetAttribute(int *value, int which, int device);
extern CUresult cuGetErrorName(CUresult result, const char **text);

CU_EXPORT CUresult hipRuntimeGetVersion(int *version) {
	*version = 60241134;
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult hipDeviceGetAttribute(int *value, int which, int device) {
	switch (which) {
#define HIP_NUMBER(cuda, hip, number)                                                                                  \
	case number:                                                                                                       \
		return cuDeviceGetAttribute(value, cuda, device);
		HIP_NUMBERS(HIP_NUMBER)
#undef HIP_NUMBER
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CU_EXPORT const char *hipGetErrorName(CUresult result) {
	const char *name = NULL;
	cuGetErrorName(result, &name);
	return name;
}
