# SPDX-License-Identifier: BSD-3-Clause
# The GPU at run time: CUDA's libraries are opened when they are needed, and nothing here needs their headers.
noinst_LTLIBRARIES += libgpu.la
libgpu_la_SOURCES = %D%/gpu.h %D%/open.h
