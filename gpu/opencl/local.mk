# SPDX-License-Identifier: BSD-3-Clause
libgpu_la_SOURCES += %D%/opencl_impl.h %D%/opencl.c %D%/opencl_device.c
