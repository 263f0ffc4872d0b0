# SPDX-License-Identifier: BSD-3-Clause
# The GPU at run time: CUDA's libraries are opened when they are needed, and nothing here needs their headers.
noinst_LTLIBRARIES += libgpu.la
libgpu_la_SOURCES = %D%/gpu.h %D%/open.h %D%/backend.h %D%/gpu_abi_impl.h %D%/gpu_library.c \
 %D%/gpu_device.c %D%/gpu_memory.c %D%/gpu_compile.c %D%/gpu_cache.c %D%/module.c %D%/gpu_launch.c

include %D%/hip/local.mk
include %D%/opencl/local.mk
