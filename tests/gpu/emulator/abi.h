/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The driver's binary interface, as far as it is emulated: NVIDIA, "CUDA Driver API", 13.0. */
#ifndef TESTS_GPU_EMULATOR_ABI_H
#define TESTS_GPU_EMULATOR_ABI_H
#include <stddef.h>
#include <stdint.h>

#define CU_EXPORT __attribute__((visibility("default")))

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct context *CUcontext;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct module *CUmodule;
typedef struct function *CUfunction;
typedef struct graph *CUgraph;
typedef struct graph *CUgraphExec;

#define CUDA_ERRORS(X)                                                                                                 \
	X(SUCCESS, 0, "no error")                                                                                          \
	X(ERROR_INVALID_VALUE, 1, "invalid argument")                                                                      \
	X(ERROR_OUT_OF_MEMORY, 2, "out of memory")                                                                         \
	X(ERROR_NOT_INITIALIZED, 3, "initialization error")                                                                \
	X(ERROR_NO_DEVICE, 100, "no CUDA-capable device is detected")                                                      \
	X(ERROR_INVALID_DEVICE, 101, "invalid device ordinal")                                                             \
	X(ERROR_INVALID_IMAGE, 200, "device kernel image is invalid")                                                      \
	X(ERROR_INVALID_CONTEXT, 201, "invalid device context")                                                            \
	X(ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image is available for execution on the device")                        \
	X(ERROR_FILE_NOT_FOUND, 301, "file not found")                                                                     \
	X(ERROR_OPERATING_SYSTEM, 304, "OS call failed or operation not supported on this OS")                             \
	X(ERROR_INVALID_HANDLE, 400, "invalid resource handle")                                                            \
	X(ERROR_NOT_FOUND, 500, "named symbol not found")                                                                  \
	X(ERROR_NOT_READY, 600, "device not ready")                                                                        \
	X(ERROR_ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered")                                          \
	X(ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch")                                   \
	X(ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, "peer access is already enabled")                                        \
	X(ERROR_PEER_ACCESS_NOT_ENABLED, 705, "peer access has not been enabled")                                          \
	X(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, "part or all of the requested memory range is already mapped")        \
	X(ERROR_HOST_MEMORY_NOT_REGISTERED, 713, "pointer does not correspond to a registered memory region")              \
	X(ERROR_LAUNCH_FAILED, 719, "unspecified launch failure")                                                          \
	X(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, "too many blocks in cooperative launch")                                \
	X(ERROR_NOT_SUPPORTED, 801, "operation not supported")                                                             \
	X(ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "operation not permitted when stream is capturing")                       \
	X(ERROR_STREAM_CAPTURE_UNMATCHED, 903, "the capture was not initiated in this stream")                             \
	X(ERROR_STREAM_CAPTURE_UNJOINED, 904, "capturing stream has unjoined work")

enum {
#define X(name, value, text) CUDA_##name = value,
	CUDA_ERRORS(X)
#undef X
};

/* CUDA_MEMCPY2D_v2 */
struct copy_2d {
	size_t from_x, from_y;
	int from_type;
	const void *from_host;
	CUdeviceptr from_device;
	void *from_array;
	size_t from_pitch;
	size_t to_x, to_y;
	int to_type;
	void *to_host;
	CUdeviceptr to_device;
	void *to_array;
	size_t to_pitch;
	size_t width, height;
};
enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2, MEMORY_ARRAY = 3, MEMORY_UNIFIED = 4 };

#endif
