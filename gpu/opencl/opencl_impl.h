/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of OpenCL 1.2's binary interface that we use, declared anew so that the build does not need OpenCL's
 * headers. Numbers and signatures: Khronos, The OpenCL Specification 1.2, and cl.h. Places in the dispatch table:
 * cl_khr_icd (The OpenCL Extension Specification) and cl_icd.h, whose order is frozen. */
#ifndef GPU_OPENCL_OPENCL_IMPL_H
#define GPU_OPENCL_OPENCL_IMPL_H

#include "gpu/open.h"

typedef struct opencl_platform_st *opencl_platform;
typedef struct opencl_device_st *opencl_device;
typedef struct opencl_context_st *opencl_context;
typedef struct opencl_queue_st *opencl_queue;
typedef struct opencl_memory_st *opencl_memory;
typedef struct opencl_program_st *opencl_program;
typedef struct opencl_kernel_st *opencl_kernel;
typedef struct opencl_event_st *opencl_event;

/* our name, OpenCL's, value */
#define OPENCL_RESULTS(X)                                                                                              \
	X(OPENCL_SUCCESS, CL_SUCCESS, 0)                                                                                   \
	X(OPENCL_DEVICE_NOT_FOUND, CL_DEVICE_NOT_FOUND, -1)                                                                \
	X(OPENCL_DEVICE_NOT_AVAILABLE, CL_DEVICE_NOT_AVAILABLE, -2)                                                        \
	X(OPENCL_COMPILER_NOT_AVAILABLE, CL_COMPILER_NOT_AVAILABLE, -3)                                                    \
	X(OPENCL_ALLOCATION_FAILURE, CL_MEM_OBJECT_ALLOCATION_FAILURE, -4)                                                 \
	X(OPENCL_OUT_OF_RESOURCES, CL_OUT_OF_RESOURCES, -5)                                                                \
	X(OPENCL_OUT_OF_HOST_MEMORY, CL_OUT_OF_HOST_MEMORY, -6)                                                            \
	X(OPENCL_NO_PROFILING, CL_PROFILING_INFO_NOT_AVAILABLE, -7)                                                        \
	X(OPENCL_BUILD_FAILURE, CL_BUILD_PROGRAM_FAILURE, -11)                                                             \
	X(OPENCL_EXEC_ERROR, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14)                                            \
	X(OPENCL_COMPILE_FAILURE, CL_COMPILE_PROGRAM_FAILURE, -15)                                                         \
	X(OPENCL_LINK_FAILURE, CL_LINK_PROGRAM_FAILURE, -17)                                                               \
	X(OPENCL_INVALID_VALUE, CL_INVALID_VALUE, -30)                                                                     \
	X(OPENCL_INVALID_BINARY, CL_INVALID_BINARY, -42)                                                                   \
	X(OPENCL_INVALID_BUILD_OPTIONS, CL_INVALID_BUILD_OPTIONS, -43)                                                     \
	X(OPENCL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_PROGRAM_EXECUTABLE, -45)                                           \
	X(OPENCL_INVALID_KERNEL_NAME, CL_INVALID_KERNEL_NAME, -46)                                                         \
	X(OPENCL_INVALID_KERNEL_DEFINITION, CL_INVALID_KERNEL_DEFINITION, -47)                                             \
	X(OPENCL_INVALID_ARG_INDEX, CL_INVALID_ARG_INDEX, -49)                                                             \
	X(OPENCL_INVALID_ARG_VALUE, CL_INVALID_ARG_VALUE, -50)                                                             \
	X(OPENCL_INVALID_ARG_SIZE, CL_INVALID_ARG_SIZE, -51)                                                               \
	X(OPENCL_INVALID_KERNEL_ARGS, CL_INVALID_KERNEL_ARGS, -52)                                                         \
	X(OPENCL_INVALID_WORK_DIMENSION, CL_INVALID_WORK_DIMENSION, -53)                                                   \
	X(OPENCL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_GROUP_SIZE, -54)                                                 \
	X(OPENCL_INVALID_WORK_ITEM_SIZE, CL_INVALID_WORK_ITEM_SIZE, -55)                                                   \
	X(OPENCL_INVALID_BUFFER_SIZE, CL_INVALID_BUFFER_SIZE, -61)                                                         \
	X(OPENCL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_GLOBAL_WORK_SIZE, -63)                                               \
	X(OPENCL_PLATFORM_NOT_FOUND, CL_PLATFORM_NOT_FOUND_KHR, -1001)

#define OPENCL_NUMBERS(X)                                                                                              \
	X(OPENCL_PLATFORM_VERSION, CL_PLATFORM_VERSION, 0x0901)                                                            \
	X(OPENCL_PLATFORM_NAME, CL_PLATFORM_NAME, 0x0902)                                                                  \
	X(OPENCL_DEVICE_UNITS, CL_DEVICE_MAX_COMPUTE_UNITS, 0x1002)                                                        \
	X(OPENCL_DEVICE_GROUP_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE, 0x1004)                                                 \
	X(OPENCL_DEVICE_ITEM_SIZES, CL_DEVICE_MAX_WORK_ITEM_SIZES, 0x1005)                                                 \
	X(OPENCL_DEVICE_CLOCK, CL_DEVICE_MAX_CLOCK_FREQUENCY, 0x100C)                                                      \
	X(OPENCL_DEVICE_CACHE, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 0x101E)                                                    \
	X(OPENCL_DEVICE_MEMORY, CL_DEVICE_GLOBAL_MEM_SIZE, 0x101F)                                                         \
	X(OPENCL_DEVICE_LOCAL, CL_DEVICE_LOCAL_MEM_SIZE, 0x1023)                                                           \
	X(OPENCL_DEVICE_AVAILABLE, CL_DEVICE_AVAILABLE, 0x1027)                                                            \
	X(OPENCL_DEVICE_COMPILER, CL_DEVICE_COMPILER_AVAILABLE, 0x1028)                                                    \
	X(OPENCL_DEVICE_NAME, CL_DEVICE_NAME, 0x102B)                                                                      \
	X(OPENCL_DRIVER_VERSION, CL_DRIVER_VERSION, 0x102D)                                                                \
	X(OPENCL_DEVICE_VERSION, CL_DEVICE_VERSION, 0x102F)                                                                \
	X(OPENCL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BINARY_SIZES, 0x1165)                                                    \
	X(OPENCL_PROGRAM_BINARIES, CL_PROGRAM_BINARIES, 0x1166)                                                            \
	X(OPENCL_BUILD_LOG, CL_PROGRAM_BUILD_LOG, 0x1183)                                                                  \
	X(OPENCL_KERNEL_ARGS, CL_KERNEL_NUM_ARGS, 0x1191)                                                                  \
	X(OPENCL_KERNEL_GROUP_SIZE, CL_KERNEL_WORK_GROUP_SIZE, 0x11B0)                                                     \
	X(OPENCL_KERNEL_LOCAL, CL_KERNEL_LOCAL_MEM_SIZE, 0x11B2)                                                           \
	X(OPENCL_KERNEL_PRIVATE, CL_KERNEL_PRIVATE_MEM_SIZE, 0x11B4)                                                       \
	X(OPENCL_EVENT_START, CL_PROFILING_COMMAND_START, 0x1282)                                                          \
	X(OPENCL_EVENT_END, CL_PROFILING_COMMAND_END, 0x1283)                                                              \
	X(OPENCL_MEMORY_READ_WRITE, CL_MEM_READ_WRITE, 1)                                                                  \
	X(OPENCL_QUEUE_PROFILING, CL_QUEUE_PROFILING_ENABLE, 2)

#define OPENCL_ENUM(name, theirs, value) name = value,
enum { OPENCL_RESULTS(OPENCL_ENUM) };
enum { OPENCL_NUMBERS(OPENCL_ENUM) };
#undef OPENCL_ENUM
#define OPENCL_DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)

/* our name, OpenCL's, place in the dispatch table, result, parameters */
#define OPENCL_CALLS(X)                                                                                                \
	X(platforms, clGetPlatformIDs, 0, int32_t, (uint32_t room, opencl_platform * platforms, uint32_t * count))         \
	X(platform_info, clGetPlatformInfo, 1, int32_t,                                                                    \
	  (opencl_platform platform, uint32_t which, size_t size, void *value, size_t *used))                              \
	X(devices, clGetDeviceIDs, 2, int32_t,                                                                             \
	  (opencl_platform platform, uint64_t type, uint32_t room, opencl_device * devices, uint32_t * count))             \
	X(device_info, clGetDeviceInfo, 3, int32_t,                                                                        \
	  (opencl_device device, uint32_t which, size_t size, void *value, size_t *used))                                  \
	X(context_create, clCreateContext, 4, opencl_context,                                                              \
	  (const intptr_t *properties, uint32_t count, const opencl_device *devices,                                       \
	   void (*notify)(const char *, const void *, size_t, void *), void *user, int32_t *result))                       \
	X(context_release, clReleaseContext, 7, int32_t, (opencl_context context))                                         \
	X(queue_create, clCreateCommandQueue, 9, opencl_queue,                                                             \
	  (opencl_context context, opencl_device device, uint64_t properties, int32_t * result))                           \
	X(queue_release, clReleaseCommandQueue, 11, int32_t, (opencl_queue queue))                                         \
	X(memory_create, clCreateBuffer, 14, opencl_memory,                                                                \
	  (opencl_context context, uint64_t flags, size_t size, void *host, int32_t *result))                              \
	X(memory_release, clReleaseMemObject, 18, int32_t, (opencl_memory memory))                                         \
	X(program_source, clCreateProgramWithSource, 26, opencl_program,                                                   \
	  (opencl_context context, uint32_t count, const char **texts, const size_t *sizes, int32_t *result))              \
	X(program_binary, clCreateProgramWithBinary, 27, opencl_program,                                                   \
	  (opencl_context context, uint32_t count, const opencl_device *devices, const size_t *sizes,                      \
	   const unsigned char **binaries, int32_t *statuses, int32_t *result))                                            \
	X(program_release, clReleaseProgram, 29, int32_t, (opencl_program program))                                        \
	X(program_build, clBuildProgram, 30, int32_t,                                                                      \
	  (opencl_program program, uint32_t count, const opencl_device *devices, const char *options,                      \
	   void (*notify)(opencl_program, void *), void *user))                                                            \
	X(program_info, clGetProgramInfo, 32, int32_t,                                                                     \
	  (opencl_program program, uint32_t which, size_t size, void *value, size_t *used))                                \
	X(build_info, clGetProgramBuildInfo, 33, int32_t,                                                                  \
	  (opencl_program program, opencl_device device, uint32_t which, size_t size, void *value, size_t *used))          \
	X(kernel_create, clCreateKernel, 34, opencl_kernel, (opencl_program program, const char *name, int32_t *result))   \
	X(kernel_release, clReleaseKernel, 37, int32_t, (opencl_kernel kernel))                                            \
	X(kernel_argument, clSetKernelArg, 38, int32_t,                                                                    \
	  (opencl_kernel kernel, uint32_t index, size_t size, const void *value))                                          \
	X(kernel_info, clGetKernelInfo, 39, int32_t,                                                                       \
	  (opencl_kernel kernel, uint32_t which, size_t size, void *value, size_t *used))                                  \
	X(kernel_group_info, clGetKernelWorkGroupInfo, 40, int32_t,                                                        \
	  (opencl_kernel kernel, opencl_device device, uint32_t which, size_t size, void *value, size_t *used))            \
	X(event_release, clReleaseEvent, 44, int32_t, (opencl_event event))                                                \
	X(event_time, clGetEventProfilingInfo, 45, int32_t,                                                                \
	  (opencl_event event, uint32_t which, size_t size, void *value, size_t *used))                                    \
	X(finish, clFinish, 47, int32_t, (opencl_queue queue))                                                             \
	X(read, clEnqueueReadBuffer, 48, int32_t,                                                                          \
	  (opencl_queue queue, opencl_memory memory, uint32_t blocking, size_t offset, size_t size, void *to,              \
	   uint32_t waits, const opencl_event *wait, opencl_event *event))                                                 \
	X(write, clEnqueueWriteBuffer, 49, int32_t,                                                                        \
	  (opencl_queue queue, opencl_memory memory, uint32_t blocking, size_t offset, size_t size, const void *from,      \
	   uint32_t waits, const opencl_event *wait, opencl_event *event))                                                 \
	X(copy, clEnqueueCopyBuffer, 50, int32_t,                                                                          \
	  (opencl_queue queue, opencl_memory from, opencl_memory to, size_t from_offset, size_t to_offset, size_t size,    \
	   uint32_t waits, const opencl_event *wait, opencl_event *event))                                                 \
	X(launch, clEnqueueNDRangeKernel, 59, int32_t,                                                                     \
	  (opencl_queue queue, opencl_kernel kernel, uint32_t dimensions, const size_t *offset, const size_t *global,      \
	   const size_t *local, uint32_t waits, const opencl_event *wait, opencl_event *event))                            \
	X(fill, clEnqueueFillBuffer, 102, int32_t,                                                                         \
	  (opencl_queue queue, opencl_memory memory, const void *pattern, size_t pattern_size, size_t offset, size_t size, \
	   uint32_t waits, const opencl_event *wait, opencl_event *event))

/* OpenCL's implementations on this machine and their devices, opened at run time. */

struct opencl_calls {
#define OPENCL_POINTER(name, symbol, place, result, parameters) result(*name) parameters;
	OPENCL_CALLS(OPENCL_POINTER)
#undef OPENCL_POINTER
};

struct opencl_found {
	const struct opencl_calls *calls;
	opencl_platform platform;
	opencl_device device;
};

enum { OPENCL_DEVICES_MAX = 64, OPENCL_PLATFORMS_MAX = 16, OPENCL_WHY = 200 };
struct gpu_opencl {
	struct opencl_calls calls[OPENCL_PLATFORMS_MAX];
	struct opencl_found devices[OPENCL_DEVICES_MAX];
	size_t platforms, count;
	char path[256];                           /* of the first library that was opened */
	char reason[OPENCL_WHY], fix[OPENCL_WHY]; /* the reason why no device was found, and the remedy */
};

/* "CL_OUT_OF_RESOURCES", or "error -9999". */
const char *opencl_result_text(int32_t result, char *text, size_t size);

/* An OpenCL device beneath a struct gpu: what gpu.h's functions do there. Failures go to the gpu. */

struct opencl; /* an open device with its memory, queue and time */
/* word: see opencl_find. NULL with ERR_UNAVAILABLE if the device does not exist or does not open. */
struct opencl *opencl_open(struct gpu *gpu, const char *word, struct gpu_facts *facts, struct err *err);
void opencl_device_close(struct gpu *gpu); /* and frees it */

enum { OPENCL_BUFFERS_MAX = 256 };

struct opencl_buffer {
	opencl_memory handle;
	uint64_t at;
	size_t size;
};

struct opencl {
	struct gpu *gpu; /* for failures */
	struct gpu_opencl *list;
	const struct opencl_calls *calls;
	opencl_device device;
	opencl_context context;
	opencl_queue queue;
	struct opencl_buffer buffers[OPENCL_BUFFERS_MAX];
	size_t count;
	uint64_t next; /* the address of the next buffer */
	size_t group_size, item_sizes[3], local_bytes;
	bool timing;
	opencl_event first, last; /* launches since the clock was started; last is NULL for a single one */
	char identity[512];       /* tells this device's compiler from others */
};

void opencl_events_drop(struct opencl *ocl);
#endif
