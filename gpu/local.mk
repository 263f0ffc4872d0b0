# SPDX-License-Identifier: BSD-3-Clause
# The GPU at run time: CUDA's libraries are opened when they are needed, and nothing here needs their headers.
noinst_LTLIBRARIES += libgpu.la
libgpu_la_SOURCES = %D%/ahead.c %D%/gpu.h %D%/open.h %D%/impl.h %D%/backend.h \
	%D%/driver_abi.h %D%/nvrtc_abi.h %D%/nvml_abi.h \
	%D%/library.c %D%/library.h \
	%D%/parts.c \
	%D%/fail.c \
	%D%/device.c \
	%D%/close.c \
	%D%/memory.c \
	%D%/memory_pool.c \
	%D%/defines.c \
	%D%/source.c \
	%D%/headers.c \
	%D%/includes.c \
	%D%/ptxas.c \
	%D%/compile.c %D%/compile.h \
	%D%/cache.c \
	%D%/cache_trim.c \
	%D%/module.c \
	%D%/function.c \
	%D%/symbol.c \
	%D%/occupancy.c \
	%D%/launch.c \
	%D%/launch_log.c \
	%D%/stream.c \
	%D%/mark.c \
	%D%/graph.c \
	%D%/peer.c \
	%D%/clock.c \
	%D%/nvml.c
include %D%/hip/local.mk
include %D%/opencl/local.mk
