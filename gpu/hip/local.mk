# SPDX-License-Identifier: BSD-3-Clause
libgpu_la_SOURCES += %D%/hip_impl.h %D%/hip.c
