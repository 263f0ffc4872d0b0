/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our declarations of CUDA's binary interfaces against CUDA's own headers, by the compiler: the real types stand in for
 * ours, and each signature must be that of the function that is exported under the name. */
#include <stddef.h>

#include "tests/tap.h"

#ifdef HAVE_CUDA
#include <cuda.h>
#include <nvrtc.h>

#define DRIVER_ABI_TYPES
typedef CUresult driver_result;
typedef CUdevice driver_device;
typedef CUdevice_attribute driver_attribute;
typedef CUfunction_attribute driver_function_attribute;
typedef CUstreamCaptureMode driver_capture_mode;
typedef CUjit_option driver_jit_option;
typedef CUdeviceptr driver_ptr;
typedef CUcontext driver_context;
typedef CUmodule driver_module;
typedef CUfunction driver_function;
typedef CUstream driver_stream;
typedef CUevent driver_event;
typedef CUgraph driver_graph;
typedef CUgraphExec driver_graph_exec;
typedef CUuuid driver_uuid;
typedef CUDA_MEMCPY2D driver_copy_2d;
typedef CUtensorMap driver_tensor_map;
typedef CUtensorMapDataType driver_tensor_type;
typedef CUtensorMapInterleave driver_tensor_interleave;
typedef CUtensorMapSwizzle driver_tensor_swizzle;
typedef CUtensorMapL2promotion driver_tensor_promotion;
typedef CUtensorMapFloatOOBfill driver_tensor_fill;
#define NVRTC_ABI_TYPES
typedef nvrtcResult nvrtc_result;
typedef nvrtcProgram nvrtc_program;
#endif

#include "gpu/gpu_abi_impl.h"

#ifdef HAVE_CUDA
#define SAME_NUMBER(name, theirs, value) _Static_assert((int)(theirs) == (value), #theirs);
DRIVER_RESULTS(SAME_NUMBER)
DRIVER_NUMBERS(SAME_NUMBER)
NVRTC_RESULTS(SAME_NUMBER)
#define SAME_CALL(name, symbol, parameters)                                                                            \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&symbol), driver_result(*) parameters), #symbol);
DRIVER_CALLS(SAME_CALL)
#define SAME_NVRTC(name, symbol, parameters)                                                                           \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&symbol), nvrtc_result(*) parameters), #symbol);
NVRTC_CALLS(SAME_NVRTC)
#endif

static bool once(const char *const *names, size_t count) {
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++)
			if (strcmp(names[i], names[j]) == 0)
				return false;
	return count > 0;
}

int main(void) {
#define NAME(name, symbol, parameters) #name,
	static const char *const driver[] = {DRIVER_CALLS(NAME)}, *const nvrtc[] = {NVRTC_CALLS(NAME)};
	ok(once(driver, sizeof driver / sizeof *driver), "each of the driver's calls is there once");
	ok(once(nvrtc, sizeof nvrtc / sizeof *nvrtc), "each of NVRTC's calls is there once");
#ifdef HAVE_CUDA
	ok(CUDA_VERSION >= 12000, "numbers and signatures are those of CUDA %d", CUDA_VERSION);
#else
	tap_skip("numbers and signatures are CUDA's", "built without CUDA's headers");
#endif
	return tap_done();
}
