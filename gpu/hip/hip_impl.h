/* SPDX-License-Identifier: BSD-3-Clause */
/* HIP's names for the functions of the CUDA driver and of NVRTC that we use. HIP gave its functions the same
 * parameters, and its enumerations of results, function attributes and flags the same values, so that the tables of
 * gpu/backend.h serve both; only the attributes of devices have numbers of their own. Source: AMD, HIP Runtime API
 * Reference 5.2, and its headers, against which the compiler compared signatures and numbers. The others of
 * DRIVER_CALLS are for the suite's kernels, which are CUDA's. */
#ifndef GPU_HIP_HIP_IMPL_H
#define GPU_HIP_HIP_IMPL_H
#include "gpu/backend.h"

/* our field, what libamdhip64 exports */
#define HIP_CALLS(X)                                                                                                   \
	X(init, hipInit)                                                                                                   \
	X(get_version, hipRuntimeGetVersion)                                                                               \
	X(device_count, hipGetDeviceCount)                                                                                 \
	X(device_get, hipDeviceGet)                                                                                        \
	X(device_name, hipDeviceGetName)                                                                                   \
	X(device_uuid, hipDeviceGetUuid)                                                                                   \
	X(device_memory, hipDeviceTotalMem)                                                                                \
	X(device_attribute, hipDeviceGetAttribute)                                                                         \
	X(context_retain, hipDevicePrimaryCtxRetain)                                                                       \
	X(context_release, hipDevicePrimaryCtxRelease)                                                                     \
	X(context_set, hipCtxSetCurrent)                                                                                   \
	X(context_sync, hipDeviceSynchronize)                                                                              \
	X(priorities, hipDeviceGetStreamPriorityRange)                                                                     \
	X(memory_alloc, hipMalloc)                                                                                         \
	X(memory_free, hipFree)                                                                                            \
	X(memory_info, hipMemGetInfo)                                                                                      \
	X(host_alloc, hipHostMalloc)                                                                                       \
	X(host_free, hipHostFree)                                                                                          \
	X(copy_up, hipMemcpyHtoDAsync)                                                                                     \
	X(copy_down, hipMemcpyDtoHAsync)                                                                                   \
	X(copy_across, hipMemcpyDtoDAsync)                                                                                 \
	X(fill8, hipMemsetD8Async)                                                                                         \
	X(fill32, hipMemsetD32Async)                                                                                       \
	X(module_load, hipModuleLoadDataEx)                                                                                \
	X(module_unload, hipModuleUnload)                                                                                  \
	X(module_function, hipModuleGetFunction)                                                                           \
	X(module_global, hipModuleGetGlobal)                                                                               \
	X(function_attribute, hipFuncGetAttribute)                                                                         \
	X(blocks_per_sm, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)                                               \
	X(launch, hipModuleLaunchKernel)                                                                                   \
	X(stream_create, hipStreamCreateWithPriority)                                                                      \
	X(stream_destroy, hipStreamDestroy)                                                                                \
	X(stream_sync, hipStreamSynchronize)                                                                               \
	X(stream_wait, hipStreamWaitEvent)                                                                                 \
	X(event_create, hipEventCreateWithFlags)                                                                           \
	X(event_destroy, hipEventDestroy)                                                                                  \
	X(event_record, hipEventRecord)                                                                                    \
	X(event_sync, hipEventSynchronize)                                                                                 \
	X(event_elapsed, hipEventElapsedTime)

/* our field, what libhiprtc exports */
#define HIPRTC_CALLS(X)                                                                                                \
	X(get_version, hiprtcVersion)                                                                                      \
	X(create, hiprtcCreateProgram)                                                                                     \
	X(destroy, hiprtcDestroyProgram)                                                                                   \
	X(compile, hiprtcCompileProgram)                                                                                   \
	X(cubin_size, hiprtcGetCodeSize)                                                                                   \
	X(cubin, hiprtcGetCode)                                                                                            \
	X(log_size, hiprtcGetProgramLogSize)                                                                               \
	X(log, hiprtcGetProgramLog)

/* our attribute of a device, HIP's, its value since ROCm 5 */
#define HIP_NUMBERS(X)                                                                                                 \
	X(DRIVER_CLOCK, hipDeviceAttributeClockRate, 5)                                                                    \
	X(DRIVER_COOPERATIVE, hipDeviceAttributeCooperativeLaunch, 10)                                                     \
	X(DRIVER_L2, hipDeviceAttributeL2CacheSize, 19)                                                                    \
	X(DRIVER_MAJOR, hipDeviceAttributeComputeCapabilityMajor, 23)                                                      \
	X(DRIVER_BLOCKS_PER_SM, hipDeviceAttributeMaxBlocksPerMultiProcessor, 25)                                          \
	X(DRIVER_THREADS_PER_BLOCK, hipDeviceAttributeMaxThreadsPerBlock, 56)                                              \
	X(DRIVER_THREADS_PER_SM, hipDeviceAttributeMaxThreadsPerMultiProcessor, 57)                                        \
	X(DRIVER_MEMORY_BUS, hipDeviceAttributeMemoryBusWidth, 59)                                                         \
	X(DRIVER_MEMORY_CLOCK, hipDeviceAttributeMemoryClockRate, 60)                                                      \
	X(DRIVER_MINOR, hipDeviceAttributeComputeCapabilityMinor, 61)                                                      \
	X(DRIVER_SMS, hipDeviceAttributeMultiprocessorCount, 63)                                                           \
	X(DRIVER_REGISTERS_PER_BLOCK, hipDeviceAttributeMaxRegistersPerBlock, 71)                                          \
	X(DRIVER_SHARED_PER_BLOCK, hipDeviceAttributeMaxSharedMemoryPerBlock, 74)

/* HIP's libraries beneath the tables of CUDA's. */

bool hiprtc_open(struct nvrtc *nvrtc, int driver_major, struct library_why *why); /* as nvrtc_open */
#endif
