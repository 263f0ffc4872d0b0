/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of NVRTC's binary interface that we use (NVIDIA, NVRTC 13.0 documentation); see driver_abi.h. */
#ifndef GPU_NVRTC_ABI_H
#define GPU_NVRTC_ABI_H
#include <stddef.h>

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
