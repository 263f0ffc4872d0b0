# SPDX-License-Identifier: BSD-3-Clause
# Like ceilings are in one file.
libkernels_la_SOURCES += %D%/bandwidth.c %D%/peak.c %D%/cost.c %D%/simd.c %D%/ceiling.h
include %D%/cuda/local.mk
