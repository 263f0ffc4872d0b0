/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the CUDA driver's binary interface that we use, declared anew so that the build does not need CUDA's
 * headers. Numbers and signatures: NVIDIA, CUDA Driver API reference, 13.0; a name that libcuda exports keeps its
 * meaning (a changed function gets a suffix). tests/gpu/abi.c compares them with cuda.h, and brings the real types for
 * that. */
#ifndef GPU_GPU_ABI_IMPL_H
#define GPU_GPU_ABI_IMPL_H
#include <stddef.h>
#include <stdint.h>

#ifndef DRIVER_ABI_TYPES
typedef int driver_result, driver_device, driver_attribute, driver_function_attribute, driver_capture_mode,
	driver_jit_option;
typedef unsigned long long driver_ptr;
typedef struct driver_context_st *driver_context;
typedef struct driver_module_st *driver_module;
typedef struct driver_function_st *driver_function;
typedef struct driver_stream_st *driver_stream;
typedef struct driver_event_st *driver_event;
typedef struct driver_graph_st *driver_graph;
typedef struct driver_graph_exec_st *driver_graph_exec;
typedef struct {
	char bytes[16];
} driver_uuid;
typedef struct gpu_tensor_map driver_tensor_map;
typedef unsigned driver_tensor_type, driver_tensor_interleave, driver_tensor_swizzle, driver_tensor_promotion,
	driver_tensor_fill;
typedef struct {
	size_t from_x, from_y;
	int from_type;
	const void *from_host;
	driver_ptr from;
	void *from_array;
	size_t from_pitch, to_x, to_y;
	int to_type;
	void *to_host;
	driver_ptr to;
	void *to_array;
	size_t to_pitch, width, height;
} driver_copy_2d;
#endif

/* our name, CUDA's, value */
#define DRIVER_RESULTS(X)                                                                                              \
	X(DRIVER_SUCCESS, CUDA_SUCCESS, 0)                                                                                 \
	X(DRIVER_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, 1)                                                               \
	X(DRIVER_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                                               \
	X(DRIVER_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED, 3)                                                           \
	X(DRIVER_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED, 4)                                                               \
	X(DRIVER_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY, 34)                                                                \
	X(DRIVER_DEVICE_UNAVAILABLE, CUDA_ERROR_DEVICE_UNAVAILABLE, 46)                                                    \
	X(DRIVER_NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100)                                                                     \
	X(DRIVER_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE, 101)                                                           \
	X(DRIVER_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200)                                                             \
	X(DRIVER_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT, 201)                                                         \
	X(DRIVER_NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                             \
	X(DRIVER_ECC, CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                                                   \
	X(DRIVER_INVALID_PTX, CUDA_ERROR_INVALID_PTX, 218)                                                                 \
	X(DRIVER_NVLINK, CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)                                                             \
	X(DRIVER_UNSUPPORTED_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                                 \
	X(DRIVER_CONTAINED, CUDA_ERROR_CONTAINED, 226)                                                                     \
	X(DRIVER_INVALID_SOURCE, CUDA_ERROR_INVALID_SOURCE, 300)                                                           \
	X(DRIVER_OPERATING_SYSTEM, CUDA_ERROR_OPERATING_SYSTEM, 304)                                                       \
	X(DRIVER_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500)                                                                     \
	X(DRIVER_NOT_READY, CUDA_ERROR_NOT_READY, 600)                                                                     \
	X(DRIVER_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                                         \
	X(DRIVER_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                                                \
	X(DRIVER_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                                                  \
	X(DRIVER_PEER_ENABLED, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)                                                \
	X(DRIVER_CONTEXT_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                                                  \
	X(DRIVER_ASSERT, CUDA_ERROR_ASSERT, 710)                                                                           \
	X(DRIVER_STACK, CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                                              \
	X(DRIVER_ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                                                 \
	X(DRIVER_MISALIGNED, CUDA_ERROR_MISALIGNED_ADDRESS, 716)                                                           \
	X(DRIVER_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)                                                     \
	X(DRIVER_INVALID_PC, CUDA_ERROR_INVALID_PC, 718)                                                                   \
	X(DRIVER_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED, 719)                                                             \
	X(DRIVER_COOPERATIVE_TOO_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)                                      \
	X(DRIVER_UNKNOWN, CUDA_ERROR_UNKNOWN, 999)

#define DRIVER_NUMBERS(X)                                                                                              \
	X(DRIVER_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                                          \
	X(DRIVER_SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                                     \
	X(DRIVER_REGISTERS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 12)                                     \
	X(DRIVER_CLOCK, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                                                \
	X(DRIVER_SMS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                        \
	X(DRIVER_PCI_BUS, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33)                                                              \
	X(DRIVER_PCI_DEVICE, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34)                                                        \
	X(DRIVER_MEMORY_CLOCK, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                                                  \
	X(DRIVER_MEMORY_BUS, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)                                              \
	X(DRIVER_L2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                                                \
	X(DRIVER_THREADS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)                                   \
	X(DRIVER_PCI_DOMAIN, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50)                                                        \
	X(DRIVER_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                                  \
	X(DRIVER_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                                  \
	X(DRIVER_SHARED_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)                              \
	X(DRIVER_REGISTERS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 82)                               \
	X(DRIVER_COOPERATIVE, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95)                                                  \
	X(DRIVER_SHARED_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                  \
	X(DRIVER_BLOCKS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 106)                                    \
	X(DRIVER_SHARED_RESERVED, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 111)                               \
	X(DRIVER_FUNCTION_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                                             \
	X(DRIVER_FUNCTION_SHARED, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                  \
	X(DRIVER_FUNCTION_LOCAL, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                                    \
	X(DRIVER_FUNCTION_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                                        \
	X(DRIVER_FUNCTION_DYNAMIC, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                     \
	X(DRIVER_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, 1)                                                           \
	X(DRIVER_EVENT_DEFAULT, CU_EVENT_DEFAULT, 0)                                                                       \
	X(DRIVER_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, 1)                                                               \
	X(DRIVER_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                                       \
	X(DRIVER_MEMORY_HOST, CU_MEMORYTYPE_HOST, 1)                                                                       \
	X(DRIVER_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE, 2)                                                                   \
	X(DRIVER_TENSOR_BYTE, CU_TENSOR_MAP_DATA_TYPE_UINT8, 0)                                                            \
	X(DRIVER_TENSOR_WORD, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2)                                                           \
	X(DRIVER_TENSOR_SWIZZLE_128, CU_TENSOR_MAP_SWIZZLE_128B, 3)                                                        \
	X(DRIVER_TENSOR_L2_256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, 3)

#define DRIVER_ENUM(name, theirs, value) name = value,
enum { DRIVER_RESULTS(DRIVER_ENUM) };
enum { DRIVER_NUMBERS(DRIVER_ENUM) };
#undef DRIVER_ENUM

/* our name, what libcuda exports, parameters */
#define DRIVER_CALLS(X)                                                                                                \
	X(init, cuInit, (unsigned flags))                                                                                  \
	X(get_version, cuDriverGetVersion, (int *version))                                                                 \
	X(error_name, cuGetErrorName, (driver_result result, const char **text))                                           \
	X(error_string, cuGetErrorString, (driver_result result, const char **text))                                       \
	X(device_count, cuDeviceGetCount, (int *count))                                                                    \
	X(device_get, cuDeviceGet, (driver_device * device, int index))                                                    \
	X(device_name, cuDeviceGetName, (char *name, int size, driver_device device))                                      \
	X(device_uuid, cuDeviceGetUuid_v2, (driver_uuid * uuid, driver_device device))                                     \
	X(device_memory, cuDeviceTotalMem_v2, (size_t * size, driver_device device))                                       \
	X(device_attribute, cuDeviceGetAttribute, (int *value, driver_attribute which, driver_device device))              \
	X(context_retain, cuDevicePrimaryCtxRetain, (driver_context * context, driver_device device))                      \
	X(context_release, cuDevicePrimaryCtxRelease_v2, (driver_device device))                                           \
	X(context_set, cuCtxSetCurrent, (driver_context context))                                                          \
	X(context_get, cuCtxGetCurrent, (driver_context * context))                                                        \
	X(context_device, cuCtxGetDevice, (driver_device * device))                                                        \
	X(context_sync, cuCtxSynchronize, (void))                                                                          \
	X(priorities, cuCtxGetStreamPriorityRange, (int *least, int *greatest))                                            \
	X(memory_alloc, cuMemAlloc_v2, (driver_ptr * memory, size_t size))                                                 \
	X(memory_free, cuMemFree_v2, (driver_ptr memory))                                                                  \
	X(memory_info, cuMemGetInfo_v2, (size_t * free, size_t * total))                                                   \
	X(host_alloc, cuMemHostAlloc, (void **memory, size_t size, unsigned flags))                                        \
	X(host_free, cuMemFreeHost, (void *memory))                                                                        \
	X(copy_up, cuMemcpyHtoDAsync_v2, (driver_ptr to, const void *from, size_t size, driver_stream stream))             \
	X(copy_down, cuMemcpyDtoHAsync_v2, (void *to, driver_ptr from, size_t size, driver_stream stream))                 \
	X(copy_across, cuMemcpyDtoDAsync_v2, (driver_ptr to, driver_ptr from, size_t size, driver_stream stream))          \
	X(copy_rectangle, cuMemcpy2DAsync_v2, (const driver_copy_2d *copy, driver_stream stream))                          \
	X(copy_peer, cuMemcpyPeerAsync,                                                                                    \
	  (driver_ptr to, driver_context to_context, driver_ptr from, driver_context from_context, size_t size,            \
	   driver_stream stream))                                                                                          \
	X(tensor_map, cuTensorMapEncodeTiled,                                                                              \
	  (driver_tensor_map * map, driver_tensor_type type, uint32_t rank, void *at, const uint64_t *sizes,               \
	   const uint64_t *strides, const uint32_t *box, const uint32_t *steps, driver_tensor_interleave interleave,       \
	   driver_tensor_swizzle swizzle, driver_tensor_promotion promotion, driver_tensor_fill fill))                     \
	X(fill8, cuMemsetD8Async, (driver_ptr to, unsigned char value, size_t count, driver_stream stream))                \
	X(fill32, cuMemsetD32Async, (driver_ptr to, unsigned value, size_t count, driver_stream stream))                   \
	X(module_load, cuModuleLoadDataEx,                                                                                 \
	  (driver_module * module, const void *image, unsigned count, driver_jit_option *options, void **values))          \
	X(module_unload, cuModuleUnload, (driver_module module))                                                           \
	X(module_function, cuModuleGetFunction, (driver_function * function, driver_module module, const char *name))      \
	X(module_global, cuModuleGetGlobal_v2,                                                                             \
	  (driver_ptr * address, size_t * size, driver_module module, const char *name))                                   \
	X(function_parameter, cuFuncGetParamInfo,                                                                          \
	  (driver_function function, size_t index, size_t * offset, size_t * size))                                        \
	X(function_attribute, cuFuncGetAttribute, (int *value, driver_function_attribute which, driver_function function)) \
	X(function_set, cuFuncSetAttribute, (driver_function function, driver_function_attribute which, int value))        \
	X(blocks_per_sm, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                      \
	  (int *blocks, driver_function function, int threads, size_t dynamic_shared))                                     \
	X(launch, cuLaunchKernel,                                                                                          \
	  (driver_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,                  \
	   unsigned block_y, unsigned block_z, unsigned shared, driver_stream stream, void **arguments, void **extra))     \
	X(launch_cooperative, cuLaunchCooperativeKernel,                                                                   \
	  (driver_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,                  \
	   unsigned block_y, unsigned block_z, unsigned shared, driver_stream stream, void **arguments))                   \
	X(stream_create, cuStreamCreateWithPriority, (driver_stream * stream, unsigned flags, int priority))               \
	X(stream_destroy, cuStreamDestroy_v2, (driver_stream stream))                                                      \
	X(stream_sync, cuStreamSynchronize, (driver_stream stream))                                                        \
	X(stream_wait, cuStreamWaitEvent, (driver_stream stream, driver_event event, unsigned flags))                      \
	X(capture_begin, cuStreamBeginCapture_v2, (driver_stream stream, driver_capture_mode mode))                        \
	X(capture_end, cuStreamEndCapture, (driver_stream stream, driver_graph * graph))                                   \
	X(graph_instantiate, cuGraphInstantiateWithFlags,                                                                  \
	  (driver_graph_exec * exec, driver_graph graph, unsigned long long flags))                                        \
	X(graph_launch, cuGraphLaunch, (driver_graph_exec exec, driver_stream stream))                                     \
	X(graph_exec_destroy, cuGraphExecDestroy, (driver_graph_exec exec))                                                \
	X(graph_destroy, cuGraphDestroy, (driver_graph graph))                                                             \
	X(event_create, cuEventCreate, (driver_event * event, unsigned flags))                                             \
	X(event_destroy, cuEventDestroy_v2, (driver_event event))                                                          \
	X(event_record, cuEventRecord, (driver_event event, driver_stream stream))                                         \
	X(event_query, cuEventQuery, (driver_event event))                                                                 \
	X(event_sync, cuEventSynchronize, (driver_event event))                                                            \
	X(event_elapsed, cuEventElapsedTime, (float *milliseconds, driver_event from, driver_event to))                    \
	X(peer_possible, cuDeviceCanAccessPeer, (int *possible, driver_device device, driver_device peer))                 \
	X(peer_enable, cuCtxEnablePeerAccess, (driver_context context, unsigned flags))

/* The part of NVML's binary interface that we use (NVIDIA, NVML API Reference Guide, 13.0); see above. */

typedef int nvml_result;
typedef struct nvml_device_st *nvml_device;
/* nvmlProcessInfo_v2_t, which the _v3 call fills */
struct nvml_process {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
};

enum { NVML_FINE = 0, NVML_NOT_SUPPORTED = 3, NVML_NO_PERMISSION = 4, NVML_INSUFFICIENT_SIZE = 7 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
enum { NVML_TEMPERATURE_GPU = 0 };
/* nvmlClocksEventReasons, those that slow a busy GPU down against its will */
enum {
	NVML_POWER_CAP = 0x4,
	NVML_HARDWARE_SLOWDOWN = 0x8,
	NVML_SOFTWARE_THERMAL = 0x20,
	NVML_HARDWARE_THERMAL = 0x40,
	NVML_POWER_BRAKE = 0x80
};

#define NVML_CALLS(X)                                                                                                  \
	X(init, nvmlInit_v2, (void))                                                                                       \
	X(shutdown, nvmlShutdown, (void))                                                                                  \
	X(version, nvmlSystemGetNVMLVersion, (char *text, unsigned size))                                                  \
	X(by_uuid, nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device *device))                                     \
	X(by_pci, nvmlDeviceGetHandleByPciBusId_v2, (const char *bus, nvml_device *device))                                \
	X(clock, nvmlDeviceGetClockInfo, (nvml_device device, int which, unsigned *mhz))                                   \
	X(clock_max, nvmlDeviceGetMaxClockInfo, (nvml_device device, int which, unsigned *mhz))                            \
	X(power, nvmlDeviceGetPowerUsage, (nvml_device device, unsigned *milliwatt))                                       \
	X(temperature, nvmlDeviceGetTemperature, (nvml_device device, int sensor, unsigned *celsius))                      \
	X(throttle, nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device device, unsigned long long *bits))             \
	X(energy, nvmlDeviceGetTotalEnergyConsumption, (nvml_device device, unsigned long long *millijoule))               \
	X(mig, nvmlDeviceGetMigMode, (nvml_device device, unsigned *current, unsigned *pending))                           \
	X(processes, nvmlDeviceGetComputeRunningProcesses_v3,                                                              \
	  (nvml_device device, unsigned *count, struct nvml_process *processes))

/* The part of NVRTC's binary interface that we use (NVIDIA, NVRTC 13.0 documentation); see above. */

#ifndef NVRTC_ABI_TYPES
typedef int nvrtc_result;
typedef struct nvrtc_program_st *nvrtc_program;
#endif

#define NVRTC_RESULTS(X)                                                                                               \
	X(NVRTC_FINE, NVRTC_SUCCESS, 0)                                                                                    \
	X(NVRTC_NO_MEMORY, NVRTC_ERROR_OUT_OF_MEMORY, 1)                                                                   \
	X(NVRTC_BAD_OPTION, NVRTC_ERROR_INVALID_OPTION, 5)                                                                 \
	X(NVRTC_BAD_SOURCE, NVRTC_ERROR_COMPILATION, 6)

#define NVRTC_ENUM(name, theirs, value) name = value,
enum { NVRTC_RESULTS(NVRTC_ENUM) };
#undef NVRTC_ENUM

#define NVRTC_CALLS(X)                                                                                                 \
	X(get_version, nvrtcVersion, (int *major, int *minor))                                                             \
	X(arch_count, nvrtcGetNumSupportedArchs, (int *count))                                                             \
	X(archs, nvrtcGetSupportedArchs, (int *archs))                                                                     \
	X(create, nvrtcCreateProgram,                                                                                      \
	  (nvrtc_program * program, const char *source, const char *name, int headers, const char *const *header_texts,    \
	   const char *const *header_names))                                                                               \
	X(destroy, nvrtcDestroyProgram, (nvrtc_program * program))                                                         \
	X(compile, nvrtcCompileProgram, (nvrtc_program program, int count, const char *const *options))                    \
	X(ptx_size, nvrtcGetPTXSize, (nvrtc_program program, size_t * size))                                               \
	X(ptx, nvrtcGetPTX, (nvrtc_program program, char *ptx))                                                            \
	X(cubin_size, nvrtcGetCUBINSize, (nvrtc_program program, size_t * size))                                           \
	X(cubin, nvrtcGetCUBIN, (nvrtc_program program, char *cubin))                                                      \
	X(log_size, nvrtcGetProgramLogSize, (nvrtc_program program, size_t * size))                                        \
	X(log, nvrtcGetProgramLog, (nvrtc_program program, char *text))
#endif
