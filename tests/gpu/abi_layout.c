/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our own types, which abi.c replaces, have the size and the places of CUDA's. */
#include "gpu/gpu_abi_impl.h"
#include "tests/tap.h"

#ifdef HAVE_CUDA
#include <cuda.h>

#define SAME_PLACE(ours, theirs)                                                                                       \
	_Static_assert(offsetof(driver_copy_2d, ours) == offsetof(CUDA_MEMCPY2D, theirs), #theirs);
SAME_PLACE(from_x, srcXInBytes)
SAME_PLACE(from_y, srcY)
SAME_PLACE(from_type, srcMemoryType)
SAME_PLACE(from_host, srcHost)
SAME_PLACE(from, srcDevice)
SAME_PLACE(from_array, srcArray)
SAME_PLACE(from_pitch, srcPitch)
SAME_PLACE(to_x, dstXInBytes)
SAME_PLACE(to_y, dstY)
SAME_PLACE(to_type, dstMemoryType)
SAME_PLACE(to_host, dstHost)
SAME_PLACE(to, dstDevice)
SAME_PLACE(to_array, dstArray)
SAME_PLACE(to_pitch, dstPitch)
SAME_PLACE(width, WidthInBytes)
SAME_PLACE(height, Height)
#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs);
SAME_SIZE(driver_copy_2d, CUDA_MEMCPY2D)
SAME_SIZE(driver_uuid, CUuuid)
SAME_SIZE(driver_ptr, CUdeviceptr)
SAME_SIZE(driver_result, CUresult)
SAME_SIZE(driver_device, CUdevice)
SAME_SIZE(driver_attribute, CUdevice_attribute)
SAME_SIZE(driver_function_attribute, CUfunction_attribute)
SAME_SIZE(driver_capture_mode, CUstreamCaptureMode)
SAME_SIZE(driver_jit_option, CUjit_option)
SAME_SIZE(driver_context, CUcontext)
SAME_SIZE(driver_graph_exec, CUgraphExec)
#endif

int main(void) {
	ok(sizeof(driver_uuid) == 16 && sizeof(driver_ptr) == 8, "a UUID has 16 bytes, an address 8");
#ifdef HAVE_CUDA
	ok(sizeof(driver_copy_2d) == sizeof(CUDA_MEMCPY2D), "types have CUDA's sizes and places");
#else
	tap_skip("types have CUDA's sizes and places", "built without CUDA's headers");
#endif
	return tap_done();
}
